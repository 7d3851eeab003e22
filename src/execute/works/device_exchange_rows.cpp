// Row exchanges of an LU factorization in device memory.
#include <algorithm>

#include "device/device_factorizations.hpp"
#include "execute/works/column_major.hpp"
#include "execute/works/device_bound_work.hpp"

namespace partita::execution {
namespace {

class DeviceExchangeRows final : public DeviceBoundWork {
 public:
  DeviceExchangeRows(const ExchangeRows& work, const DeviceWorkBinding& binding)
      : to_(work.to, binding.memory, MatrixSizes::in_64_bits),
        pivots_(work.pivots, binding.memory, work.pivots.region.size()),
        backward_(work.backward),
        workspace_{binding.workspaces, binding.memory.plan.rank, 0, {}},
        factorizations_(binding.factorizations(to_.dtype(), "row exchange")) {
    invariant(pivots_.size() <= to_.rows(), "{} exchanges of {} rows", pivots_.size(), to_.rows());
    for (const ColumnMajorPart::Run& run : to_.runs())
      workspace_bytes_ = std::max(workspace_bytes_, factorizations_.workspace_bytes(exchange_of(run)));
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_; }

  void enqueue(const AddressOf& address, const Parameters& /*parameters*/, Stream stream) override {
    if (pivots_.size() == 0) return;
    for (const ColumnMajorPart::Run& run : to_.runs()) {
      factorizations_.exchange(exchange_of(run), pivots_.place(address), to_.place(run, address),
                               address(workspace_), stream);
    }
  }

 private:
  devices::DeviceRowExchange exchange_of(const ColumnMajorPart::Run& run) const {
    return {to_.dtype(), backward_, to_.rows(), run.columns, run.leading, pivots_.size()};
  }

  ColumnMajorPart to_;
  AdjacentPart pivots_;
  bool backward_;
  Place workspace_;
  std::int64_t workspace_bytes_ = 0;
  devices::DeviceFactorizations& factorizations_;
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_exchange_rows(const ExchangeRows& work,
                                                           const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceExchangeRows>(work, binding);
}

}  // namespace partita::execution
