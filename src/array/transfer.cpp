#include "array/transfer.hpp"

#include <limits>
#include <vector>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "device/device_memory.hpp"
#include "device/device_synchronization.hpp"
#include "device/stream_work.hpp"
#include "kernels/host/convert.hpp"
#include "kernels/host/fill.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::arrays {
namespace {

constexpr std::string_view copying = "copy";

char* at(const View& view, std::int64_t offset) {
  return static_cast<char*>(view.data) + offset;
}

/// One run of bytes, or both sides on the device.
void put_copy(ContextState& context, const kernels::StridedCopy& nest, const View& from, const View& to,
              Stream stream) {
  if (nest.loops.empty()) {
    context.device->copy_bytes(at(from, nest.from_offset), at(to, nest.to_offset), nest.item_bytes, stream);
  } else {
    context.device->copy(nest, from.data, to.data, stream);
  }
}

/// As one execution.
template <class Put>
void put_one(ContextState& context, std::string_view what, const std::optional<Stream>& stream, Put&& put) {
  devices::put_into_stream(context, what, stream, [&](Stream used, bool) { put(used); });
}

/// What uses memory that may go when this has failed is put behind the end of the streams: so long a driver
/// would wait within the copy, past the deadline. That copy itself is outlasted.
void copy_and_outlast(ContextState& context, const kernels::StridedCopy& nest, const View& from,
                      const View& to) {
  devices::finish_device(context, copying);
  put_one(context, copying, {}, [&](Stream used) { put_copy(context, nest, from, to, used); });
  devices::finish_device_before_memory_goes(context, copying);
}

void copy_at_once(ContextState& context, const kernels::StridedCopy& nest, const View& from, const View& to) {
  if (from.space != to.space) return copy_and_outlast(context, nest, from, to);  // the host's may go
  devices::require_no_capture(context, copying);
  put_one(context, copying, {}, [&](Stream used) { put_copy(context, nest, from, to, used); });
  devices::finish_device(context, copying);
}

/// Gaps are closed and opened on either side; what crosses is dense.
void copy_across(ContextState& context, const View& from, const View& to) {
  std::vector<char> memory(static_cast<std::size_t>(bytes_of(from)));
  const devices::DeviceMemory passing(*context.device, bytes_of(from));
  const View here = dense_at(memory.data(), from, MemorySpace::host);
  const View there = dense_at(passing.data(), from, MemorySpace::device);
  const auto pass = [&](const View& source, const View& target) {
    const bool on_host = source.space == MemorySpace::host && target.space == MemorySpace::host;
    if (on_host) return copy_view(context, source, target);
    copy_and_outlast(context, kernels::simplify(nest_over(source, target)), source, target);
  };
  const bool down = from.space == MemorySpace::device;
  pass(from, down ? there : here);
  pass(down ? there : here, down ? here : there);
  pass(down ? here : there, to);
}

}  // namespace

std::int64_t bytes_of(const View& view) {
  std::int64_t bytes = 0;
  const bool beyond = __builtin_mul_overflow(volume(view.extents), size_of(view.dtype), &bytes);
  return beyond ? std::numeric_limits<std::int64_t>::max() : bytes;
}

bool lies_as(const View& view, const Strides& strides) {
  for (int i = 0; i < strides.size(); ++i) {
    if (view.extents[i] > 1 && view.strides[i] != strides[i]) return false;
  }
  return true;
}

View dense_at(void* memory, const View& like, MemorySpace space) {
  View view = View::dense(memory, like.dtype, like.extents);
  view.space = space;
  return view;
}

kernels::StridedCopy nest_over(const View& from, const View& to) {
  const std::int64_t item = size_of(to.dtype);
  kernels::StridedCopy nest{item, 0, 0, {}};
  for (int d = 0; d < to.extents.size(); ++d) {
    nest.loops.push_back({to.extents[d], from.strides[d] * item, to.strides[d] * item});
  }
  return nest;
}

