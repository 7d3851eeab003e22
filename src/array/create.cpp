#include <cstring>
#include <memory>
#include <optional>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "base/pages.hpp"
#include "context/kept_plans.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

/// Freeing it waits for nothing: what peers still access is memory of the heap or of plans. That of a
/// failed context it stays, as scratch does: streams may still be at it. All ranks make some, and then agree.
std::shared_ptr<void> device_memory(const std::shared_ptr<ContextState>& context, std::int64_t bytes) {
  context->device->use();
  context->device->physical().collect(context->device_sharers);
  return {context->device->physical().allocate(std::max<std::int64_t>(bytes, 1)), [context](void* memory) {
            if (!context->failed()) context->device->physical().release(memory);
          }};
}

std::shared_ptr<void> ordinary_memory(std::int64_t bytes) {
  std::shared_ptr<void> memory = allocate_pages(bytes, bytes >= huge_page_bytes);
  check<MemoryError>(memory != nullptr, "no memory for an array part of {} bytes", bytes);
  return memory;
}

std::int64_t checked_bytes(std::int64_t elements, Dtype dtype) {
  std::int64_t bytes = 0;
  check(!__builtin_mul_overflow(elements, size_of(dtype), &bytes),
        "a local part of {} elements of {} is too large", elements, name(dtype));
  return bytes;
}

/// The rank's part, in memory that is not on the heap.
std::shared_ptr<void> own_memory(const std::shared_ptr<ContextState>& context, const Layout& layout,
                                 Dtype dtype, MemorySpace space) {
  const std::int64_t bytes = checked_bytes(layout.local_size(context->rank()), dtype);
  return space == MemorySpace::device ? device_memory(context, bytes) : ordinary_memory(bytes);
}

std::vector<Fact> facts_of(const Layout& layout, Dtype dtype, MemorySpace space,
                           const ArrayOptions& options) {
  return {{"layout", layout.to_string()},
          {"dtype", std::string(name(dtype))},
          {"memory", std::string(name(space))},
          {"residency", options.residency == Residency::heap ? "heap" : "ordinary memory"},
          {"order", options.order == Order::row_major ? "row-major" : "column-major"}};
}

Array in_ordinary_memory(const std::shared_ptr<ContextState>& context, const Layout& layout, Dtype dtype,
                         Order order, MemorySpace space, std::shared_ptr<void> memory) {
  Operand operand = Operand::of(layout, dtype, order);
  operand.space = space;
  Array array = arrays::array_on(context, operand, std::move(memory), -1);
  array.state()->number = context->agreements;
  return array;
}

Array make(const Context& context, const std::function<Layout()>& layout, Dtype dtype,
           const ArrayOptions& options, SourcePlace where) {
  const std::shared_ptr<ContextState>& state = context.state();
  state->require_usable("empty");
  const MemorySpace space = options.space.value_or(state->default_space());
  std::optional<Layout> agreed;
  std::shared_ptr<void> ordinary;
  const auto agree = [&] {
    check(!options.stream,
          "empty: a new array takes no stream; clone, gather, scatter and astype do, and fill on the array");
    agreed = layout();
    check(agreed->ranks() == state->size(), "the layout {} does not suit a context of {} ranks",
          agreed->to_string(), state->size());
    (void)checked_bytes(agreed->largest_local_size(), dtype);
    check<UnsupportedError>(
        space == MemorySpace::host || state->device != nullptr,
        "empty: the result was requested in device memory, but this context has no device");
    if (options.residency == Residency::ordinary) ordinary = own_memory(state, *agreed, dtype, space);
    return facts_of(*agreed, dtype, space, options);
  };
  contexts::with_room(*state, [&] { runtime::collectively(*state, "empty", agree); });
  if (options.residency == Residency::heap)
    return arrays::allocate_on_heap(state, *agreed, dtype, options.order, "empty", where, space);
  return in_ordinary_memory(state, *agreed, dtype, options.order, space, std::move(ordinary));
}

}  // namespace

Array arrays::array_on(const std::shared_ptr<ContextState>& context, const Operand& operand,
                       std::shared_ptr<void> memory, std::int64_t heap_offset) {
  const Shape shape = operand.layout.local_shape(context->rank());
  const View local{memory.get(),  operand.dtype,
                   shape,         dense_strides(shape, order_of(operand)),
                   operand.space, context->device_index(operand.space)};
  return Array(
      std::make_shared<Array::State>(Array::State{context, operand, local, std::move(memory), heap_offset}));
}

Array arrays::allocate_on_heap(const std::shared_ptr<ContextState>& context, const Layout& layout,
                               Dtype dtype, Order order, std::string_view purpose, SourcePlace where,
                               MemorySpace space) {
  const std::int64_t bytes = checked_bytes(layout.largest_local_size(), dtype);
  memory::SymmetricHeap& heap = context->heap_in(space);
  const memory::HeapBlock block =
      heap.allocate(std::max<std::int64_t>(bytes, 1), memory::SymmetricHeap::Sizes::equal, purpose, where);
  // For as long as the array lives; dropped, not freed: a destructor never communicates.
  std::shared_ptr<void> memory(heap.address(block),
                               [context, space, id = block.id](void*) { context->heap_in(space).drop(id); });
  Operand operand = Operand::of(layout, dtype, order, Residency::heap);
  operand.space = space;
  Array array = array_on(context, operand, std::move(memory), block.offset);
  array.state()->number = context->agreements;
  return array;
}

Array arrays::allocate(const std::shared_ptr<ContextState>& context, const Layout& layout, Dtype dtype,
                       const ArrayOptions& options, std::string_view purpose, SourcePlace where) {
  const MemorySpace space = options.space.value_or(context->default_space());
  if (options.residency == Residency::heap)
    return allocate_on_heap(context, layout, dtype, options.order, purpose, where, space);
  std::shared_ptr<void> memory;
  contexts::with_room(*context, [&] {
    runtime::collectively(*context, purpose, [&] { memory = own_memory(context, layout, dtype, space); });
  });
  return in_ordinary_memory(context, layout, dtype, options.order, space, std::move(memory));
}

Array empty(const Context& context, const Shape& shape, const Distribution& distribution, Dtype dtype,
            const ArrayOptions& options, SourcePlace where) {
  return make(
      context, [&] { return Layout(distribution, shape, context.size()); }, dtype, options, where);
}

Array empty(const Context& context, const Layout& layout, Dtype dtype, const ArrayOptions& options,
            SourcePlace where) {
  return make(
      context, [&] { return layout; }, dtype, options, where);
}

Array zeros(const Context& context, const Shape& shape, const Distribution& distribution, Dtype dtype,
            const ArrayOptions& options, SourcePlace where) {
  const runtime::PublicCall call("zeros");
  Array array = empty(context, shape, distribution, dtype, options, where);
  if (array.local().space == MemorySpace::device) {
    constexpr std::array<unsigned char, 16> zero{};
    fill(array, static_cast<const void*>(zero.data()));
  } else if (array.local_size() > 0) {
    std::memset(array.local().data, 0, static_cast<std::size_t>(array.local_size() * size_of(dtype)));
  }
  return array;
}

}  // namespace partita
