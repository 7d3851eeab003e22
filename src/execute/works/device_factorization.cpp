// Factorizations in device memory.
#include <partita/error.hpp>

#include "execute/works/device_bound_work.hpp"

namespace partita::execution {
namespace {

[[noreturn]] void refuse_factorizations(const DeviceWorkBinding& binding) {
  throw UnsupportedError(binding.memory.plan.operation + ": devices have no factorizations yet");
}

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_factor_panel(const FactorPanel& /*work*/,
                                                          const DeviceWorkBinding& binding) {
  refuse_factorizations(binding);
}
std::unique_ptr<DeviceBoundWork> bind_device_exchange_rows(const ExchangeRows& /*work*/,
                                                           const DeviceWorkBinding& binding) {
  refuse_factorizations(binding);
}
std::unique_ptr<DeviceBoundWork> bind_device_triangular_solve(const TriangularSolve& /*work*/,
                                                              const DeviceWorkBinding& binding) {
  refuse_factorizations(binding);
}
std::unique_ptr<DeviceBoundWork> bind_device_apply_reflectors(const ApplyReflectors& /*work*/,
                                                              const DeviceWorkBinding& binding) {
  refuse_factorizations(binding);
}

}  // namespace partita::execution
