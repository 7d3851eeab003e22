// The memory that a plan speaks of: the arrays of one execution, and scratch.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <partita/plan.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/array_state.hpp"
#include "context/context_state.hpp"
#include "execute/host/scratch.hpp"
#include "execute/lent_words.hpp"
#include "runtime/checks/call_notes.hpp"

namespace partita::execution {

/// Throws ArgumentError where an array does not suit the operand that a plan was made for: "the source is
/// ..., but the plan was made for ...".
void check_suits(std::string_view name, const Operand& wanted, const Array::State& array);

/// What every executor needs to turn places into addresses. Creation allocates the private scratch, `connect`
/// the shared; nothing else allocates or communicates. `plan` must outlive it.
class PlanMemory {
 public:
  /// `space`: of the plan's operands; `messages`: what they may leave from. `workspace` is the heap offset of
  /// memory of the caller's that holds the scratch that `scratch_places` places; the plan has all other
  /// scratch itself, and all of it without a workspace. Local.
  PlanMemory(ContextState& context, const Plan& plan, MemorySpace space, MemorySpace messages,
             std::optional<std::int64_t> workspace = {});
  /// Allocates the shared scratch. Collective where the plan has any, and where ranks may read each other's
  /// ordinary device memory.
  void connect();

  /// Takes these arrays, one an operand buffer, in the order of the plan's buffers: all of them, or none and
  /// throws ArgumentError where one does not match its buffer's operand.
  void bind(std::span<const Array::State* const> operands);
  /// Where a rank reads ordinary device memory of another, the ranks exchange the addresses of what is bound:
  /// collective and blocking only then. UnsupportedError, on all ranks: a device cannot read it.
  void exchange_addresses();
  /// Calls `lower` where the strides of what is bound are others than when it last came to its end; what it
  /// throws is thrown on, and the next call lowers again.
  void lower(const std::function<void()>& lower);

  /// Whether the local views of two bound operands may share memory.
  bool operands_meet() const;

  MemorySpace space() const { return space_; }  ///< of the plan's operands
  /// The heap offset of what of the caller's workspace the scratch of the plan leaves; nothing: there is
  /// none.
  std::optional<std::int64_t> behind_scratch() const { return behind_scratch_; }
  /// By buffer: of the bound operands' local views, in elements.
  const std::vector<Strides>& strides() const { return strides_; }
  /// The local views of the bound operands, in their order. Valid until the next call.
  std::span<const View> locals();

  /// Where the place's buffer starts on the place's rank; offsets within the buffer are not in it.
  char* address(const Place& place) const;

  /// Of the bound operands, the first few (Array::State::number).
  using Numbers = decltype(runtime::ExecutionNote::arrays);
  Numbers array_numbers() const;

  /// The plan's hash with what peers rely on: that all ranks have bound the same arrays, and reach operands
  /// on the heap by the same offsets.
  std::uint64_t execution_hash(std::uint64_t plan_hash) const;

 private:
  void find_readers();
  std::string lend();
  void refuse_to_read(const std::string& why_not);

  ContextState& context_;
  const Plan& plan_;
  MemorySpace space_;
  memory::SymmetricHeap& heap_;
  std::optional<std::int64_t> behind_scratch_;
  std::vector<const Array::State*> operands_;  // by buffer; null for scratch
  std::vector<Strides> strides_;               // by buffer
  std::vector<View> locals_;                   // for those who ask
  bool lowered_ = false;                       // for these strides
  std::vector<bool> read_by_peers_;            // by buffer: in ordinary device memory; empty: none
  std::vector<int> reading_devices_;           // of the other ranks
  std::unique_ptr<LentWords> lent_;  // addresses by buffer, and 1 if peers cannot read them; or none
  std::vector<std::unique_ptr<Scratch>> scratch_;  // by buffer; null for operands and views
};

}  // namespace partita::execution
