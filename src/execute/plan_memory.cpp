#include "execute/plan_memory.hpp"

#include "array/overlap.hpp"
#include "base/check.hpp"
#include "base/hash.hpp"
#include "execute/executor.hpp"
#include "plan/moves.hpp"

namespace partita {

PlanMemory::PlanMemory(ContextState& context, const Plan& plan, MemorySpace space,
                       std::optional<std::int64_t> workspace)
    : context_(context),
      plan_(plan),
      heap_(context.heap_in(space)),
      operands_(plan.buffers.size(), nullptr),
      strides_(plan.buffers.size()),
      scratch_(plan.buffers.size()) {
  const ScratchPlaces places = scratch_places(plan);
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    if (places.offsets[b] < 0) continue;
    scratch_[b] = workspace ? std::make_unique<Scratch>(context, *workspace + places.offsets[b])
                            : std::make_unique<Scratch>(context, plan.buffers[b], space);
  }
}

bool PlanMemory::bind(std::span<const Array::State* const> operands) {
  std::size_t next = 0;
  bool same_strides = !strides_.empty();
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
    if (plan_.buffers[b].kind != BufferKind::operand) continue;
    check(next < operands.size(), "{}: an operand is missing: {}", plan_.operation, plan_.buffers[b].name);
    const Array::State& array = *operands[next++];
    match(plan_.buffers[b], array);
    same_strides = same_strides && strides_[b] == array.local.strides && operands_[b] != nullptr;
    operands_[b] = &array;
    strides_[b] = array.local.strides;
  }
  return same_strides;
}

bool PlanMemory::operands_meet() const {
  for (std::size_t a = 0; a < operands_.size(); ++a) {
    for (std::size_t b = a + 1; b < operands_.size(); ++b) {
      if (operands_[a] == nullptr || operands_[b] == nullptr) continue;
      if (spans_meet(operands_[a]->local, operands_[b]->local)) return true;
    }
  }
  return false;
}

char* PlanMemory::address(const Place& place) const {
  const auto buffer = static_cast<std::size_t>(memory_of(plan_, place));
  if (scratch_[buffer]) return scratch_[buffer]->on_rank(place.rank);
  const Array::State& array = *operands_[buffer];
  if (place.rank == context_.rank()) return static_cast<char*>(array.local.data);
  return static_cast<char*>(heap_.at(place.rank, array.heap_offset));
}

std::uint64_t PlanMemory::execution_hash(std::uint64_t plan_hash) const {
  std::uint64_t hash = plan_hash;
  for (std::size_t b = 0; b < operands_.size(); ++b) {
    if (operands_[b] == nullptr || plan_.buffers[b].operand->residency != Residency::heap) continue;
    hash = mix(hash, static_cast<std::uint64_t>(operands_[b]->heap_offset));
  }
  return hash;
}

}  // namespace partita
