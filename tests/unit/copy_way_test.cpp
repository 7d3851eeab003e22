// Copy engine or kernel: what suits which copy.
#include "device/copy_way.hpp"

#include <gtest/gtest.h>

namespace partita::testing {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;

CopyWay chosen(const StridedCopy& nest, CopyWay wanted = CopyWay::automatic) {
  return choose_copy_way(nest, false, wanted).way;
}

TEST(CopyWay, LongRowsGoThroughTheEngine) {
  EXPECT_EQ(chosen({2 * mib, 0, 0, {}}), CopyWay::engine);
  EXPECT_EQ(chosen({32 * kib, 0, 0, {{8192, 128 * kib, 32 * kib}}}), CopyWay::engine);
  EXPECT_EQ(chosen({32 * kib, 0, 0, {{8, 512 * mib, 256 * mib}, {8192, 128 * kib, 32 * kib}}}),
            CopyWay::engine);
}

TEST(CopyWay, ShortRowsAndFewBytesGoThroughAKernel) {
  EXPECT_EQ(chosen({512, 0, 0, {{1 << 20, 1024, 512}}}), CopyWay::kernel);
  EXPECT_EQ(chosen({64 * kib, 0, 0, {}}), CopyWay::kernel);
  EXPECT_EQ(chosen({32 * kib, 0, 0, {{1000, 1 << 30, 1 << 29}, {40, 128 * kib, 32 * kib}}}), CopyWay::kernel);
}

TEST(CopyWay, WithinADeviceKernelsAreFaster) {
  EXPECT_EQ(choose_copy_way({2 * mib, 0, 0, {}}, true).way, CopyWay::kernel);
  EXPECT_EQ(choose_copy_way({2 * mib, 0, 0, {}}, true, CopyWay::engine).way, CopyWay::engine);
}

TEST(CopyWay, TheEngineTakesOnlyRowsInOrder) {
  EXPECT_EQ(chosen({8 * mib, 0, 0, {{4, 0, 8 * mib}}}), CopyWay::kernel);         // the same row again
  EXPECT_EQ(chosen({8 * mib, 0, 0, {{4, -8 * mib, 8 * mib}}}), CopyWay::kernel);  // backwards
  EXPECT_EQ(chosen({8, 0, 0, {{4, 64, 8}, {4, 8, 64}}}, CopyWay::engine), CopyWay::engine);
  EXPECT_EQ(chosen({8, 0, 0, {{4, -8, 8}}}, CopyWay::engine), CopyWay::kernel);
  EXPECT_EQ(chosen({2 * mib, 0, 0, {}}, CopyWay::kernel), CopyWay::kernel);
}

}  // namespace
}  // namespace partita::testing
