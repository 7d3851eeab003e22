// The works of factorizations on the host, and on a fake device.
#include "support/models/factorization_works.hpp"

#include "execute/works/bound_work.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/models/device_job.hpp"

namespace partita::testing::factorization_works {
namespace {

struct OnHost {
  static std::string why_not() { return ""; }
  static void run(const Job& job) {
    const auto bound = execution::bind_work(job.work, {job.plan, job.strides});
    bound->run([&](const Place& place) { return job.memory[static_cast<std::size_t>(place.buffer)].data(); },
               job.parameters);
  }
  static void end() {}
};
INSTANTIATE_TYPED_TEST_SUITE_P(Host, FactorizationWorks, OnHost);

struct OnFakeDevice {
  static std::string why_not() { return ""; }
  static void run(const Job& job) {
    if (!device) {
      install_fake_devices(1);
      device = devices::Accelerators::of_process().device(0)->open({}, 1);
    }
    run_on_device(*device, job, [&](const auto& put) { put(device->stream()); });
  }
  static void end() {
    device.reset();
    devices::Accelerators::replace(nullptr);
  }

 private:
  inline static std::unique_ptr<devices::Accelerator> device;
};
INSTANTIATE_TYPED_TEST_SUITE_P(FakeDevice, FactorizationWorks, OnFakeDevice);

}  // namespace
}  // namespace partita::testing::factorization_works
