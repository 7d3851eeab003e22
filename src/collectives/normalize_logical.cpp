#include "collectives/normalize_logical.hpp"

#include <array>
#include <memory>
#include <utility>

#include "device/stream_work.hpp"
#include "kernels/host/copy.hpp"
#include "kernels/host/fill.hpp"
#include "runtime/groups/kept_until_exit.hpp"

namespace partita::collective {
namespace {

/// Of the largest dtype.
using Identity = std::array<std::byte, 16>;

Identity identity_of(Reduction reduction, Dtype dtype) {
  Identity identity{};
  write_identity(reduction, dtype, identity.data());
  return identity;
}

}  // namespace

bool is_logical(Reduction reduction, Dtype dtype) {
  const bool is_logical = reduction == Reduction::logical_and || reduction == Reduction::logical_or ||
                          reduction == Reduction::logical_xor;
  return is_logical && dtype != Dtype::boolean;
}

LogicalValues::LogicalValues(ContextState& context, Reduction reduction, Dtype dtype, MemorySpace space)
    : context_(context), reduction_(reduction), use_(context, "reduce") {
  if (space == MemorySpace::host) return;
  const Identity identity = identity_of(reduction, dtype);
  identity_ = devices::DeviceMemory(*context.device, identity.size());
  context.device->physical().copy_past(identity_.data(), identity.data(), identity.size());
}

LogicalValues::~LogicalValues() {
  use_.await();
  if (context_.failed())
    runtime::keep_until_exit(std::make_shared<devices::DeviceMemory>(std::move(identity_)));
}

// view[...] = view[...] op identity
void LogicalValues::normalize(const View& view, const std::optional<Stream>& stream) {
  if (volume(view.extents) == 0) return;
  const std::int64_t item = size_of(view.dtype);
  kernels::StridedCopy nest{item, 0, 0, {}};
  for (int i = 0; i < view.extents.size(); ++i) {
    nest.loops.push_back({view.extents[i], 0, view.strides[i] * item});
  }
  nest = kernels::simplify(std::move(nest));
  if (identity_.bytes() == 0) {
    const Identity identity = identity_of(reduction_, view.dtype);
    return kernels::accumulate(nest, view.dtype, reduction_, identity.data(), view.data);
  }
  devices::put_into_stream(context_, "reduce", stream, [&](Stream used, bool captured) {
    context_.device->accumulate(nest, view.dtype, reduction_, identity_.data(), view.data, used);
    use_.note(used, captured);
  });
}

}  // namespace partita::collective
