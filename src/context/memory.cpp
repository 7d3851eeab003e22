// SymmetricMemory and symmetric_*: the face of the symmetric heap.
#include <partita/memory.hpp>

#include "base/check.hpp"
#include "context/context_state.hpp"
#include "memory/symmetric_heap.hpp"

namespace partita {
namespace {

constexpr std::string_view by_hand = "symmetric memory";

/// The default memory space: that in which the context computes.
memory::SymmetricHeap& heap_of(const ContextState& state) {
  return state.heap_in(state.default_space());
}

ContextState& state_of(const Context& context) {
  check(context.state() != nullptr, "symmetric memory: the context was moved away");
  return *context.state();
}

}  // namespace

/// Keeps what it needs of the context alive.
struct SymmetricMemory::State {
  std::shared_ptr<ContextState> context;
  MemorySpace space;
  memory::HeapBlock block;
  bool freed = false;

  State(const Context& of, std::int64_t bytes, memory::SymmetricHeap::Sizes sizes,
        std::optional<MemorySpace> wanted, SourcePlace where)
      : context(of.state()),
        space(wanted.value_or(state_of(of).default_space())),
        block(heap().allocate(bytes, sizes, by_hand, where)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!freed) heap().drop(block.id);
  }
  memory::SymmetricHeap& heap() const { return context->heap_in(space); }
};

SymmetricMemory::SymmetricMemory() = default;
SymmetricMemory::~SymmetricMemory() = default;
SymmetricMemory::SymmetricMemory(SymmetricMemory&&) noexcept = default;
SymmetricMemory& SymmetricMemory::operator=(SymmetricMemory&&) noexcept = default;

SymmetricMemory SymmetricMemory::allocate(const Context& context, std::int64_t bytes,
                                          std::optional<MemorySpace> space, SourcePlace where) {
  SymmetricMemory result;
  result.state_ = std::make_unique<State>(context, bytes, memory::SymmetricHeap::Sizes::equal, space, where);
  return result;
}

SymmetricMemory SymmetricMemory::make_symmetric(const Context& context, std::int64_t bytes,
                                                std::optional<MemorySpace> space, SourcePlace where) {
  SymmetricMemory result;
  result.state_ =
      std::make_unique<State>(context, bytes, memory::SymmetricHeap::Sizes::largest, space, where);
  return result;
}

void* SymmetricMemory::data() const {
  return state_ && !state_->freed ? state_->heap().address(state_->block) : nullptr;
}

MemorySpace SymmetricMemory::space() const {
  check(data() != nullptr, "symmetric memory: there is no block");
  return state_->space;
}

View SymmetricMemory::view(Dtype dtype, const Shape& extents, Order order) const {
  View result = View::dense(data(), dtype, extents, order);
  result.space = space();
  result.device = state_->context->device_index(result.space);
  const std::int64_t elements = volume(extents);
  check(elements <= bytes() / size_of(dtype), "symmetric memory: {} of {} does not fit a block of {} bytes",
        to_string(extents), name(dtype), bytes());
  return result;
}

std::int64_t SymmetricMemory::bytes() const {
  return state_ && !state_->freed ? state_->block.bytes : 0;
}

void* SymmetricMemory::peer(int rank) const {
  if (data() == nullptr) return nullptr;
  check(rank >= 0 && rank < state_->context->size(), "symmetric memory: rank {} is not one of the {} ranks",
        rank, state_->context->size());
  return state_->heap().at(rank, state_->block.offset);
}

void SymmetricMemory::free() {
  check(state_ != nullptr, "symmetric memory: nothing was allocated here, or it was moved away");
  // A freed block gives a null pointer, which the heap refuses on every rank.
  state_->heap().free(data());
  state_->freed = true;
}

void* symmetric_allocate(const Context& context, std::int64_t bytes, SourcePlace where) {
  memory::SymmetricHeap& heap = heap_of(state_of(context));
  return heap.address(heap.allocate(bytes, memory::SymmetricHeap::Sizes::equal, by_hand, where));
}

void symmetric_free(const Context& context, void* pointer) {
  heap_of(state_of(context)).free(pointer);
}

void* symmetric_peer(const Context& context, const void* pointer, int rank) {
  const ContextState& state = state_of(context);
  check(rank >= 0 && rank < state.size(), "symmetric memory: rank {} is not one of the {} ranks", rank,
        state.size());
  const std::int64_t offset = heap_of(state).offset_of(pointer);
  check<MemoryError>(offset >= 0,
                     "symmetric memory: the pointer is not in a live block of this context's heap");
  return heap_of(state).at(rank, offset);
}

}  // namespace partita
