// Which device a rank gets, from what all ranks offer.
#include "device/start_device.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

std::vector<devices::DeviceCapabilities> offers(std::initializer_list<std::pair<const char*, int>> list) {
  std::vector<devices::DeviceCapabilities> result;
  for (const auto& [host, count] : list) result.push_back({host, count, count == 0 ? "no driver" : ""});
  return result;
}

TEST(ChooseDevice, ByThePlaceOnTheHost) {
  const auto all = offers({{"a", 2}, {"b", 2}, {"a", 2}, {"b", 2}, {"a", 2}});
  EXPECT_EQ(devices::choose_device(Device::cuda(), all, 0).index, 0);
  EXPECT_EQ(devices::choose_device(Device::cuda(), all, 1).index, 0);
  EXPECT_EQ(devices::choose_device(Device::cuda(), all, 2).index, 1);
  EXPECT_EQ(devices::choose_device(Device::cuda(), all, 3).index, 1);
  EXPECT_EQ(devices::choose_device(Device::any(), all, 4).index, 0);  // shares
}

TEST(ChooseDevice, AnyIsTheCpuUnlessEveryRankHasADevice) {
  const auto some = offers({{"a", 2}, {"b", 0}});
  EXPECT_EQ(devices::choose_device(Device::any(), some, 0).kind, Device::Kind::cpu);
  EXPECT_EQ(devices::choose_device(Device::any(), some, 1).kind, Device::Kind::cpu);
  EXPECT_EQ(devices::choose_device(Device::cpu(), some, 0).kind, Device::Kind::cpu);
  EXPECT_EQ(devices::choose_device(Device::any(), offers({{"a", 1}, {"b", 1}}), 1).kind, Device::Kind::cuda);
}

TEST(ChooseDevice, RefusesWhatIsNotThere) {
  const auto some = offers({{"a", 2}, {"b", 0}});
  EXPECT_EQ(devices::choose_device(Device::cuda(1), some, 0).index, 1);
  EXPECT_THROW((void)devices::choose_device(Device::cuda(), some, 1), UnsupportedError);
  EXPECT_THROW((void)devices::choose_device(Device::cuda(2), some, 0), UnsupportedError);
  EXPECT_THROW((void)devices::choose_device(Device::cuda(-2), some, 0), ArgumentError);
}

TEST(ChooseDevice, OffersTravelAsBytes) {
  const devices::DeviceCapabilities sent{"my host", 3, "why: none\nat all"};
  const auto offer = deserialize<devices::DeviceCapabilities>(serialize(sent));
  EXPECT_EQ(offer.host, "my host");
  EXPECT_EQ(offer.count, 3);
  EXPECT_EQ(offer.why_none, "why: none\nat all");
}

}  // namespace
}  // namespace partita::testing
