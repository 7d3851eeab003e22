#include "execute/plan_memory.hpp"

#include <fmt/format.h>

#include <string>
#include <tuple>
#include <utility>

#include "array/overlap.hpp"
#include "base/check.hpp"
#include "base/hash.hpp"
#include "device/ordinary_reads.hpp"
#include "execute/message_use.hpp"
#include "plan/moves.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::execution {
namespace {

/// Texts of layouts take longer than all of a small execution.
[[noreturn]] void refuse_layout(std::string_view name, const Layout& wanted, const Layout& given) {
  throw ArgumentError(
      fmt::format("the {} is {}, but the plan was made for {}", name, given.to_string(), wanted.to_string()));
}

/// What a rank reads of its peers' ordinary memory in a plan.
struct Reads {
  int device = -1;
  std::vector<char> buffers;  // whether some peer's is read
};

auto members_of(is_a<Reads> auto& reads) {
  return std::tie(reads.device, reads.buffers);
}

Reads reads_of(const ContextState& context, const Plan& plan) {
  Reads reads{context.device->physical().index(), std::vector<char>(plan.buffers.size(), 0)};
  for (const Step& step : plan.steps) {
    if (!planning::is_pull(plan, step)) continue;
    reads.buffers[static_cast<std::size_t>(planning::memory_of(plan, step.from))] = 1;
  }
  return reads;
}

}  // namespace

void check_suits(std::string_view name, const Operand& wanted, const Array::State& array) {
  const Operand& given = array.operand;
  check(given.dtype == wanted.dtype, "the {} is {}, but the plan was made for {}", name,
        partita::name(given.dtype), partita::name(wanted.dtype));
  if (given.layout != wanted.layout && !given.layout.equivalent(wanted.layout))
    refuse_layout(name, wanted.layout, given.layout);
  check(given.space == wanted.space, "the {} is in {} memory, but the plan was made for {} memory", name,
        partita::name(given.space), partita::name(wanted.space));
  check(!wanted.dense || (given.dense && given.axis_order == wanted.axis_order),
        "the local parts of the {} are in memory in another order than the plan was made for", name);
  check(wanted.residency == Residency::ordinary || array.heap_offset >= 0,
        "the {} is in ordinary memory, but the plan was made for the symmetric heap", name);
}

PlanMemory::PlanMemory(ContextState& context, const Plan& plan, MemorySpace space, MemorySpace messages,
                       std::optional<std::int64_t> workspace)
    : context_(context),
      plan_(plan),
      space_(space),
      heap_(context.heap_in(space)),
      operands_(plan.buffers.size(), nullptr),
      strides_(plan.buffers.size()),
      scratch_(plan.buffers.size()) {
  const ScratchPlaces places = scratch_places(plan, space, messages);
  const std::vector<bool> of_messages = message_buffers(plan);
  if (workspace) behind_scratch_ = *workspace + places.bytes;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    if (plan.buffers[b].view_of >= 0) continue;
    if (workspace && places.offsets[b] >= 0) {
      scratch_[b] = std::make_unique<Scratch>(context, *workspace + places.offsets[b], space);
    } else if (plan.buffers[b].kind == BufferKind::scratch) {
      scratch_[b] =
          std::make_unique<Scratch>(context, plan.buffers[b], space, of_messages[b] ? messages : space);
    }
  }
}

void PlanMemory::connect() {
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
    const Buffer& buffer = plan_.buffers[b];
    if (buffer.kind != BufferKind::shared || buffer.view_of >= 0 || scratch_[b]) continue;
    scratch_[b] = std::make_unique<Scratch>(context_, buffer, space_);
  }
  if (space_ == MemorySpace::device && plan_.topology.has_cross_memory()) find_readers();
}

void PlanMemory::find_readers() {
  bool any = false;
  std::vector<bool> read(plan_.buffers.size(), false);
  const Reads mine = reads_of(context_, plan_);
  for (const Reads& theirs : runtime::exchange_values(context_, plan_.operation, mine)) {
    for (std::size_t b = 0; b < theirs.buffers.size(); ++b) {
      any = any || theirs.buffers[b] != 0;
      if (b < read.size() && theirs.buffers[b] != 0) read[b] = true;
    }
    if (theirs.device != mine.device) reading_devices_.push_back(theirs.device);
  }
  if (!any) return;
  read_by_peers_ = std::move(read);
  lent_ = std::make_unique<LentWords>(context_, plan_, read_by_peers_.size() + 1);
}

