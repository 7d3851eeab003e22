// Copies between arrays, parts of arrays and plain memory.
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <partita/memory.hpp>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/device_memory.hpp"
#include "device/device_synchronization.hpp"

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
  arrays::check_same_context("copy", source, "the source", destination, "the destination");
  check(source.dtype() == destination.dtype(),
        "copy: the source is {}, the destination {}; convert the source with astype", name(source.dtype()),
        name(destination.dtype()));
  check(source.layout() == destination.layout() || source.layout().equivalent(destination.layout()),
        "copy: the source is {}, the destination {}; use redistribute", source.layout().to_string(),
        destination.layout().to_string());
  arrays::check_written("copy", destination);
}

bool are_one_place(const View& a, const View& b) {
  return a.data == b.data && arrays::lies_as(a, b.strides);
}

/// Memory for one copy, freed with it.
class Between {
 public:
  Between(ContextState& context, const View& like) {
    void* memory = nullptr;
    if (like.space == MemorySpace::device) {
      on_device_ = devices::DeviceMemory(*context.device, arrays::bytes_of(like));
      memory = on_device_.data();
    } else {
      const auto bytes = static_cast<std::size_t>(arrays::bytes_of(like));
      on_host_.reset(new (std::nothrow) std::byte[bytes]);
      check<MemoryError>(on_host_ != nullptr, "copy: no memory for {} bytes that overlap what they become",
                         bytes);
      memory = on_host_.get();
    }
    view_ = arrays::dense_at(memory, like, like.space);
  }
  const View& view() const { return view_; }

 private:
  std::unique_ptr<std::byte[]> on_host_;
  devices::DeviceMemory on_device_;
  View view_;
};

/// Of one place in memory to another one. Where they overlap, all is read before anything is written.
void copy_here(ContextState& context, const View& from, const View& to) {
  if (from.space != to.space || !arrays::overlap(from, to)) return arrays::copy_view(context, from, to);
  if (are_one_place(from, to)) return;
  // What peers hold up is waited for before there is memory that would have to outlast it.
  if (from.space == MemorySpace::device) devices::finish_device(context, "copy");
  const Between between(context, from);
  arrays::copy_view(context, from, between.view());
  arrays::copy_view(context, between.view(), to);
}

void copy_in_order(ContextState& context, const View& from, const View& to,
                   const std::optional<Stream>& stream) {
  if (!stream) return copy_here(context, from, to);
  const bool on_host = from.space == MemorySpace::host && to.space == MemorySpace::host;
  arrays::require_stream_of_device("copy", !on_host, *stream);
  if (on_host) return copy_here(context, from, to);
  context.require_usable_here("copy");
  if (from.space != to.space || !arrays::overlap(from, to))
    return arrays::copy_view(context, from, to, *stream);
  devices::follow(context, "copy", *stream);
  copy_here(context, from, to);
}

}  // namespace

void copy(const Array& source, Array& destination, std::optional<Stream> stream) {
  check_copy(source, destination);
  copy_in_order(*destination.context_state(), source.local(), destination.local(), stream);
}

void copy(const View& source, Array& destination, std::optional<Stream> stream) {
  check_like_part(source, destination);
  arrays::check_written("copy", destination);
  copy_in_order(*destination.context_state(), source, destination.local(), stream);
}

void copy(const Array& source, const View& destination, std::optional<Stream> stream) {
  check_like_part(destination, source);
  arrays::check_written("copy", destination, source.context_state()->rank());
  copy_in_order(*source.context_state(), source.local(), destination, stream);
}

void copy(const Context& context, const View& source, const View& destination, std::optional<Stream> stream) {
  check_views(*context.state(), source, destination);
  copy_in_order(*context.state(), source, destination, stream);
}

}  // namespace partita
