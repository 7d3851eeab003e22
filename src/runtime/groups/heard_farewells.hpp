// Farewells and notes as processes send them to each other, and those that have come.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

/// What travels: plain bytes, few enough to leave without their receiver's help.
struct FarewellMessage {
  std::uint64_t context = 0;
  std::int32_t rank = -1;
  enum class Sort : std::uint8_t { left, failed, note } sort = Sort::left;
  std::uint8_t kind = 0;
  bool of_all = false;
  std::uint16_t bytes = 0;  ///< of the text
  std::array<char, longest_farewell + 1> text{};

  FarewellMessage() = default;
  explicit FarewellMessage(const Farewell& farewell);
  explicit FarewellMessage(const Note& note);
};

/// Those of all contexts of the processes that say farewell to this one. For one thread at a time.
class HeardFarewells {
 public:
  /// Of each rank of a context the first farewell counts.
  void add(const FarewellMessage& message);
  /// In the order in which they came.
  std::vector<Farewell> of(std::uint64_t context) const;
  std::vector<Note> take_notes(std::uint64_t context);

 private:
  std::vector<Farewell> heard_;  // the latest ones
  std::deque<Note> notes_;       // the latest ones
};

}  // namespace partita::runtime