void copy_view(ContextState& context, const View& from, const View& to) {
  const kernels::StridedCopy nest = kernels::simplify(nest_over(from, to));
  if (nest.item_bytes == 0) return;
  if (from.space == MemorySpace::host && to.space == MemorySpace::host) {
    return kernels::copy(nest, from.data, to.data, kernels::hint_for(bytes_of(to)));
  }
  if (nest.loops.empty() || from.space == to.space) return copy_at_once(context, nest, from, to);
  copy_across(context, from, to);
}

void copy_view(ContextState& context, const View& from, const View& to, const std::optional<Stream>& stream) {
  if (from.space != to.space) {
    devices::follow(context, copying, stream);
    return copy_view(context, from, to);
  }
  const kernels::StridedCopy nest = kernels::simplify(nest_over(from, to));
  if (nest.item_bytes == 0) return;
  put_one(context, copying, stream, [&](Stream used) { put_copy(context, nest, from, to, used); });
}

void fill_on_device(ContextState& context, const View& to, const void* element,
                    const std::optional<Stream>& stream) {
  const kernels::StridedCopy nest = kernels::destination_of(nest_over(to, to));
  if (nest.item_bytes == 0) return;
  put_one(context, "fill", stream,
          [&](Stream used) { context.device->fill(nest, element, size_of(to.dtype), to.data, used); });
}

void convert_on_device(ContextState& context, const View& from, const View& to,
                       const std::optional<Stream>& stream) {
  const kernels::StridedCopy nest = kernels::conversion_nest(from, to);
  if (nest.item_bytes == 0) return;
  put_one(context, "astype", stream, [&](Stream used) {
    context.device->convert(nest, from.dtype, to.dtype, from.data, to.data, used);
  });
}

void require_stream_of_device(std::string_view caller, bool is_device, const std::optional<Stream>& stream) {
  check<UnsupportedError>(is_device || !stream || !stream->given, "{}: streams require device memory",
                          caller);
}

void require_no_capture_together(ContextState& context, std::string_view operation_that_waits) {
  runtime::check_or_tell_all(context, operation_that_waits,
                             [&] { devices::require_no_capture(context, operation_that_waits); });
}

void require_own_device(std::string_view caller, const ContextState& context, const View& view) {
  if (view.space == MemorySpace::host) return;
  check<UnsupportedError>(context.device != nullptr,
                          "{}: a view is in device memory, but this context has no device", caller);
  const int own = context.device_index(view.space);
  check(view.device < 0 || view.device == own, "{}: a view is of device {}, but the context's is device {}",
        caller, view.device, own);
  require_aligned(caller, view, context.rank());
}

void require_aligned(std::string_view caller, const View& view, int rank) {
  if (view.space == MemorySpace::host || view.data == nullptr || volume(view.extents) == 0) return;
  const auto address = reinterpret_cast<std::uintptr_t>(view.data);
  check(address % static_cast<std::uintptr_t>(size_of(view.dtype)) == 0,
        "{}: the device memory of rank {} begins at address {:#x}, which is not a multiple of {} bytes, the "
        "size "
        "of {}; devices cannot read it: copy it to aligned memory first",
        caller, rank, address, size_of(view.dtype), name(view.dtype));
}

Array on_host(const Array& array) {
  return array.local().space == MemorySpace::host ? array : copied_to_host(array);
}

Array host_like(const Array& array) {
  const Array::State& given = *array.state();
  auto memory = std::make_shared<std::vector<char>>(static_cast<std::size_t>(bytes_of(given.local)));
  auto copied = std::make_shared<Array::State>(given);
  copied->operand.space = MemorySpace::host;
  copied->operand.residency = Residency::ordinary;
  copied->heap_offset = -1;
  copied->shared_rank = -1;
  copied->read_only_rank = -1;
  copied->memory = new_memory();
  copied->local.read_only = false;
  copied->local.data = memory->data();
  copied->local.space = MemorySpace::host;
  if (given.operand.dense) {
    copied->local.strides = given.operand.local_strides(given.context->rank());
  } else {
    copied->local.strides = dense_strides(given.local.extents);
  }
  copied->owner = std::move(memory);
  return Array(std::move(copied));
}

Array copied_to_host(const Array& array) {
  Array copied = host_like(array);
  copy_view(*array.context_state(), array.local(), copied.local());
  return copied;
}

}  // namespace partita::arrays
