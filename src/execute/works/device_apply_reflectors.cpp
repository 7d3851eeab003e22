// Householder reflectors applied in device memory.
#include <algorithm>

#include "device/device_factorizations.hpp"
#include "execute/works/column_major.hpp"
#include "execute/works/device_bound_work.hpp"

namespace partita::execution {
namespace {

class DeviceApplyReflectors final : public DeviceBoundWork {
 public:
  DeviceApplyReflectors(const ApplyReflectors& work, const DeviceWorkBinding& binding)
      : reflectors_(work.reflectors, binding.memory, MatrixSizes::in_64_bits),
        factors_(work.factors, binding.memory, reflectors_.columns()),
        to_(work.to, binding.memory, MatrixSizes::in_64_bits),
        workspace_{binding.workspaces, binding.memory.plan.rank, 0, {}},
        factorizations_(binding.factorizations(to_.dtype(), "application of reflectors")) {
    const std::int64_t k = reflectors_.columns();
    reflectors_.require_one_run("panel of reflectors");
    invariant(reflectors_.rows() == to_.rows() && k <= to_.rows(), "{} reflectors of {} rows for {} rows", k,
              reflectors_.rows(), to_.rows());
    if (reflectors_.empty()) return;
    for (const ColumnMajorPart::Run& run : to_.runs()) {
      calls_.push_back(factorizations_.prepare(
          devices::DeviceReflectors{to_.dtype(), work.adjoint, to_.rows(), run.columns, k, run.leading,
                                    reflectors_.runs().front().leading}));
      workspace_bytes_ = std::max(workspace_bytes_, calls_.back()->workspace_bytes());
    }
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_; }

  void enqueue(const AddressOf& address, const Parameters& /*parameters*/, Stream stream) override {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      factorizations_.apply(*calls_[i], reflectors_.place(reflectors_.runs().front(), address),
                            factors_.place(address), to_.place(to_.runs()[i], address), address(workspace_),
                            stream);
    }
  }

 private:
  ColumnMajorPart reflectors_;
  AdjacentPart factors_;
  ColumnMajorPart to_;
  Place workspace_;
  devices::DeviceFactorizations& factorizations_;
  std::vector<std::shared_ptr<devices::PreparedFactorCall>> calls_;  // by run of `to`; none: no reflectors
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_apply_reflectors(const ApplyReflectors& work,
                                                              const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceApplyReflectors>(work, binding);
}

}  // namespace partita::execution
