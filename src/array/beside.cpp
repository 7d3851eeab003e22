// Arrays for the results of local calls.
#include <partita/call_names.hpp>
#include <partita/functions.hpp>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "base/pages.hpp"
#include "device/device_synchronization.hpp"
#include "device/stream_memory.hpp"
#include "kernels/host/convert.hpp"

namespace partita {
namespace {

struct Results {
  std::shared_ptr<devices::StreamMemory> memory;
};

/// That of a failed context stays: streams may still be at it.
std::shared_ptr<void> stream_memory(const std::shared_ptr<ContextState>& context, std::int64_t bytes,
                                    const std::optional<Stream>& wanted) {
  devices::require_no_capture(*context, "empty_beside", "its memory");
  devices::require_not_captured(*context, "empty_beside", wanted);
  context->device->use();
  const Stream stream = devices::stream_or_own(*context, wanted);
  Results& results = context->attachments.get<Results>();
  if (!results.memory) results.memory = std::make_shared<devices::StreamMemory>(context->device->physical());
  return {results.memory->take(bytes, stream),
          [context, bytes, stream, kept = std::weak_ptr(results.memory)](void* memory) {
            if (context->failed()) return;
            if (const auto open = kept.lock()) return open->give(memory, bytes, stream);
            context->device->physical().release(memory);
          }};
}

std::shared_ptr<void> host_memory(std::int64_t bytes) {
  std::shared_ptr<void> memory = allocate_pages(bytes, bytes >= huge_page_bytes);
  check<MemoryError>(memory != nullptr, "empty_beside: no memory for an array part of {} bytes", bytes);
  return memory;
}

}  // namespace

Array empty_beside(const Array& model, const Layout& layout, Dtype dtype, std::optional<Stream> stream) {
  check(model.valid(), "empty_beside: the model is an empty Array");
  const std::shared_ptr<ContextState>& context = model.context_state();
  context->require_usable_here("empty_beside");
  check(layout.ranks() == context->size(), "empty_beside: the layout {} does not suit a context of {} ranks",
        layout.to_string(), context->size());
  const MemorySpace space = model.local().space;
  arrays::require_stream_of_device("empty_beside", space == MemorySpace::device, stream);
  Operand operand = Operand::of(layout, dtype);
  operand.space = space;
  View part{nullptr, dtype, layout.local_shape(context->rank()), {}};
  const std::int64_t bytes = std::max<std::int64_t>(arrays::bytes_of(part), 1);
  Array array = arrays::array_on(
      context, operand,
      space == MemorySpace::device ? stream_memory(context, bytes, stream) : host_memory(bytes), -1);
  set_origin(array, model);
  return array;
}

void convert(const Array& source, Array& destination, std::optional<Stream> stream) {
  arrays::check_same_context("convert", source, "the source", destination, "the destination");
  arrays::check_has_values("convert", source);
  arrays::check_has_values("convert", destination);
  arrays::check_written("convert", destination);
  const View &from = source.local(), &to = destination.local();
  check<UnsupportedError>(from.space == to.space,
                          "convert: one array is in host memory and another in device memory; copy one of "
                          "them");
  check(source.layout() == destination.layout() || source.layout().equivalent(destination.layout()),
        "convert: the source is {}, the destination {}; use redistribute", source.layout().to_string(),
        destination.layout().to_string());
  check(!is_complex(from.dtype) || is_complex(to.dtype) || to.dtype == Dtype::boolean,
        "convert: {} cannot be converted to {}: use `real`, `imag` or `abs`", name(from.dtype),
        name(to.dtype));
  check(!arrays::overlap(from, to), "convert: the source overlaps the destination");
  arrays::require_stream_of_device("convert", to.space == MemorySpace::device, stream);
  ContextState& context = *destination.context_state();
  context.require_usable_here("convert");
  if (to.space == MemorySpace::device) {
    return from.dtype == to.dtype ? arrays::copy_view(context, from, to, stream)
                                  : arrays::convert_on_device(context, from, to, stream);
  }
  if (from.dtype == to.dtype) return arrays::copy_view(context, from, to);
  kernels::convert(kernels::conversion_nest(from, to), from.dtype, to.dtype, from.data, to.data);
}

}  // namespace partita
