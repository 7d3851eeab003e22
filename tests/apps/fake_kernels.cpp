// On the devices of tests the programs' kernels run in their host form, in the order of streams.
#include "device/queue.hpp"
#include "ranks/fake_device.hpp"
#include "ranks/rank_test.hpp"

namespace partita::testing {
namespace {

class FakeKernels : public ::testing::Environment {
 public:
  void SetUp() override {
    if (tests_fake_devices()) on_device::compute_on_host(put_into_fake_stream);
  }
};

const auto* const registered = ::testing::AddGlobalTestEnvironment(new FakeKernels);

}  // namespace
}  // namespace partita::testing
