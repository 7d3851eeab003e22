// On the devices of tests the programs' kernels run in their host form, in the order of streams.
#include "device/queue.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/rank_test.hpp"

namespace partita::testing {
namespace {

/// It holds its thread.
std::shared_ptr<const Stream> make_stream() {
  struct Made {
    FakeStream thread;
    Stream stream = thread.stream();
  };
  const auto made = std::make_shared<Made>();
  return {made, &made->stream};
}

class FakeKernels : public ::testing::Environment {
 public:
  void SetUp() override {
    if (tests_fake_devices()) on_device::compute_on_host(put_into_fake_stream, make_stream);
  }
};

const auto* const registered = ::testing::AddGlobalTestEnvironment(new FakeKernels);

}  // namespace
}  // namespace partita::testing
