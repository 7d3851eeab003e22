// What the spectral helpers do with the local parts of spectra, on the host or on a device.
#include "array/transfer.hpp"
#include "device/device_memory.hpp"
#include "device/stream_work.hpp"
#include "fft/spectral.hpp"

namespace partita::spectral {
namespace {

using kernels::ElementwisePass;

ElementwisePass pass_over(kernels::Arithmetic operation, const View& local, const View& other) {
  ElementwisePass pass;
  pass.operation = operation;
  pass.dtype = local.dtype;
  pass.data = {local.data, local.data, other.data};
  for (int d = 0; d < local.extents.size(); ++d) {
    pass.loops.push_back({local.extents[d], {local.strides[d], local.strides[d], other.strides[d]}});
  }
  pass.loops = kernels::simplified(std::move(pass.loops), ElementwisePass::to);
  return pass;
}

void set_to_one(const View& view) {
  with_number(view.dtype, [&]<class Number>(Number /*zero*/) {
    for_each_local<Number>(view, [](const Index& /*at*/, Number& element) { element = Number(1); });
  });
}

}  // namespace

void join_local(ContextState& context, kernels::Arithmetic operation, const View& local, const View& other,
                Stream stream) {
  if (volume(local.extents) == 0) return;
  const ElementwisePass pass = pass_over(operation, local, other);
  if (local.space == MemorySpace::host) return kernels::compute(pass);
  devices::put_into_stream(context, "spectrum", stream,
                           [&](Stream used, bool) { context.device->compute(pass, used); });
}

void scale_local(ContextState& context, const View& local, const std::function<void(const View&)>& scale) {
  if (volume(local.extents) == 0) return;
  if (local.space == MemorySpace::host) return scale(local);
  const std::int64_t bytes = arrays::bytes_of(local);
  std::vector<std::complex<double>> memory(static_cast<std::size_t>(bytes) / sizeof(std::complex<double>) +
                                           1);
  const View factors = arrays::dense_at(memory.data(), local, MemorySpace::host);
  set_to_one(factors);
  scale(factors);
  const devices::DeviceMemory there(*context.device, bytes);
  const View factors_there = arrays::dense_at(there.data(), local, MemorySpace::device);
  arrays::copy_view(context, factors, factors_there);
  join_local(context, kernels::Arithmetic::multiply, local, factors_there);
  devices::finish_device_before_memory_goes(context, "spectrum");
}

}  // namespace partita::spectral
