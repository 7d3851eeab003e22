#include "collectives/call.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "array/overlap.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "collectives/bound.hpp"

namespace partita::collective {
namespace {

std::string key_of(const Call& call) {
  std::string key(call.operation);
  for (const Fact& fact : call.facts) key.append(" | ").append(fact.name).append(" ").append(fact.value);
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

/// Where each view lies on the heap: the same place on all ranks, or nowhere. Collective.
class Places {
 public:
  static constexpr std::int64_t nowhere = -1;
  static constexpr std::int64_t empty = -2;  // suits every place

  Places(ContextState& context, const Call& call) {
    std::vector<std::int64_t> mine;
    for (const View& view : call.views) mine.push_back(place_of(context, view));
    const std::string bytes(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(mine[0]));
    offsets_.assign(mine.size(), empty);
    for (const std::string& theirs : exchange(context, call.operation, bytes)) join(theirs);
  }

  bool on_heap(std::size_t view) const { return offsets_[view] >= 0; }
  const std::vector<std::int64_t>& offsets() const { return offsets_; }

 private:
  static std::int64_t place_of(const ContextState& context, const View& view) {
    if (view.data == nullptr || volume(view.extents) == 0) return empty;
    return lies_dense(view) ? context.heap->offset_of(view.data) : nowhere;
  }

  void join(const std::string& bytes) {
    std::vector<std::int64_t> theirs(offsets_.size());
    std::memcpy(theirs.data(), bytes.data(), std::min(bytes.size(), theirs.size() * sizeof(theirs[0])));
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (theirs[i] == empty) continue;
      offsets_[i] = offsets_[i] == empty || offsets_[i] == theirs[i] ? theirs[i] : nowhere;
    }
  }

  std::vector<std::int64_t> offsets_;
};

void check_views(const Call& call, std::span<const Layout> layouts, int rank) {
  if (call.check) call.check();
  if (call.extents_vary) return;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    check_view(call.operation, call.views[i], call.dtype, layouts[i], rank);
  }
}

/// Ordinary memory with strides that each rank knows for itself, or dense on the heap.
Operand operand_of(const Layout& layout, Dtype dtype, bool on_heap) {
  Operand operand =
      Operand::of(layout, dtype, Order::row_major, on_heap ? Residency::heap : Residency::ordinary);
  operand.dense = on_heap;
  return operand;
}

/// Collective.
std::shared_ptr<Bound> make_together(ContextState& context, const Call& call, const Places* places) {
  std::vector<Operand> operands;
  std::optional<Plan> plan;
  collectively(context, call.operation, [&]() -> std::vector<Fact> {
    const std::vector<Layout> layouts = call.layouts();
    check_views(call, layouts, context.rank());
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      operands.push_back(operand_of(layouts[i], call.dtype, places != nullptr && places->on_heap(i)));
    }
    plan = call.plan({call.operation, operands, context.topology(), context.rank()});
    return call.facts;
  });
  context.heap->collect();  // plan creation is a named point of deferred release
  return std::make_shared<Bound>(context, std::move(*plan));
}

}  // namespace

void check_or_tell_all(ContextState& context, std::string_view operation,
                       const std::function<void()>& check) {
  try {
    check();
  } catch (const Error&) {
    collectively(context, operation, []() -> std::vector<Fact> { throw; });
  }
}

void run(const Context& context, Call call, Stream stream) {
  ContextState& state = *context.state();
  state.require_usable(call.operation);
  std::string key = key_of(call);
  std::optional<Places> places;
  if (call.bytes >= worth_asking && state.size() > 1) {
    places.emplace(state, call);
    for (std::size_t i = 0; i < call.views.size(); ++i) key += places->on_heap(i) ? " heap" : " ordinary";
  }
  const std::function<void()> own_check = std::move(call.check);
  call.check = [&] {
    refuse_devices(call.operation, call.views, stream);
    if (own_check) own_check();
  };
  std::shared_ptr<Bound> bound = std::static_pointer_cast<Bound>(state.plans.find(key));
  if (bound) {
    check_or_tell_all(state, call.operation, [&] { check_views(call, bound->layouts(), state.rank()); });
  } else {
    bound = make_together(state, call, places ? &*places : nullptr);
    state.plans.insert(key, bound);
  }
  bound->run(call.views,
             places ? std::span<const std::int64_t>(places->offsets()) : std::span<const std::int64_t>());
}

void refuse_devices(std::string_view operation, std::span<const View> views, Stream stream) {
  for (const View& view : views) {
    check<UnsupportedError>(view.space == MemorySpace::host,
                            "{}: device memory is not offered yet; copy the data to host memory", operation);
  }
  check<UnsupportedError>(stream.handle == nullptr, "{}: host memory has no streams", operation);
}

void check_root(std::string_view operation, int root, int ranks) {
  check(root >= 0 && root < ranks, "{}: the root {} is not one of the {} ranks", operation, root, ranks);
}

void check_reduction(std::string_view operation, Reduction reduction, Dtype dtype) {
  check(is_defined(reduction, dtype), "{}: {} is not defined for {}", operation, name(reduction),
        name(dtype));
}

void check_apart(std::string_view operation, const View& a, const View& b) {
  check(!spans_meet(a, b), "{}: source and destination overlap", operation);
}

void check_same_or_apart(std::string_view operation, const View& view, const View& place, const View& whole) {
  bool same = view.data == place.data && view.strides.size() == place.strides.size();
  for (int i = 0; same && i < std::min(view.extents.size(), view.strides.size()); ++i) {
    same = view.extents[i] <= 1 || view.strides[i] == place.strides[i];
  }
  if (!same) check_apart(operation, view, whole);
}

}  // namespace partita::collective
