#include "memory/segment_growth.hpp"

#include "support/test.hpp"

namespace partita {
namespace {

constexpr std::int64_t unlimited = std::int64_t{1} << 62;

/// Memory that notes what is asked of it, "+2..6" taken and "-2..6" given back, in MiB.
struct Memory {
  std::vector<std::string> calls;
  int until_failure = -1;  // that many times it is taken; -1: always

  memory::SegmentGrowth::Backing backing() {
    return {.populate =
                [this](std::int64_t first, std::int64_t end) {
                  note('+', first, end);
                  if (until_failure-- == 0) throw MemoryError("none left");
                },
            .give_back = [this](std::int64_t first, std::int64_t end) { note('-', first, end); }};
  }
  void note(char sign, std::int64_t first, std::int64_t end) {
    calls.push_back(sign + std::to_string(first / mebibyte) + ".." + std::to_string(end / mebibyte));
  }
};

using Calls = std::vector<std::string>;

TEST(SegmentGrowth, GrowsInStepsOfWholeUnits) {
  Memory memory;
  memory::SegmentGrowth growth(1024 * mebibyte, unlimited, memory.backing(), {.step = 8 * mebibyte});
  growth.grow(1);
  growth.grow(2 * mebibyte);
  growth.grow(17 * mebibyte);
  EXPECT_EQ(memory.calls, (Calls{"+0..2", "+2..10", "+10..18"}));
  EXPECT_EQ(growth.populated(), 18 * mebibyte);
}

TEST(SegmentGrowth, DoublesUpToWhatItIsToldAndToTheEndOfWhatItMayHave) {
  Memory memory;
  const memory::SegmentGrowth::Sizes sizes{.least = 64 * mebibyte};
  memory::SegmentGrowth growth(150 * mebibyte, unlimited, memory.backing(), sizes);
  for (const std::int64_t bytes : {1, 3, 5, 65, 67, 131}) growth.grow(bytes * mebibyte);
  EXPECT_EQ(memory.calls, (Calls{"+0..2", "+2..4", "+4..8", "+8..66", "+66..130", "+130..150"}));
  memory.calls.clear();
  memory::SegmentGrowth limited(1024 * mebibyte, 100 * mebibyte, memory.backing(), sizes);
  for (const std::int64_t bytes : {60, 99}) limited.grow(bytes * mebibyte);
  EXPECT_EQ(memory.calls, (Calls{"+0..60", "+60..100"}));
  EXPECT_THROW(limited.grow(101 * mebibyte), MemoryError);
}

TEST(SegmentGrowth, AGrowthThatFailsIsNoGrowth) {
  Memory memory;
  memory::SegmentGrowth growth(1024 * mebibyte, unlimited, memory.backing(), {.step = 8 * mebibyte});
  growth.grow(2 * mebibyte);
  memory.calls.clear();
  memory.until_failure = 1;
  EXPECT_THROW(growth.grow(20 * mebibyte), MemoryError);
  EXPECT_EQ(memory.calls, (Calls{"+2..10", "+10..18", "-2..20"}));
  EXPECT_EQ(growth.populated(), 2 * mebibyte);
  memory.calls.clear();
  growth.grow(20 * mebibyte);
  EXPECT_EQ(memory.calls, (Calls{"+2..10", "+10..18", "+18..20"}));
}

TEST(SegmentGrowth, ChecksTheRoomBeforeItTakesAny) {
  Memory memory;
  memory::SegmentGrowth::Backing backing = memory.backing();
  backing.check_room = [](std::int64_t bytes) {
    if (bytes > 16 * mebibyte) throw MemoryError("no room");
  };
  memory::SegmentGrowth growth(1024 * mebibyte, unlimited, backing);
  EXPECT_THROW(growth.grow(17 * mebibyte), MemoryError);
  EXPECT_EQ(memory.calls, Calls{});
  growth.grow(16 * mebibyte);
  EXPECT_EQ(memory.calls, Calls{"+0..16"});
}

}  // namespace
}  // namespace partita
