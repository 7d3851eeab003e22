#include "collectives/collective.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "base/units.hpp"
#include "context/kept_plans.hpp"
#include "device/device_synchronization.hpp"
#include "device/packet_exchange.hpp"
#include "redistribute/packets.hpp"

namespace partita::collective {
namespace {

/// Host views of so many bytes and more are looked up on the heap, in one exchange of all ranks per call.
constexpr std::int64_t worth_asking = 256 * kibibyte;

constexpr const char* operand_names[] = {"source", "destination"};

void check_view(std::string_view operation, const View& view, Dtype dtype, const Layout& layout, int rank) {
  const Region region = layout.region(rank);
  if (region.empty()) {
    check(view.data == nullptr || volume(view.extents) == 0,
          "{}: a view of rank {} is {}, but nothing is expected there", operation, rank,
          to_string(view.extents));
    return;
  }
  const Shape wanted = region.shape();
  check(view.extents == wanted, "{}: a view of rank {} is {}, but {} is expected", operation, rank,
        to_string(view.extents), to_string(wanted));
  check(view.strides.size() == view.extents.size(), "{}: a view of rank {} has {} extents but {} strides",
        operation, rank, view.extents.size(), view.strides.size());
  check(view.data != nullptr, "{}: a view of rank {} is a null pointer", operation, rank);
  check(view.dtype == dtype, "{}: the views of rank {} are {} and {}", operation, rank, name(dtype),
        name(view.dtype));
}

/// Dense on the heap; or ordinary memory, dense where that is of use, else with strides that each rank knows
/// for itself.
Operand operand_of(const Layout& layout, Dtype dtype, MemorySpace space, std::int64_t place,
                   const Topology& topology) {
  const bool on_heap = place >= 0;
  Operand operand =
      Operand::of(layout, dtype, Order::row_major, on_heap ? Residency::heap : Residency::ordinary);
  operand.dense = on_heap || (place == dense_elsewhere && topology.has_cross_memory());
  operand.space = space;
  return operand;
}

/// Whether the library is to do this: it is requested, or faster than a plan of ours, as measured
/// (docs/performance.md). `bytes`: of the largest view of any rank. `in_place`: the destination is on the
/// devices' heap.
// Ours pushes straight into the place where the data belongs; what has to be reduced, or has to be in scratch
// before, is the library's where it is large. Between nodes ours would use the library all the same.
bool prefers_library(const ContextState& context, Flow flow, std::int64_t bytes, bool in_place) {
  const DeviceCollectives wanted = context.options.device_collectives;
  if (wanted != DeviceCollectives::automatic) return wanted == DeviceCollectives::library;
  if (context.device_topology.node_count() > 1) return true;
  const std::int64_t given = flow == Flow::to_all ? bytes * (context.size() - 1) : bytes;
  return given > mebibyte && !(flow == Flow::to_places && in_place);
}

/// The collectives of one key, by what this rank knows of the places of its views.
struct ByPlace {
  static constexpr std::size_t most = 32;
  bool asks = false;  // on devices, for the place of the destination
  std::deque<std::pair<HeapOffsets, std::shared_ptr<Collective>>> known = {};
};

/// Where the views are in host memory, agreed on by all ranks if they are large.
HeapOffsets places_on_host(ContextState& context, const Call& call) {
  if (call.bytes < worth_asking || context.size() == 1) return {nowhere, nowhere};
  return agreed_heap_offsets(
      context, call.operation,
      {own_heap_offset(context, call.views[0]), own_heap_offset(context, call.views[1])});
}

/// Between host plans only that matters.
HeapOffsets kinds_of(const HeapOffsets& places) {
  return {std::min<std::int64_t>(places[0], 0), std::min<std::int64_t>(places[1], 0)};
}

/// On a device nothing may be waited for. Sources are pushed from wherever they are; a rank knows the place
/// of its destination, for which all ranks have planned together when it was used first.
HeapOffsets places_on_device(const ContextState& context, const Call& call, bool asks) {
  return {nowhere, asks ? own_heap_offset(context, call.views[1]) : nowhere};
}

/// Collective if it is made; else local.
std::shared_ptr<Collective> kept(ContextState& context, const Call& call, MemorySpace space,
                                 const HeapOffsets& places, Make make) {
  const bool on_device = space == MemorySpace::device;
  const contexts::PlanKey key = key_of(call, space);
  auto all = std::static_pointer_cast<ByPlace>(context.plans.find(key));
  if (all) {
    const HeapOffsets own = on_device ? places_on_device(context, call, all->asks) : kinds_of(places);
    for (const auto& [at, collective] : all->known) {
      if (at == own) return collective;
    }
  } else {
    context.plans.make_room();
  }
  auto [made, bytes] = contexts::make_counted(context, [&] { return make(context, call, places); });
  all = std::static_pointer_cast<ByPlace>(context.plans.find(key));  // which lack of room may have dropped
  if (all) {
    context.plans.add_bytes(key, bytes);
  } else {
    all = std::make_shared<ByPlace>(ByPlace{made->asks_for_place()});
    context.plans.insert(key, all, bytes);
  }
  if (all->known.size() == ByPlace::most) all->known.pop_front();
  all->known.emplace_back(on_device ? places_on_device(context, call, all->asks) : kinds_of(places), made);
  return made;
}

}  // namespace

void run(const Context& context, const Call& call, Make make) {
  ContextState& state = *context.state();
  state.require_usable(call.operation);
  const MemorySpace space = space_of(call.views);
  const HeapOffsets places =
      space == MemorySpace::host ? places_on_host(state, call) : HeapOffsets{nowhere, nowhere};
  kept(state, call, space, places, make)->run(call, places);
}

Collective::Collective(ContextState& context, const Call& call, const HeapOffsets& places)
    : Operation(context, call.operation), call_(call), memory_(space_of(call.views)), places_(places) {
  if (call.counts) counts_.assign(call.counts->begin(), call.counts->end());
  if (call.counts) call_.counts = counts_;
  if (call.reduction && is_logical(*call.reduction, call.dtype)) logical_ = call.reduction;
}

Plan Collective::make_plan(const Request& request) const {
  return plan_single_redistribution(request);
}

// --- planning

std::vector<Fact> Collective::prepare() {
  layouts_ = checked_layouts();
  check_all(call_);
  facts_ = facts_of(call_, memory_);
  call_.array = nullptr;  // of the caller
  asks_for_place_ =
      memory_ == MemorySpace::device && writes_in_place() && has_elements_everywhere(layouts_[1]);
  set_operands();
  return facts_;
}

/// What all ranks have of each is counted in bytes.
std::vector<Layout> Collective::checked_layouts() const {
  std::vector<Layout> result = layouts();
  for (const Layout& layout : result) {
    check(volume(layout.shape()) <= std::numeric_limits<std::int64_t>::max() / size_of(call_.dtype),
          "{}: {} elements of {} have more than 2^63 - 1 bytes", name(), to_string(layout.shape()),
          partita::name(call_.dtype));
  }
  return result;
}

void Collective::check_all(const Call& call) const {
  const Views& views = call.views;
  check_space(context(), name(), views, memory_, call.stream);
  check_own(views);
  for (std::size_t i = 0; i < views.size() && has_extents_of_layouts(); ++i)
    check_view(name(), planned(i, views[i]), call_.dtype, layouts_[i], rank());
  const bool receives = !layouts_[1].region(rank()).empty();
  if (receives) arrays::check_written(name(), planned(1, views[1]), rank());
}

void Collective::set_operands() {
  std::vector<execution::ArrayUse> uses;
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    uses.push_back(
        {.name = operand_names[i],
         .operand = operand_of(layouts_[i], call_.dtype, memory_, places_[i], context().topology(memory_)),
         .is_view = true});
  }
  set_uses(std::move(uses));
}

