// Copy engine or kernel: what suits which copy.
#include "device/copy_way.hpp"

#include <gtest/gtest.h>

namespace partita::testing {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;

CopyWay chosen(const kernels::StridedCopy& nest, CopyWay wanted = CopyWay::automatic) {
  return devices::choose_copy_way(nest, devices::CopyScope::any, wanted).way;
}

TEST(CopyWay, LongRowsGoThroughTheEngine) {
  EXPECT_EQ(chosen({16 * mib, 0, 0, {}}), CopyWay::engine);
  EXPECT_EQ(chosen({32 * kib, 0, 0, {{8192, 128 * kib, 32 * kib}}}), CopyWay::engine);
  EXPECT_EQ(chosen({32 * kib, 0, 0, {{8, 512 * mib, 256 * mib}, {8192, 128 * kib, 32 * kib}}}),
            CopyWay::engine);
}

TEST(CopyWay, ShortRowsAndFewBytesGoThroughAKernel) {
  EXPECT_EQ(chosen({512, 0, 0, {{1 << 20, 1024, 512}}}), CopyWay::kernel);
  EXPECT_EQ(chosen({64 * kib, 0, 0, {}}), CopyWay::kernel);
  EXPECT_EQ(chosen({8 * mib, 0, 0, {}}), CopyWay::kernel);
  EXPECT_EQ(chosen({32 * kib, 0, 0, {{1000, 1 << 30, 1 << 29}, {40, 128 * kib, 32 * kib}}}), CopyWay::kernel);
}

TEST(CopyWay, TranspositionsGoThroughAKernel) {
  using enum devices::CopyScope;
  for (const std::int64_t element : {4, 8, 16}) {
    const kernels::StridedCopy nest{
        element, 0, 0, {{8192, element, 8192 * element}, {8192, 8192 * element, element}}};
    for (const devices::CopyScope scope : {any, beside, inside, background})
      EXPECT_EQ(devices::choose_copy_way(nest, scope).way, CopyWay::kernel);
  }
}

TEST(CopyWay, WithinADeviceKernelsAreFaster) {
  EXPECT_EQ(devices::choose_copy_way({64 * mib, 0, 0, {}}, devices::CopyScope::inside).way, CopyWay::kernel);
  EXPECT_EQ(devices::choose_copy_way({64 * mib, 0, 0, {}}, devices::CopyScope::inside, CopyWay::engine).way,
            CopyWay::engine);
}

TEST(CopyWay, BesideWhatIsComputedTheEngineTakesSmallerCopies) {
  const auto beside = [](const kernels::StridedCopy& nest) {
    return devices::choose_copy_way(nest, devices::CopyScope::beside).way;
  };
  EXPECT_EQ(beside({8 * mib, 0, 0, {}}), CopyWay::engine);
  EXPECT_EQ(beside({4 * kib, 0, 0, {{2048, 16 * kib, 4 * kib}}}), CopyWay::engine);
  EXPECT_EQ(beside({mib, 0, 0, {}}), CopyWay::kernel);
  EXPECT_EQ(beside({2 * kib, 0, 0, {{8192, 16 * kib, 2 * kib}}}), CopyWay::kernel);
}

TEST(CopyWay, TheEngineTakesOnlyRowsInOrder) {
  EXPECT_EQ(chosen({8 * mib, 0, 0, {{4, 0, 8 * mib}}}), CopyWay::kernel);         // the same row again
  EXPECT_EQ(chosen({8 * mib, 0, 0, {{4, -8 * mib, 8 * mib}}}), CopyWay::kernel);  // backwards
  EXPECT_EQ(chosen({8, 0, 0, {{4, 64, 8}, {4, 8, 64}}}, CopyWay::engine), CopyWay::engine);
  EXPECT_EQ(chosen({8, 0, 0, {{4, -8, 8}}}, CopyWay::engine), CopyWay::kernel);
  EXPECT_EQ(chosen({2 * mib, 0, 0, {}}, CopyWay::kernel), CopyWay::kernel);
}

devices::BusWay over_bus(std::vector<kernels::StridedCopy> nests, CopyWay wanted = CopyWay::automatic) {
  return devices::choose_bus_way(nests, wanted).way;
}

TEST(BusWay, LongRowsGoStraight) {
  EXPECT_EQ(over_bus({{16 * kib, 0, 0, {{256, 64 * kib, 16 * kib}}}}), devices::BusWay::engine);
  EXPECT_EQ(over_bus({{128 * kib, 0, 0, {}}}), devices::BusWay::engine);
  EXPECT_EQ(over_bus({{512 * kib, 0, 0, {}}, {512 * kib, mib, 512 * kib, {}}}), devices::BusWay::engine);
}

TEST(BusWay, ShortRowsArePackedOnTheDevice) {
  EXPECT_EQ(over_bus({{512, 0, 0, {{8192, 1024, 512}}}}), devices::BusWay::through_device);
  EXPECT_EQ(over_bus({{8 * kib, 0, 0, {{256, 4 * mib, 16 * kib}, {2, 16 * kib, 8 * kib}}}}),
            devices::BusWay::through_device);                                          // many copies
  EXPECT_EQ(over_bus({{mib, 0, 0, {{4, 0, mib}}}}), devices::BusWay::through_device);  // the same row again
}

TEST(BusWay, FewBytesTakeOneStart) {
  EXPECT_EQ(over_bus({{64 * kib, 0, 0, {}}}), devices::BusWay::kernel);
  EXPECT_EQ(over_bus({}), devices::BusWay::kernel);
}

TEST(BusWay, WishesAreGrantedWhereTheyCanBe) {
  EXPECT_EQ(over_bus({{4 * mib, 0, 0, {}}}, CopyWay::kernel), devices::BusWay::kernel);
  EXPECT_EQ(over_bus({{64, 0, 0, {{4, 128, 64}}}}, CopyWay::engine), devices::BusWay::engine);
  EXPECT_EQ(over_bus({{64, 0, 0, {{4, -128, 64}}}}, CopyWay::engine), devices::BusWay::through_device);
}

}  // namespace
}  // namespace partita::testing
