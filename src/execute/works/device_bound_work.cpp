#include "execute/works/device_bound_work.hpp"

#include "base/check.hpp"
#include "execute/works/column_major.hpp"

namespace partita::execution {
namespace {

struct BindOnDevice {
  const DeviceWorkBinding& binding;
  using Bound = std::unique_ptr<DeviceBoundWork>;

  Bound operator()(const Multiply& work) const { return bind_device_multiply(work, binding); }
  Bound operator()(const ApplyEpilogue& work) const { return bind_device_epilogue(work, binding); }
  Bound operator()(const SumAlong& work) const { return bind_device_sum_along(work, binding); }
  Bound operator()(const Transform& work) const { return bind_device_transform(work, binding); }
  Bound operator()(const TransformInto& work) const { return bind_device_transform_into(work, binding); }
  Bound operator()(const Twiddle& work) const { return bind_device_twiddle(work, binding); }
  Bound operator()(const FactorPanel& work) const { return bind_device_factor_panel(work, binding); }
  Bound operator()(const ExchangeRows& work) const { return bind_device_exchange_rows(work, binding); }
  Bound operator()(const TriangularSolve& work) const { return bind_device_triangular_solve(work, binding); }
  Bound operator()(const ApplyReflectors& work) const { return bind_device_apply_reflectors(work, binding); }
  Bound operator()(const ChooseRows& /*work*/) const { return refuse_tournament(); }
  Bound operator()(const PivotsOfRows& /*work*/) const { return refuse_tournament(); }
  Bound operator()(const MoveRows& /*work*/) const { return refuse_tournament(); }

  Bound refuse_tournament() const {
    throw UnsupportedError(binding.memory.plan.operation +
                           ": tournament pivoting requires host memory; use whole columns");
  }
};

}  // namespace

devices::DeviceMath& DeviceWorkBinding::math() const {
  devices::DeviceMath* const math = device.math();
  check<UnsupportedError>(math != nullptr, "{}: no math library is available for this device: {}",
                          memory.plan.operation, device.why_no_math());
  return *math;
}

devices::DeviceTransforms& DeviceWorkBinding::transforms() const {
  devices::DeviceTransforms* const transforms = device.transforms();
  check<UnsupportedError>(transforms != nullptr, "{}: no transform library is available for this device: {}",
                          memory.plan.operation, device.why_no_transforms());
  return *transforms;
}

devices::DeviceFactorizations& DeviceWorkBinding::factorizations(Dtype dtype, const char* what) const {
  const bool known = dtype == Dtype::f32 || dtype == Dtype::f64 || is_complex(dtype);
  if (!known) kernels::refuse_dtype(what, dtype);
  devices::DeviceFactorizations* const factorizations = device.factorizations();
  check<UnsupportedError>(
      factorizations != nullptr,
      "{}: no library of factorizations is available for this device: {}; install cuSOLVER "
      "(pip install nvidia-cusolver, or the CUDA toolkit's package libcusolver) and cuBLAS",
      memory.plan.operation, device.why_no_factorizations());
  return *factorizations;
}

std::unique_ptr<DeviceBoundWork> bind_device_work(const Work& work, const DeviceWorkBinding& binding) {
  return std::visit(BindOnDevice{binding}, work);
}

}  // namespace partita::execution
