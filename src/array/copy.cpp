// Copies between arrays, parts of arrays and plain memory.
#include <partita/memory.hpp>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"

namespace partita {
namespace {

void check_memory(const View& view, const ContextState& context) {
  check(view.strides.size() == view.extents.size(), "copy: the view has {} extents but {} strides",
        view.extents.size(), view.strides.size());
  const std::int64_t elements = volume(view.extents);  // no extent is negative
  check(view.data != nullptr || elements == 0, "copy: the view is a null pointer");
  arrays::require_own_device("copy", context, view);
}

void check_like_part(const View& view, const Array& array) {
  const View& part = array.local();
  const int rank = array.context_state()->rank();
  check(view.dtype == part.dtype, "copy: the view is {}, the array {}", name(view.dtype), name(part.dtype));
  check(view.extents == part.extents, "copy: the view is {}, this part of the array (rank {}) {}",
        to_string(view.extents), rank, to_string(part.extents));
  check_memory(view, *array.context_state());
}

void check_views(const ContextState& context, const View& source, const View& destination) {
  check(source.dtype == destination.dtype && source.extents == destination.extents,
        "copy: the source is {} of {}, the destination {} of {}", to_string(source.extents),
        name(source.dtype), to_string(destination.extents), name(destination.dtype));
  check_memory(source, context);
  check_memory(destination, context);
  arrays::check_written("copy", destination, context.rank());
}

void check_copy(const Array& source, const Array& destination) {
  check(source.dtype() == destination.dtype(), "copy: the source is {}, the destination {}",
        name(source.dtype()), name(destination.dtype()));
  check(source.layout() == destination.layout() || source.layout().equivalent(destination.layout()),
        "copy: the source is {}, the destination {}; use redistribute", source.layout().to_string(),
        destination.layout().to_string());
  arrays::check_written("copy", destination);
}

void copy_in_order(ContextState& context, const View& from, const View& to, Stream stream) {
  const bool on_host = from.space == MemorySpace::host && to.space == MemorySpace::host;
  arrays::require_stream_of_device("copy", !on_host, stream);
  if (on_host) return arrays::copy_view(context, from, to);
  context.require_usable_here("copy");
  arrays::copy_view(context, from, to, stream);
}

}  // namespace

void copy(const Array& source, Array& destination) {
  check_copy(source, destination);
  arrays::copy_view(*destination.context_state(), source.local(), destination.local());
}

void copy(const Array& source, Array& destination, Stream stream) {
  check_copy(source, destination);
  const Array& there = destination.local().space == MemorySpace::device ? destination : source;
  copy_in_order(*there.context_state(), source.local(), destination.local(), stream);
}

void copy(const View& source, Array& destination) {
  check_like_part(source, destination);
  arrays::check_written("copy", destination);
  arrays::copy_view(*destination.context_state(), source, destination.local());
}

void copy(const Array& source, const View& destination) {
  check_like_part(destination, source);
  arrays::check_written("copy", destination, source.context_state()->rank());
  arrays::copy_view(*source.context_state(), source.local(), destination);
}

void copy(const View& source, Array& destination, Stream stream) {
  check_like_part(source, destination);
  arrays::check_written("copy", destination);
  copy_in_order(*destination.context_state(), source, destination.local(), stream);
}

void copy(const Array& source, const View& destination, Stream stream) {
  check_like_part(destination, source);
  arrays::check_written("copy", destination, source.context_state()->rank());
  copy_in_order(*source.context_state(), source.local(), destination, stream);
}

void copy(const Context& context, const View& source, const View& destination) {
  check_views(*context.state(), source, destination);
  arrays::copy_view(*context.state(), source, destination);
}

void copy(const Context& context, const View& source, const View& destination, Stream stream) {
  check_views(*context.state(), source, destination);
  copy_in_order(*context.state(), source, destination, stream);
}

}  // namespace partita