void Collective::ask_all_ranks() {
  if (asks_for_place_) {
    places_ = agreed_heap_offsets(context(), name(), places_on_device(context(), call_, true));
    set_operands();
  }
  if (!may_use_packets()) choose_library();
}

bool Collective::may_use_packets() const {
  return on_device() && is_redistribution() && !logical_ && context().device_topology.node_count() == 1 &&
         ranks() > 1 && ranks() <= devices::PacketSlots::most_ranks &&
         context().options.device_collectives != DeviceCollectives::library;
}

void Collective::choose_library() {
  if (ranks() == 1 || !prefers_library(context(), flow(), call_.bytes, places_[1] >= 0)) return;
  const devices::DeviceGroup* const library = devices::library_of(context());
  uses_library_ = library != nullptr && is_offered_by(*library);
}

Plan Collective::plan_without_steps(std::span<const Operand> operands, int rank, const char* method,
                                    const char* reason) const {
  const Request request{name(), operands, context().topology(memory_), rank, facts_};
  return Chain(request, operand_names, method, reason).take();
}

execution::Planned Collective::plan_of(int rank) const {
  const std::array operands{uses()[0].operand, uses()[1].operand};
  if (!uses_library_)
    return {make_plan({name(), operands, context().topology(memory_), rank, facts_, grouped()})};
  const auto work = [this](devices::DeviceGroup& library, std::span<const View> views, Stream stream) {
    put(library, views, stream);
  };
  return {.plan = plan_without_steps(operands, rank, "library", "the vendor's library is faster"),
          .by_library = work};
}

std::optional<execution::Planned> Collective::plan_in_packets(int rank) const {
  if (!may_use_packets()) return std::nullopt;
  std::array operands{uses()[0].operand, uses()[1].operand};
  for (Operand& operand : operands) {
    operand.residency = Residency::ordinary;
    operand.dense = true;
  }
  auto exchange = redistribution::small_exchange(operands[0], operands[1], context().device_topology, rank);
  if (!exchange) return std::nullopt;
  return execution::Planned{.plan = plan_without_steps(operands, rank, "packets", "a small transfer"),
                            .exchange = std::move(exchange)};
}

void Collective::before_binding() {
  if (logical_) logical_values_ = std::make_shared<LogicalValues>(context(), *logical_, call_.dtype, memory_);
}

// --- execution

void Collective::run(const Call& call, const HeapOffsets& places) {
  check_views(call.views, call.stream, [&] { check_all(call); });
  const HeapOffsets& at = on_device() ? places_ : places;
  for (std::size_t i = 0; i < call.views.size(); ++i) see(i, planned(i, call.views[i]), at[i]);
  enqueue({}, call.stream);
  if (!logical_ || call.views[1].data == nullptr) return;
  if (on_device())
    contexts::keep_for_graph(context(), devices::stream_or_own(context(), call.stream), logical_values_);
  logical_values_->normalize(planned(1, call.views[1]), call.stream);
}

}  // namespace partita::collective
