// What a memory limit that is too small is refused with: how much would do.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <partita/error.hpp>
#include <string>

#include "matmul/problem.hpp"

namespace partita::multiplication {

/// The planner's own refusal of a memory limit. `needed`: bytes that may do; by an estimate where no rank has
/// a plan yet (`alike`: the same on every rank), otherwise what this rank's plan takes.
class LimitRefusal : public ArgumentError {
 public:
  LimitRefusal(const std::string& text, std::int64_t needed, bool alike)
      : ArgumentError(fmt::format("{}; at least {} bytes are required", text, needed)),
        text_(text),
        needed_(needed),
        alike_(alike) {}

  const std::string& text() const { return text_; }  ///< without how much would do
  std::int64_t needed() const { return needed_; }
  bool alike() const { return alike_; }

 private:
  std::string text_;
  std::int64_t needed_;
  bool alike_;
};

/// A memory limit with which every rank has a plan, the problem's own where that does: tried, since a plan
/// with more room takes more of it. The same on every rank; but of many ranks some are tried, this one among
/// them, and a little is added.
std::int64_t enough_memory(const Problem& problem);

}  // namespace partita::multiplication
