// Factorizations of panels in device memory.
#include <algorithm>

#include "device/device_factorizations.hpp"
#include "execute/works/column_major.hpp"
#include "execute/works/device_bound_work.hpp"

namespace partita::execution {
namespace {

class DeviceFactorPanel final : public DeviceBoundWork {
 public:
  DeviceFactorPanel(const FactorPanel& work, const DeviceWorkBinding& binding)
      : device_(binding.device),
        panel_(work.panel, binding.memory, MatrixSizes::in_64_bits),
        status_(work.status, binding.memory, 1),
        workspace_{binding.workspaces, binding.memory.plan.rank, 0, {}},
        factorizations_(binding.factorizations(panel_.dtype(), "factorization")) {
    const std::int64_t m = panel_.rows(), n = panel_.columns();
    panel_.require_one_run("panel");
    invariant(work.kind != Factorization::cholesky || m >= n, "a Cholesky factorization of {}x{}", m, n);
    if (work.kind != Factorization::cholesky) pivots_.emplace(work.pivots, binding.memory, std::min(m, n));
    if (panel_.empty()) return;
    call_ = factorizations_.prepare(
        devices::DeviceFactorization{work.kind, panel_.dtype(), m, n, panel_.runs().front().leading});
  }

  std::int64_t workspace_bytes() const override { return call_ ? call_->workspace_bytes() : 0; }

  void enqueue(const AddressOf& address, const Parameters& /*parameters*/, Stream stream) override {
    constexpr std::int32_t done = 0;
    if (!call_) {
      constexpr std::int64_t item = sizeof(done);
      return device_.fill({item, 0, 0, {}}, &done, item, status_.place(address), stream);
    }
    factorizations_.factor(*call_, panel_.place(panel_.runs().front(), address),
                           pivots_ ? pivots_->place(address) : nullptr, status_.place(address),
                           address(workspace_), stream);
  }

 private:
  devices::Accelerator& device_;
  ColumnMajorPart panel_;
  AdjacentPart status_;
  Place workspace_;
  devices::DeviceFactorizations& factorizations_;
  std::optional<AdjacentPart> pivots_;                 // nothing: of cholesky
  std::shared_ptr<devices::PreparedFactorCall> call_;  // null: the panel is empty
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_factor_panel(const FactorPanel& work,
                                                          const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceFactorPanel>(work, binding);
}

}  // namespace partita::execution
