#include "memory/free_list.hpp"

#include "memory/page.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

/// One flag a page; finds the best fit by looking at everything.
class BruteForce {
 public:
  explicit BruteForce(std::int64_t capacity) : taken_(static_cast<std::size_t>(capacity / page_bytes)) {}

  std::optional<std::int64_t> allocate(std::int64_t bytes) {
    const std::int64_t pages = std::max<std::int64_t>(1, (bytes + page_bytes - 1) / page_bytes);
    const std::int64_t unit = pages * page_bytes >= huge_page_bytes ? huge_page_bytes / page_bytes : 1;
    std::int64_t best = -1, best_length = 0;
    for (const auto& [first, length] : holes()) {
      const std::int64_t begin = (first + unit - 1) / unit * unit;
      const bool fits = begin + pages <= first + length;
      if (fits && (best < 0 || length < best_length)) best = begin, best_length = length;
    }
    if (best < 0) return std::nullopt;
    set(best, pages, true);
    sizes_[best] = pages;
    return best * page_bytes;
  }
  void release(std::int64_t offset) {
    const std::int64_t page = offset / page_bytes;
    set(page, sizes_.at(page), false);
    sizes_.erase(page);
  }
  std::int64_t used_bytes() const { return std::count(taken_.begin(), taken_.end(), true) * page_bytes; }
  std::int64_t extent() const {
    return sizes_.empty() ? 0 : (sizes_.rbegin()->first + sizes_.rbegin()->second) * page_bytes;
  }

 private:
  void set(std::int64_t first, std::int64_t count, bool value) {
    std::fill_n(taken_.begin() + first, count, value);
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> holes() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> result;
    const auto count = static_cast<std::int64_t>(taken_.size());
    for (std::int64_t page = 0; page < count; ++page) {
      if (taken_[static_cast<std::size_t>(page)]) continue;
      const bool goes_on = !result.empty() && result.back().first + result.back().second == page;
      if (goes_on) {
        ++result.back().second;
      } else {
        result.emplace_back(page, 1);
      }
    }
    return result;
  }
  std::vector<bool> taken_;
  std::map<std::int64_t, std::int64_t> sizes_;
};

/// Small blocks, blocks around 2 MiB, and large ones.
std::int64_t random_size(std::mt19937& random) {
  const std::int64_t magnitudes[] = {
      1, 100, 4096, 4097, 70000, 2 * mebibyte - 1, 2 * mebibyte, 3 * mebibyte + 5};
  const std::int64_t magnitude = magnitudes[random() % 8];
  return magnitude + static_cast<std::int64_t>(random() % 3) * 4096;
}

void compare_with_brute_force(unsigned seed) {
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::int64_t capacity = 19 * mebibyte + static_cast<std::int64_t>(random() % 8192);
  memory::FreeList list(capacity);
  BruteForce expected(capacity);
  std::vector<std::int64_t> live;
  for (int step = 0; step < 150; ++step) {
    if (!live.empty() && random() % 5 < 2) {
      const auto at = live.begin() + static_cast<std::ptrdiff_t>(random() % live.size());
      list.release(*at);
      expected.release(*at);
      live.erase(at);
    } else {
      const std::int64_t bytes = random_size(random);
      const auto offset = list.allocate(bytes);
      ASSERT_EQ(offset, expected.allocate(bytes)) << "step " << step << ", " << bytes << " bytes";
      if (offset) live.push_back(*offset);
    }
    ASSERT_EQ(list.used_bytes(), expected.used_bytes());
    ASSERT_EQ(list.extent(), expected.extent());
  }
}

TEST(FreeList, AgreesWithBruteForce) {
  for (unsigned seed = 1; seed <= 60; ++seed) compare_with_brute_force(seed);
}

TEST(FreeList, LargestIsTheLargestThatCanBeHad) {
  std::mt19937 random(7);
  memory::FreeList list(41 * mebibyte);
  std::vector<std::int64_t> live;
  for (int step = 0; step < 300; ++step) {
    if (const auto offset = list.allocate(random_size(random))) live.push_back(*offset);
    if (live.size() > 9) {
      const std::size_t victim = random() % live.size();
      list.release(live[victim]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
    }
    const std::int64_t largest = list.largest();
    EXPECT_FALSE(list.allocate(largest + 1));
    if (largest == 0) continue;
    const auto offset = list.allocate(largest);
    ASSERT_TRUE(offset);
    list.release(*offset);
  }
}

TEST(FreeList, LargeBlocksBeginAtHugePages) {
  memory::FreeList list(64 * mebibyte);
  ASSERT_EQ(list.allocate(1), 0);
  EXPECT_EQ(list.allocate(2 * mebibyte), 2 * mebibyte);
  EXPECT_EQ(list.allocate(4097), 4096) << "the gap before the large block serves small ones";
}

TEST(FreeList, NeighboursGrowTogetherAgain) {
  memory::FreeList list(8 * mebibyte);
  const auto a = list.allocate(4096), b = list.allocate(4096), c = list.allocate(4096);
  list.release(*a);
  list.release(*c);
  list.release(*b);
  EXPECT_EQ(list.allocate(8 * mebibyte), 0);
}

TEST(FreeList, RefusesWhatDoesNotFit) {
  memory::FreeList list(mebibyte);
  EXPECT_FALSE(list.allocate(mebibyte + 1));
  EXPECT_FALSE(list.allocate(std::numeric_limits<std::int64_t>::max()));
  ASSERT_EQ(list.allocate(0), 0);
  EXPECT_EQ(list.used_bytes(), page_bytes);
  EXPECT_THROW(list.release(4096), Error);
  list.release(0);
  EXPECT_THROW(list.release(0), Error);
  memory::FreeList empty(0);
  EXPECT_FALSE(empty.allocate(1));
  EXPECT_EQ(empty.largest(), 0);
}

}  // namespace
}  // namespace partita
