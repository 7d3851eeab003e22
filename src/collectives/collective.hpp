// A collective that is planned and bound.
#pragma once

#include <memory>
#include <optional>
#include <partita/context.hpp>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/chain.hpp"
#include "collectives/heap_offsets.hpp"
#include "collectives/normalize_logical.hpp"
#include "device/device_group.hpp"
#include "execute/operation.hpp"

namespace partita::collective {

/// In which direction data flows, as far as it decides whether the vendor's library is faster.
enum class Flow : std::uint8_t {
  to_places,  ///< from one place to another, without reductions, to ranks that each get a part or all parts
  to_all,     ///< the same result to all ranks
  other,
};

/// Derived classes say what one collective is: the layouts of its operands, its plan, and what the vendor's
/// library has for it. Uses: the source, the destination.
class Collective : public execution::Operation {
 public:
  /// Made for this call; `places` on the heap of the host, agreed on by all ranks.
  Collective(ContextState& context, const Call& call, const HeapOffsets& places);

  /// Blocking in host memory; on a device it is enqueued. Collective. `places`: of these views, in host
  /// memory.
  void run(const Call& call, const HeapOffsets& places);

  /// On devices: whether the plan depends on the place of the destination on the heap. The same on all ranks.
  bool asks_for_place() const { return asks_for_place_; }

 protected:
  /// Of the operands. Throws ArgumentError if the call is not valid (a root that does not exist, ...).
  virtual std::vector<Layout> layouts() const = 0;
  /// If it is not overridden: one redistribution from source to destination.
  virtual Plan make_plan(const Request& request) const;
  /// Further checks of this rank's views.
  virtual void check_own(const Views& /*views*/) const {}
  /// The view of an operand as the plan sees it.
  virtual View planned(std::size_t /*operand*/, const View& view) const { return view; }
  /// Whether views have the extents of the layouts; else `check_own` knows theirs.
  virtual bool has_extents_of_layouts() const { return true; }
  /// Whether a destination on the heap of devices, at the same place on all ranks, is written in place.
  virtual bool writes_in_place() const { return false; }
  /// Whether the plan is a redistribution from source to destination, whatever else it does in between.
  virtual bool is_redistribution() const { return true; }
  virtual Flow flow() const { return Flow::other; }
  /// Whether the vendor's library can: the dtype, the reduction.
  virtual bool is_offered_by(const devices::DeviceGroup& /*library*/) const { return false; }
  /// By the library, on dense views.
  virtual void put(devices::DeviceGroup& /*library*/, std::span<const View> /*views*/,
                   Stream /*stream*/) const {}

  /// Without its views.
  const Call& call() const { return call_; }
  std::span<const std::int64_t> counts() const { return counts_; }
  int ranks() const { return context().size(); }
  int rank() const { return context().rank(); }

 private:
  std::vector<Fact> prepare() override;
  bool asks_all_ranks() const override { return on_device(); }
  void ask_all_ranks() override;
  void without_packets() override { choose_library(); }
  execution::Planned plan_of(int rank) const override;
  std::optional<execution::Planned> plan_in_packets(int rank) const override;
  void before_binding() override;

  std::vector<Layout> checked_layouts() const;
  void check_all(const Call& call) const;
  void set_operands();
  bool may_use_packets() const;
  void choose_library();
  Plan plan_without_steps(std::span<const Operand> operands, int rank, const char* method,
                          const char* reason) const;

  Call call_;
  std::vector<std::int64_t> counts_;
  MemorySpace memory_;
  HeapOffsets places_;
  std::vector<Fact> facts_;
  std::vector<Layout> layouts_;
  std::optional<Reduction> logical_;  // the destination is made 0 or 1 in the end
  std::shared_ptr<LogicalValues> logical_values_;
  bool asks_for_place_ = false;
  bool uses_library_ = false;
};

using Make = std::shared_ptr<Collective> (*)(ContextState&, const Call&, const HeapOffsets&);

/// Carries the call out, by the context's plan for it or what `make` gives. Collective. Blocking in host
/// memory; on a device the work is enqueued on the call's stream.
void run(const Context& context, const Call& call, Make make);

/// The same of the collective `Made`.
template <class Made>
void run(const Context& context, const Call& call) {
  run(context, call,
      [](ContextState& state, const Call& made, const HeapOffsets& places) -> std::shared_ptr<Collective> {
        return execution::Operation::make<Made>(state, made, places);
      });
}

}  // namespace partita::collective
