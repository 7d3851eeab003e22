#include "collectives/normalize_logical.hpp"

#include <array>

#include "device/stream_work.hpp"
#include "kernels/host/copy.hpp"
#include "kernels/host/fill.hpp"

namespace partita::collective {

bool is_logical(Reduction reduction, Dtype dtype) {
  const bool is_logical = reduction == Reduction::logical_and || reduction == Reduction::logical_or ||
                          reduction == Reduction::logical_xor;
  return is_logical && dtype != Dtype::boolean;
}

devices::DeviceMemory identity_on(devices::Accelerator& device, Reduction reduction, Dtype dtype) {
  std::array<std::byte, 16> identity{};
  write_identity(reduction, dtype, identity.data());
  devices::DeviceMemory memory(device, identity.size());
  device.physical().copy_past(memory.data(), identity.data(), identity.size());
  return memory;
}

// view[...] = view[...] op identity
void normalize_logical(ContextState& context, Reduction reduction, const View& view, const void* identity,
                       Stream stream) {
  if (volume(view.extents) == 0) return;
  const std::int64_t item = size_of(view.dtype);
  kernels::StridedCopy nest{item, 0, 0, {}};
  for (int i = 0; i < view.extents.size(); ++i) {
    nest.loops.push_back({view.extents[i], 0, view.strides[i] * item});
  }
  nest = kernels::simplify(std::move(nest));
  if (identity == nullptr) {
    std::array<std::byte, 16> here{};
    write_identity(reduction, view.dtype, here.data());
    return kernels::accumulate(nest, view.dtype, reduction, here.data(), view.data);
  }
  devices::put_into_stream(context, "reduce", stream, [&](Stream used, bool) {
    context.device->accumulate(nest, view.dtype, reduction, identity, view.data, used);
  });
}

}  // namespace partita::collective
