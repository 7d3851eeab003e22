#include "execute/device/dense_views.hpp"

#include <algorithm>
#include <utility>

#include "array/transfer.hpp"
#include "runtime/groups/kept_until_exit.hpp"

namespace partita::execution {
namespace {

bool has_gaps(const View& view) {
  return view.data != nullptr && volume(view.extents) > 0 && !arrays::lies_dense(view);
}

}  // namespace

DenseViews::DenseViews(devices::DeviceRuntime& state, std::string operation)
    : state_(state), use_(state, std::move(operation)) {}

DenseViews::~DenseViews() {
  use_.await();
  if (state_.failed())
    runtime::keep_until_exit(std::make_shared<std::vector<devices::DeviceMemory>>(std::move(memory_)));
}

void DenseViews::prepare(std::span<const View> views) {
  memory_.resize(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!has_gaps(views[i]) || memory_[i].bytes() >= arrays::bytes_of(views[i])) continue;
    use_.await();
    memory_[i].reset();
    memory_[i] = devices::DeviceMemory(*state_.device, arrays::bytes_of(views[i]));
  }
}

std::span<const View> DenseViews::pack(std::span<const View> views, Stream stream) {
  dense_.assign(views.begin(), views.end());
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!has_gaps(views[i])) continue;
    dense_[i] = arrays::dense_at(memory_[i].data(), views[i], MemorySpace::device);
    if (i + 1 < views.size()) copy(views[i], dense_[i], stream);
  }
  return dense_;
}

void DenseViews::unpack(std::span<const View> views, Stream stream, bool captured) {
  if (has_gaps(views.back())) copy(dense_.back(), views.back(), stream);
  if (std::ranges::any_of(views, has_gaps)) use_.note(stream, captured);
}

void DenseViews::copy(const View& from, const View& to, Stream stream) {
  state_.device->copy(kernels::simplify(arrays::nest_over(from, to)), from.data, to.data, stream,
                      devices::CopyScope::inside);
}

}  // namespace partita::execution
