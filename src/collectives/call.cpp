#include "collectives/call.hpp"

#include <deque>
#include <limits>
#include <optional>

#include "array/array_state.hpp"
#include "array/overlap.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "base/hash.hpp"
#include "collectives/heap_offsets.hpp"
#include "collectives/library_call.hpp"
#include "collectives/packet_call.hpp"
#include "collectives/plan_runner.hpp"
#include "collectives/recent_calls.hpp"
#include "context/kept_plans.hpp"
#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/checks/rank_zero.hpp"

namespace partita::collective {
namespace {

contexts::PlanKey key_of(const Call& call) {
  contexts::PlanKey key(call.operation);
  for (const Fact& fact : call.facts) key.add(fact.name, fact.value);
  return key;
}

void check_view(std::string_view operation, const View& view, Dtype dtype, const Layout& layout, int rank) {
  const Shape wanted = layout.local_shape(rank);
  if (layout.region(rank).empty()) {
    check(view.data == nullptr || volume(view.extents) == 0,
          "{}: a view of rank {} is {}, but nothing is expected there", operation, rank,
          to_string(view.extents));
    return;
  }
  check(view.extents == wanted, "{}: a view of rank {} is {}, but {} is expected", operation, rank,
        to_string(view.extents), to_string(wanted));
  check(view.strides.size() == view.extents.size(), "{}: a view of rank {} has {} extents but {} strides",
        operation, rank, view.extents.size(), view.strides.size());
  check(view.data != nullptr, "{}: a view of rank {} is a null pointer", operation, rank);
  check(view.dtype == dtype, "{}: the views of rank {} are {} and {}", operation, rank, name(dtype),
        name(view.dtype));
}

void check_views(const Call& call, std::span<const Layout> layouts, int rank) {
  if (call.check) call.check();
  for (std::size_t i = 0; i < layouts.size() && !call.extents_vary; ++i) {
    check_view(call.operation, call.views[i], call.dtype, layouts[i], rank);
  }
  const bool receives = !layouts.empty() && !layouts.back().region(rank).empty();
  if (receives) arrays::check_written(call.operation, call.views.back(), rank);
}

/// The layouts of the call, checked: what all ranks have of each is counted in bytes.
std::vector<Layout> layouts_of(const Call& call) {
  std::vector<Layout> layouts = call.layouts();
  for (const Layout& layout : layouts) {
    check(volume(layout.shape()) <= std::numeric_limits<std::int64_t>::max() / size_of(call.dtype),
          "{}: {} elements of {} have more than 2^63 - 1 bytes", call.operation, to_string(layout.shape()),
          name(call.dtype));
  }
  return layouts;
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

/// Collective.
std::vector<Layout> agree(ContextState& context, const Call& call) {
  std::vector<Layout> layouts;
  runtime::collectively(context, call.operation, [&]() -> std::vector<Fact> {
    devices::require_no_capture(context, call.operation, "making a plan");
    layouts = layouts_of(call);
    check_views(call, layouts, context.rank());
    return call.facts;
  });
  return layouts;
}

std::shared_ptr<PlanRunner> bind_call(ContextState& context, const Call& call,
                                      std::span<const Layout> layouts, MemorySpace space,
                                      const HeapOffsets& places, bool grouped) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    operands.push_back(operand_of(layouts[i], call.dtype, space, places[i], context.topology(space)));
  }
  Plan plan =
      call.plan({call.operation, operands, context.topology(space), context.rank(), call.facts, grouped});
  auto bound = std::make_shared<PlanRunner>(context, std::move(plan), call.logical);
  bound->set_heap_offsets(places);
  return bound;
}

/// Collective, and the same on all ranks: checks the call, then plans and binds it.
std::shared_ptr<PlanRunner> make_plan(ContextState& context, const Call& call, MemorySpace space,
                                      const HeapOffsets& places) {
  const bool grouped = space == MemorySpace::device && devices::messages_go_in_groups(context);
  std::shared_ptr<PlanRunner> bound;
  runtime::collectively(context, call.operation, [&]() -> std::vector<Fact> {
    const std::vector<Layout> layouts = layouts_of(call);
    check_views(call, layouts, context.rank());
    bound = bind_call(context, call, layouts, space, places, grouped);
    return call.facts;
  });
  context.heap_in(space).collect();  // plan creation is a named point of deferred release
  bound->connect();
  return bound;
}

void check_again(ContextState& context, const Call& call, std::span<const Layout> layouts) {
  runtime::check_or_tell_all(context, call.operation, [&] { check_views(call, layouts, context.rank()); });
}

/// Large views are looked for on the heap, by all ranks at every call.
std::shared_ptr<PlanRunner> plan_on_host(ContextState& context, const Call& call, contexts::PlanKey key) {
  HeapOffsets places(call.views.size(), -1);
  if (call.bytes >= worth_asking && context.size() > 1) {
    places = agreed_heap_offsets(context, call.operation, own_heap_offsets(context, call.views));
    for (const std::int64_t place : places) (void)key.add(std::min<std::int64_t>(place, 0));
  }
  auto bound = std::static_pointer_cast<PlanRunner>(context.plans.find(key));
  if (bound) {
    check_again(context, call, bound->layouts());
    bound->set_heap_offsets(places);
    return bound;
  }
  return contexts::make_kept(context, key,
                             [&] { return make_plan(context, call, MemorySpace::host, places); });
}

/// What carries out one call on devices: for each place of the destination one.
struct Variants {
  static constexpr std::size_t most = 32;
  std::vector<Layout> layouts;
  bool ask_for_place = false;  // of the destination: it has elements everywhere
  std::deque<std::pair<HeapOffsets, std::shared_ptr<Runner>>> known;  // by what this rank knows of the place
};

/// Of the last view, if it matters.
HeapOffsets place_of_destination(const ContextState& context, const Call& call, const Variants& variants) {
  return variants.ask_for_place ? own_heap_offsets(context, std::span(call.views).last(1)) : HeapOffsets{-1};
}

/// Collective, and of the same kind on all ranks. `place`: of the last view.
std::shared_ptr<Runner> make_on_device(ContextState& context, const Call& call, std::int64_t place) {
  if (std::shared_ptr<Runner> packets = packet_call(context, call)) return packets;
  if (context.size() > 1 && call.by_library &&
      prefers_library(context, call.operation, call.bytes, place >= 0)) {
    if (const devices::DeviceGroup* const library = devices::library_of(context);
        library != nullptr && call.offered(*library)) {
      return std::make_shared<LibraryCall>(context, call);
    }
  }
  HeapOffsets places(call.views.size(), -1);
  places.back() = place;
  return make_plan(context, call, MemorySpace::device, places);
}

/// Nothing may be waited for. Sources are pushed from wherever they lie; a rank knows the place of its own
/// destination, for which all ranks have planned together when it came first.
std::shared_ptr<Runner> runner_on_device(ContextState& context, const Call& call,
                                         const contexts::PlanKey& key) {
  auto variants = std::static_pointer_cast<Variants>(context.plans.find(key));
  if (variants) {
    const HeapOffsets own = place_of_destination(context, call, *variants);
    for (const auto& [places, runner] : variants->known) {
      if (places != own) continue;
      check_again(context, call, variants->layouts);
      return runner;
    }
  }
  if (!variants) context.plans.make_room();
  std::vector<Layout> layouts = agree(context, call);
  // Only now: where some rank refuses the call, all keep what they have.
  if (variants && variants->known.size() == Variants::most) variants->known.pop_front();
  if (!variants) {
    variants = std::make_shared<Variants>();
    variants->ask_for_place = call.writes_in_place && has_elements_everywhere(layouts.back());
    variants->layouts = std::move(layouts);
    context.plans.insert(key, variants);
  }
  HeapOffsets own = place_of_destination(context, call, *variants);
  const HeapOffsets agreed = agreed_heap_offsets(context, call.operation, own);
  const std::int64_t before = contexts::bytes_allocated(context);
  std::shared_ptr<Runner> runner =
      contexts::with_room(context, [&] { return make_on_device(context, call, agreed.front()); });
  variants->known.emplace_back(std::move(own), runner);
  context.plans.add_bytes(key, contexts::largest_bytes(context, contexts::bytes_allocated(context) - before));
  return runner;
}

}  // namespace