void PlanMemory::bind(std::span<const Array::State* const> operands) {
  std::size_t next = 0;
  for (const Buffer& buffer : plan_.buffers) {
    if (buffer.kind != BufferKind::operand) continue;
    check(next < operands.size(), "{}: operand {} is missing", plan_.operation, buffer.name);
    const Array::State& array = *operands[next++];
    // Calls check it on all ranks, before this: an offset in the heap means nothing in another context.
    check(array.context == nullptr || array.context.get() == &context_,
          "{}: the {} belongs to another context than the plan", plan_.operation, buffer.name);
    check_suits(buffer.name, *buffer.operand, array);
  }
  next = 0;
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
    if (plan_.buffers[b].kind != BufferKind::operand) continue;
    const Array::State& array = *operands[next++];
    lowered_ = lowered_ && strides_[b] == array.local.strides;
    operands_[b] = &array;
    strides_[b] = array.local.strides;
  }
}

// Arrays move from one execution to the next, also those of one call in a program.
void PlanMemory::exchange_addresses() {
  if (read_by_peers_.empty()) return;
  std::string why_not;
  runtime::check_or_tell_all(context_, plan_.operation, [&] { why_not = lend(); });
  lent_->mine().back() = why_not.empty() ? 0 : 1;
  lent_->exchange();
  for (int rank = 0; rank < context_.size(); ++rank) {
    if (lent_->of(rank).back() != 0) refuse_to_read(why_not);
  }
}

/// Why the peers cannot read this rank's arrays; empty: they can.
std::string PlanMemory::lend() {
  devices::OrdinaryReads& reads = *devices::OrdinaryReads::of(context_.device->physical());
  std::string why_not;
  for (std::size_t b = 0; b < read_by_peers_.size(); ++b) {
    void* const address = read_by_peers_[b] ? operands_[b]->local.data : nullptr;
    lent_->mine()[b] = reinterpret_cast<std::uint64_t>(address);
    const std::string why = address == nullptr ? "" : reads.let_read(address, reading_devices_);
    if (!why.empty())
      why_not = fmt::format("the {} of rank {}: {}", plan_.buffers[b].name, context_.rank(), why);
  }
  return why_not;
}

/// On all ranks.
void PlanMemory::refuse_to_read(const std::string& why_not) {
  for (const std::string& theirs : runtime::exchange_values(context_, plan_.operation, why_not)) {
    check<UnsupportedError>(theirs.empty(),
                            "{}: other devices cannot read {}; allocate it by cudaMalloc, or set "
                            "PARTITA_CROSS_MEMORY=off (the option cross_memory) to copy it through the heap",
                            plan_.operation, theirs);
  }
}

void PlanMemory::lower(const std::function<void()>& lower) {
  if (lowered_) return;
  lower();
  lowered_ = true;
}

bool PlanMemory::operands_meet() const {
  for (std::size_t a = 0; a < operands_.size(); ++a) {
    for (std::size_t b = a + 1; b < operands_.size(); ++b) {
      if (operands_[a] == nullptr || operands_[b] == nullptr) continue;
      if (arrays::spans_meet(operands_[a]->local, operands_[b]->local)) return true;
    }
  }
  return false;
}

char* PlanMemory::address(const Place& place) const {
  const auto buffer = static_cast<std::size_t>(planning::memory_of(plan_, place));
  if (scratch_[buffer]) return scratch_[buffer]->on_rank(place.rank);
  const Array::State& array = *operands_[buffer];
  if (place.rank == context_.rank()) return static_cast<char*>(array.local.data);
  if (!read_by_peers_.empty() && read_by_peers_[buffer])
    return reinterpret_cast<char*>(  // NOLINT(performance-no-int-to-ptr): the peer's
        lent_->of(place.rank)[buffer]);
  return static_cast<char*>(heap_.at(place.rank, array.heap_offset));
}

std::span<const View> PlanMemory::locals() {
  locals_.clear();
  for (const Array::State* const array : operands_) {
    if (array != nullptr) locals_.push_back(array->local);
  }
  return locals_;
}

PlanMemory::Numbers PlanMemory::array_numbers() const {
  Numbers numbers{};
  std::size_t next = 0;
  for (const Array::State* const array : operands_) {
    if (array != nullptr && next < numbers.size()) numbers[next++] = array->number;
  }
  return numbers;
}

std::uint64_t PlanMemory::execution_hash(std::uint64_t plan_hash) const {
  std::uint64_t hash = plan_hash;
  for (std::size_t b = 0; b < operands_.size(); ++b) {
    if (operands_[b] == nullptr) continue;
    hash = mix(hash, operands_[b]->number);
    if (plan_.buffers[b].operand->residency != Residency::heap) continue;
    hash = mix(hash, static_cast<std::uint64_t>(operands_[b]->heap_offset));
  }
  return hash;
}

}  // namespace partita::execution
