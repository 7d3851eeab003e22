#include "memory/nvshmem_pool.hpp"

#include "support/test.hpp"

namespace partita {
namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

Pairs pairs(const std::vector<memory::OffsetRange>& ranges) {
  Pairs result;
  for (const memory::OffsetRange& range : ranges) result.emplace_back(range.first, range.bytes);
  return result;
}

Pairs free_for(const memory::NvshmemPool& pool, const std::vector<int>& pes) {
  return pairs(pool.free_for(pes));
}

TEST(NvshmemPool, GivesEachByteOnce) {
  memory::NvshmemPool pool(100);
  EXPECT_EQ(free_for(pool, {0, 1}), (Pairs{{0, 100}}));
  pool.take({0, 60}, {0, 1});
  pool.take({70, 30}, {0, 1});
  EXPECT_EQ(free_for(pool, {0, 1}), (Pairs{{60, 10}}));
  EXPECT_THROW(pool.take({59, 2}, {0, 1}), Error);
  EXPECT_THROW(pool.take({60, 11}, {0, 1}), Error);
  pool.take({60, 10}, {0});
  EXPECT_EQ(free_for(pool, {0, 1}), Pairs{});
  pool.release(70);
  pool.release(60);
  EXPECT_EQ(free_for(pool, {0, 1}), (Pairs{{60, 40}}));
  EXPECT_EQ(free_for(memory::NvshmemPool(), {0}), Pairs{});
}

// A peer that is not asked may still write what this one has given back.
TEST(NvshmemPool, WhatIsGivenBackWaitsForAllOfItsPes) {
  memory::NvshmemPool pool(100);
  pool.take({0, 50}, {0, 1, 2});
  pool.release(0);
  EXPECT_EQ(free_for(pool, {0, 1}), (Pairs{{50, 50}}));
  EXPECT_EQ(free_for(pool, {1, 2, 3}), (Pairs{{50, 50}}));
  EXPECT_EQ(free_for(pool, {0, 1, 2, 3}), (Pairs{{0, 100}}));
  pool.take({0, 100}, {0, 1, 2, 3});
  pool.release(0);
  EXPECT_EQ(free_for(pool, {0, 1, 2}), Pairs{});
  EXPECT_EQ(free_for(pool, {0, 1, 2, 3}), (Pairs{{0, 100}}));
  pool.take({0, 40}, {0, 1, 2, 3});
  pool.release(0);
  EXPECT_EQ(free_for(pool, {0, 1, 2, 3}), (Pairs{{0, 100}}));
}

TEST(NvshmemPool, RangesInCommon) {
  const std::vector<std::vector<memory::OffsetRange>> books{
      {{0, 10}, {20, 30}, {60, 5}}, {{5, 20}, {30, 40}}, {{0, 100}}};
  EXPECT_EQ(pairs(memory::common_ranges(books)), (Pairs{{5, 5}, {20, 5}, {30, 20}, {60, 5}}));
  const memory::OffsetRange largest = memory::largest_range(memory::common_ranges(books));
  EXPECT_EQ(largest.first, 30);
  EXPECT_EQ(largest.bytes, 20);
  const std::vector<std::vector<memory::OffsetRange>> apart{{{0, 10}}, {{10, 10}}};
  EXPECT_EQ(memory::largest_range(memory::common_ranges(apart)).bytes, 0);
  EXPECT_EQ(memory::largest_range({}).bytes, 0);
}

}  // namespace
}  // namespace partita