std::uint64_t hash_of(const Call& call, std::string_view way) {
  return mix(mix(partita::hash_of(call.operation), partita::hash_of(way)), hash_of_facts(call.facts));
}

bool run_again(const Context& context, CallSignature& signature, std::optional<Stream> given) {
  ContextState& state = *context.state();
  const Stream stream = given.value_or(Stream{});
  signature.add(stream.given ? 1 : 0);  // host memory has none
  return !state.failed() && !state.closed && !state.in_on_wait && !runtime::in_rank_zero() &&
         RecentCalls::of(state).run(state, signature, stream);
}

void run(const Context& context, Call call, std::optional<Stream> given) {
  ContextState& state = *context.state();
  const Stream stream = given.value_or(Stream{});
  state.require_usable(call.operation);
  const MemorySpace space = space_of(call.views);
  const bool on_device = space == MemorySpace::device;
  call.facts.push_back({"memory", std::string(name(space))});
  const std::function<void()> own_check = std::move(call.check);
  call.check = [&] {
    check_space(state, call.operation, call.views, space, stream);
    if (own_check) own_check();
  };
  const contexts::PlanKey key = key_of(call);
  const std::shared_ptr<Runner> runner =
      on_device ? runner_on_device(state, call, key) : plan_on_host(state, call, key);
  if (on_device) contexts::keep_for_graph(state, stream, runner);
  runner->run(call.views, stream);
  // Large views of the host are looked for on the heap every time.
  if (call.signature != nullptr && (on_device || call.bytes < worth_asking)) {
    RecentCalls::of(state).remember(*call.signature, key, std::move(call.views), runner);
  }
}

void check_root(std::string_view operation, int root, int ranks) {
  check(root >= 0 && root < ranks, "{}: the root {} is not one of the {} ranks", operation, root, ranks);
}

void check_reduction(std::string_view operation, Reduction reduction, Dtype dtype) {
  check(is_defined(reduction, dtype), "{}: {} is not defined for {}", operation, name(reduction),
        name(dtype));
}

void check_apart(std::string_view operation, const View& a, const View& b) {
  check(!arrays::overlap(a, b), "{}: source and destination overlap", operation);
}

void check_same_or_apart(std::string_view operation, const View& view, const View& place, const View& whole) {
  bool same = view.data == place.data && view.strides.size() == place.strides.size();
  for (int i = 0; same && i < std::min(view.extents.size(), view.strides.size()); ++i) {
    same = view.extents[i] <= 1 || view.strides[i] == place.strides[i];
  }
  if (!same) check_apart(operation, view, whole);
}

}  // namespace partita::collective
