#include "execute/device_bound_work.hpp"

#include "base/check.hpp"

namespace partita::execution {
namespace {

[[noreturn]] void refuse(const WorkBinding& memory, const char* what) {
  throw UnsupportedError(fmt::format("{}: {} on a device are not offered yet; copy the arrays to host memory",
                                     memory.plan.operation, what));
}

struct BindOnDevice {
  const DeviceWorkBinding& binding;
  using Bound = std::unique_ptr<DeviceBoundWork>;

  Bound operator()(const Multiply& work) const { return bind_device_multiply(work, binding); }
  Bound operator()(const ApplyEpilogue& work) const { return bind_device_epilogue(work, binding); }
  Bound operator()(const SumAlong& work) const { return bind_device_sum_along(work, binding); }
  Bound operator()(const Transform&) const { refuse(binding.memory, "transforms"); }
  Bound operator()(const Twiddle&) const { refuse(binding.memory, "transforms"); }
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_work(const Work& work, const DeviceWorkBinding& binding) {
  return std::visit(BindOnDevice{binding}, work);
}

}  // namespace partita::execution
