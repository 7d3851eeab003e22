// Sorting of one rank's elements.
#include <partita/functions.hpp>

#include "arithmetic/arguments.hpp"
#include "array/overlap.hpp"
#include "device/device_sorting.hpp"
#include "device/stream_work.hpp"

namespace partita {
namespace {

using devices::DeviceSorting;

/// `part`: what it is called.
void check_sorted_part(const Array& source, std::string_view part, const Array& one, Dtype dtype) {
  arithmetic::check_values("sort_part", one);
  arithmetic::check_together("sort_part", one, source);
  check(one.dtype() == dtype, "sort_part: {} is {}, not {}", part, name(one.dtype()), name(dtype));
  check(one.local_size() == source.local_size(), "sort_part: {} has {} elements here, the source {}", part,
        one.local_size(), source.local_size());
  check(arrays::lies_dense(one.local()), "sort_part: {} is not dense and row-major: clone it first", part);
}

/// `order`: null if it is not wanted. The destination may be an empty Array beside one.
void sort_elements(const Array& source, Array& destination, Array* order, bool descending,
                   const std::optional<Stream>& stream) {
  check_sorted_part(source, "the source", source, source.dtype());
  const bool is_wanted = order == nullptr || destination.valid();
  if (is_wanted) {
    check_sorted_part(source, "the destination", destination, source.dtype());
    arrays::check_written("sort_part", destination);
    check(!arrays::overlap(source.local(), destination.local()),
          "sort_part: the source overlaps the destination");
  }
  if (order != nullptr) {
    check_sorted_part(source, "the order", *order, Dtype::i64);
    arrays::check_written("sort_part", *order);
  }
  check<UnsupportedError>(kernels::is_sorted_here(source.dtype()), "sort_part: {} have no order",
                          name(source.dtype()));
  arithmetic::check_stream("sort_part", source, stream);
  ContextState& context = *source.context_state();
  context.require_usable_here("sort_part");
  if (source.local_size() == 0) return;
  auto* const places = order == nullptr ? nullptr : static_cast<std::int64_t*>(order->local().data);
  void* const sorted = is_wanted ? destination.local().data : nullptr;
  const kernels::SortPass pass{source.dtype(),      descending, source.local_size(),
                               source.local().data, sorted,     places};
  if (source.local().space == MemorySpace::host) return kernels::sort(pass);
  auto* const device = dynamic_cast<DeviceSorting*>(context.device.get());
  check<UnsupportedError>(device != nullptr && pass.count <= DeviceSorting::most_sorted,
                          "sort_part: this device does not sort {} elements", pass.count);
  context.device->use();
  const Layout bytes(Replicated{}, {device->sort_scratch_bytes(pass)}, context.size());
  const Array scratch = empty_beside(source, bytes, Dtype::u8, stream);  // given back for this stream
  devices::put_into_stream(context, "sort_part", stream,
                           [&](Stream used, bool) { device->sort(pass, scratch.local().data, used); });
}

}  // namespace

void sort_part(const Array& source, Array& destination, bool descending, std::optional<Stream> stream) {
  sort_elements(source, destination, nullptr, descending, stream);
}
void sort_part(const Array& source, Array& destination, Array& order, bool descending,
               std::optional<Stream> stream) {
  sort_elements(source, destination, &order, descending, stream);
}

}  // namespace partita
