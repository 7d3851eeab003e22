// Row exchanges of an LU factorization in device memory.
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
        factorizations_(binding.factorizations(to_.dtype(), "row exchange")) {
    invariant(pivots_.size() <= to_.rows(), "{} exchanges of {} rows", pivots_.size(), to_.rows());
  }

  void enqueue(const AddressOf& address, const Parameters& /*parameters*/, Stream stream) override {
    if (pivots_.size() == 0) return;
    for (const ColumnMajorPart::Run& run : to_.runs()) {
      factorizations_.exchange({to_.dtype(), backward_, to_.rows(), run.columns, run.leading, pivots_.size()},
                               pivots_.place(address), to_.place(run, address), stream);
    }
  }

 private:
  ColumnMajorPart to_;
  AdjacentPart pivots_;
  bool backward_;
  devices::DeviceFactorizations& factorizations_;
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_exchange_rows(const ExchangeRows& work,
                                                           const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceExchangeRows>(work, binding);
}

}  // namespace partita::execution
