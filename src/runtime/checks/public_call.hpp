// The call of the program that a thread is in, which errors name in place of the steps that it consists of.
#pragma once

#include <string>
#include <string_view>

namespace partita::runtime {

/// While it lives, this thread is in that call of the program. Of nested ones the outermost counts. Every
/// public call has one that consists of several collective steps with other names. `name`: a literal.
class PublicCall {
 public:
  explicit PublicCall(std::string_view name) noexcept;
  ~PublicCall();
  PublicCall(const PublicCall&) = delete;
  PublicCall& operator=(const PublicCall&) = delete;

 private:
  bool is_outermost_;
};

/// What the program has called on this thread: what its binding says, else the outermost `PublicCall`; empty:
/// what it called is the collective step itself. For errors.
std::string public_call();

struct Report;

/// As the name of a fact of a report: that call. Where all reports have it, it is compared before all else.
constexpr const char* of_the_program = "the call of the program";
/// Adds the fact to what this rank reports of the call that this thread is in.
void note_public_call(Report& report);

/// See `name_calls_by` (<partita/call_names.hpp>).
void name_public_calls_by(std::string (*name)()) noexcept;

}  // namespace partita::runtime
