// A build without a device backend.
#include "base/check.hpp"
#include "device/accelerator.hpp"

namespace partita {
namespace devices {
namespace {

class None final : public Accelerators {
 public:
  int count() override { return 0; }
  std::string why_none() override { return "this build has no CUDA"; }
  std::shared_ptr<PhysicalDevice> device(int) override { throw UnsupportedError(why_none()); }
  DeviceReport report() override {
    DeviceReport report;
    report.note = why_none();
    return report;
  }
};

}  // namespace

Accelerators& Accelerators::built_in() {
  static None none;
  return none;
}

}  // namespace devices

LibraryReport report_nccl() {
  return {0, "", "this build has no devices"};
}

}  // namespace partita
