// What the caller of a collective says, as a few words: calls that come again need not be looked at again.
#pragma once

#include <array>
#include <memory>
#include <partita/context.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <string_view>

namespace partita::collective {

/// Everything that a call depends on on this rank, down to the addresses.
class CallSignature {
 public:
  CallSignature(std::string_view operation, const View& source, const View& destination);

  void add(std::int64_t number);
  void add(std::span<const std::int64_t> numbers);

  /// False for calls with too many numbers.
  bool is_whole() const { return is_whole_; }
  bool operator==(const CallSignature& other) const;

 private:
  void add(const View& view);

  std::string_view operation_;            // a literal
  std::array<std::int64_t, 56> words_{};  // the first `count_`
  std::size_t count_ = 0;
  bool is_whole_ = true;
};

}  // namespace partita::collective
