#include "execute/dense_views.hpp"

#include "array/transfer.hpp"

namespace partita::execution {
namespace {

bool has_gaps(const View& view) {
  return view.data != nullptr && volume(view.extents) > 0 && !arrays::lies_dense(view);
}

}  // namespace

std::span<const View> DenseViews::pack(std::span<const View> views, Stream stream) {
  memory_.resize(views.size());
  dense_.assign(views.begin(), views.end());
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!has_gaps(views[i])) continue;
    dense_[i] = packed(i, views[i]);
    if (i + 1 < views.size()) copy(views[i], dense_[i], stream);
  }
  return dense_;
}

void DenseViews::unpack(std::span<const View> views, Stream stream) {
  if (has_gaps(views.back())) copy(dense_.back(), views.back(), stream);
}

View DenseViews::packed(std::size_t number, const View& view) {
  devices::DeviceMemory& memory = memory_[number];
  if (memory.bytes() < arrays::bytes_of(view)) {
    memory.reset();
    memory = devices::DeviceMemory(device_, arrays::bytes_of(view));
  }
  return arrays::dense_at(memory.data(), view, MemorySpace::device);
}

void DenseViews::copy(const View& from, const View& to, Stream stream) {
  device_.copy(kernels::simplify(arrays::nest_over(from, to)), from.data, to.data, stream,
               devices::CopyScope::inside);
}

}  // namespace partita::execution
