#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <partita/source_place.hpp>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "runtime/agree.hpp"

namespace partita {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;

/// A heap block for as long as the array lives; dropped, not freed: a destructor never communicates.
class HeapOwner {
 public:
  HeapOwner(std::shared_ptr<ContextState> context, const HeapBlock& block)
      : context_(std::move(context)), id_(block.id) {}
  ~HeapOwner() { context_->heap->drop(id_); }
  HeapOwner(const HeapOwner&) = delete;
  HeapOwner& operator=(const HeapOwner&) = delete;

 private:
  std::shared_ptr<ContextState> context_;
  std::uint64_t id_;
};

std::shared_ptr<void> ordinary_memory(std::int64_t bytes) {
  const std::size_t alignment = bytes >= static_cast<std::int64_t>(huge_page) ? huge_page : page;
  const std::size_t size = (static_cast<std::size_t>(bytes) + alignment - 1) / alignment * alignment;
  std::shared_ptr<void> memory(std::aligned_alloc(alignment, std::max(size, page)), std::free);
  check<MemoryError>(memory != nullptr, "no memory for an array part of {} bytes", bytes);
  if (alignment == huge_page) ::madvise(memory.get(), size, MADV_HUGEPAGE);  // a wish
  return memory;
}

std::int64_t checked_bytes(std::int64_t elements, Dtype dtype) {
  std::int64_t bytes = 0;
  check(!__builtin_mul_overflow(elements, size_of(dtype), &bytes),
        "a local part of {} elements of {} is too large", elements, name(dtype));
  return bytes;
}

std::vector<Fact> facts_of(const Layout& layout, Dtype dtype, const ArrayOptions& options) {
  return {{"layout", layout.to_string()},
          {"dtype", std::string(name(dtype))},
          {"residency", options.residency == Residency::heap ? "heap" : "ordinary memory"},
          {"order", options.order == Order::row_major ? "row-major" : "column-major"}};
}

/// The rank's part in `memory`.
Array array_on(const std::shared_ptr<ContextState>& context, const Operand& operand, void* memory,
               std::shared_ptr<void> owner, std::int64_t heap_offset) {
  const View local{memory, operand.dtype, operand.layout.local_shape(context->rank()),
                   operand.local_strides(context->rank()), MemorySpace::host};
  return Array(
      std::make_shared<Array::State>(Array::State{context, operand, local, std::move(owner), heap_offset}));
}

Array make(const Context& context, const std::function<Layout()>& layout, Dtype dtype,
           const ArrayOptions& options) {
  const std::shared_ptr<ContextState>& state = context.state();
  state->require_usable("empty");
  std::optional<Layout> agreed;
  std::shared_ptr<void> ordinary;
  collectively(*state, "empty", [&] {
    agreed = layout();
    check(agreed->ranks() == state->size(), "the layout {} does not suit a context of {} ranks",
          agreed->to_string(), state->size());
    const std::int64_t most = checked_bytes(agreed->largest_local_size(), dtype);
    if (options.residency == Residency::ordinary) ordinary = ordinary_memory(most);
    return facts_of(*agreed, dtype, options);
  });
  if (options.residency == Residency::heap)
    return allocate_on_heap(state, *agreed, dtype, options.order, "empty");
  void* memory = ordinary.get();
  return array_on(state, Operand::of(*agreed, dtype, options.order), memory, std::move(ordinary), -1);
}

}  // namespace

Array allocate_on_heap(const std::shared_ptr<ContextState>& context, const Layout& layout, Dtype dtype,
                       Order order, std::string_view purpose) {
  const std::int64_t bytes = checked_bytes(layout.largest_local_size(), dtype);
  const HeapBlock block = context->heap->allocate(
      std::max<std::int64_t>(bytes, 1), SymmetricHeap::Sizes::equal, purpose, SourcePlace::current());
  auto owner = std::make_shared<HeapOwner>(context, block);
  return array_on(context, Operand::of(layout, dtype, order, Residency::heap), context->heap->address(block),
                  std::move(owner), block.offset);
}

Array empty(const Context& context, const Shape& shape, const Distribution& distribution, Dtype dtype,
            const ArrayOptions& options) {
  return make(
      context, [&] { return Layout(distribution, shape, context.size()); }, dtype, options);
}

Array empty(const Context& context, const Layout& layout, Dtype dtype, const ArrayOptions& options) {
  return make(
      context, [&] { return layout; }, dtype, options);
}

Array zeros(const Context& context, const Shape& shape, const Distribution& distribution, Dtype dtype,
            const ArrayOptions& options) {
  Array array = empty(context, shape, distribution, dtype, options);
  if (array.local_size() > 0) {
    std::memset(array.local().data, 0, static_cast<std::size_t>(array.local_size() * size_of(dtype)));
  }
  return array;
}

}  // namespace partita
