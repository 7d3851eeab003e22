#include "fft/stores.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/round.hpp"
#include "fft/layouts.hpp"
#include "fft/prices.hpp"
#include "fft/through_cache.hpp"

namespace partita::fourier {
namespace {

constexpr int most_ranks = 16;  // lines are cut into so many pieces at most

// Of groups: the next stage begins when the first has come, so it had better not be most of the array.
constexpr double most = 4, largest_first = 0.5;

int fastest_axis(const Problem& problem) {
  const Extents& order = problem.input.axis_order;
  return static_cast<int>(order[order.size() - 1]);
}

bool is_run(const IndexSet& set) {
  return set.intervals().size() == 1 && set.intervals().front().count == 1;
}

/// Every rank owns a box.
bool is_of_boxes(const Layout& layout) {
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region region = layout.region(rank);
    if (!region.empty() && !std::ranges::all_of(region.sets, is_run)) return false;
  }
  return true;
}

/// Of the cells of a layout in a region: those that are cut alike along all axes but one hold whole lines
/// along that. (Boxes may be stacked as bricks.)
bool cuts_lines_alike(const Layout& layout, const Region& region, int axis) {
  if (region.empty()) return true;
  const auto number = static_cast<std::size_t>(axis);
  std::vector<std::pair<Region, std::int64_t>> lines;  // and how much of each is held
  for (Layout::Cell& cell : layout.cells(region)) {
    const std::int64_t held = cell.region.sets[number].size();
    cell.region.sets[number] = region.sets[number];
    const auto known = std::ranges::find(lines, cell.region, &std::pair<Region, std::int64_t>::first);
    if (known == lines.end()) {
      lines.emplace_back(std::move(cell.region), held);
    } else {
      known->second += held;
    }
  }
  return std::ranges::all_of(lines,
                             [&](const auto& one) { return one.second == region.sets[number].size(); });
}

/// On every rank.
bool cuts_lines_alike(const Layout& to, const Layout& from, int axis) {
  for (int rank = 0; rank < from.ranks(); ++rank) {
    if (!cuts_lines_alike(to, from.region(rank), axis)) return false;
  }
  return true;
}

/// The axes but one.
Stage without(const Stage& stage, int axis) {
  Stage rest = stage;
  std::erase(rest.axes, axis);
  return rest;
}

Region in_group(Region region, int axis, const IndexSet& group) {
  if (region.empty()) return region;
  IndexSet& set = region.sets[static_cast<std::size_t>(axis)];
  set = intersect(set, group);
  return region;
}

class Storing {
 public:
  Storing(Steps& steps, const Problem& problem, const StoredStage& what, int to)
      : steps_(steps),
        problem_(problem),
        what_(what),
        rest_(without(what.stage, what.stored)),
        to_(to),
        own_(what.stage.after.region(steps.rank())),
        takers_(owners(steps.operand(to).layout, own_)),
        givers_(owners(what.stage.after, without_room(steps.operand(to).layout, what.stage.after))) {}

  /// Nobody waits before all its peers have been told that they may store.
  void open() {
    steps_.settle();
    for (const int peer : givers_) steps_.signal(peer, grant);
  }

  /// As groups of the source arrive.
  void run(const Arrivals& arriving) {
    for (std::size_t i = 0; i < arriving.groups.indices.size(); ++i)
      store(await_group(steps_, arriving, i, own_), steps_.own(what_.from));
    tell();
  }

  /// Of the first group part by part, while the other axes of the next part are transformed.
  void run(const Groups& groups) {
    const redistribution::Parts parts = parts_of_rest();
    for (int part = 0; part < parts.count; ++part) {
      const Region lines = redistribution::part_of(own_, parts, part);
      const Place between = place_between(parts, part);
      if (!rest_.axes.empty() && !lines.empty())
        transform_owned(steps_, problem_, rest_, before(lines), what_.from, between);
      store(groups.several() ? in_group(lines, groups.axis, groups.indices.front()) : lines, between);
    }
    tell();
    for (std::size_t i = 1; i < groups.indices.size(); ++i) {
      store(in_group(own_, groups.axis, groups.indices[i]), steps_.own(*what_.between));
      tell();
    }
  }

  const std::vector<int>& givers() const { return givers_; }

 private:
  /// Those of a region, this rank excepted, from the next rank on.
  std::vector<int> owners(const Layout& layout, const Region& region) const {
    std::vector<int> ranks;
    if (region.empty()) return ranks;
    for (const Layout::Cell& cell : layout.cells(region)) ranks.push_back(cell.contributions.front().front());
    const auto distance = [&](int rank) { return (rank - steps_.rank() + layout.ranks()) % layout.ranks(); };
    std::ranges::sort(ranks, {}, distance);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    std::erase(ranks, steps_.rank());
    return ranks;
  }

  /// This rank's region of a layout, of which rows may have room behind them.
  Region without_room(const Layout& layout, const Layout& of) const {
    Region region = layout.region(steps_.rank());
    for (std::size_t d = 0; d < region.sets.size(); ++d) {
      region.sets[d] = intersect(region.sets[d], IndexSet::range(0, of.shape()[static_cast<int>(d)]));
    }
    return region;
  }

  /// One where there is nothing to be transformed meanwhile.
  redistribution::Parts parts_of_rest() const {
    if (rest_.axes.empty()) return {};
    const Operand& to = steps_.operand(to_);
    if (!what_.between) return parts_in_cache(problem_, what_.stage.after, to.dtype, what_.stage.axes);
    return parts_of(problem_, what_.stage.after, to.dtype, what_.stage.axes, to.layout);
  }

  /// Where a part is between its transforms: in the array that is for that, or in one of two slots, which the
  /// parts have in turn.
  Place place_between(const redistribution::Parts& parts, int part) {
    if (rest_.axes.empty()) return steps_.own(what_.from);
    if (what_.between) return steps_.own(*what_.between);
    const Dtype dtype = steps_.operand(to_).dtype;
    const int fastest = fastest_axis(problem_);
    const std::int64_t row = with_room_in_rows(problem_, what_.stage.after, dtype).shape()[fastest];
    std::int64_t longest = 0;  // in rows, of all ranks: so all have as much scratch
    for (int rank = 0; rank < what_.stage.after.ranks(); ++rank) {
      Shape shape = what_.stage.after.region(rank).shape();
      shape[parts.axis] = ceil_divide(shape[parts.axis], parts.count);
      if (volume(shape) > 0) longest = std::max(longest, volume(shape) / shape[fastest]);
    }
    const std::int64_t slot = longest * row * size_of(dtype);
    const int buffer = steps_.scratch("parts", dtype, std::min(parts.count, 2) * slot);
    return {buffer, steps_.rank(), part % 2 * slot, problem_.input.axis_order, row};
  }

  /// The halved axis has another extent before.
  Region before(Region lines) const {
    for (const int axis : what_.stage.axes) {
      lines.sets[static_cast<std::size_t>(axis)] = IndexSet::range(0, what_.stage.before.shape()[axis]);
    }
    return lines;
  }

  void store(const Region& lines, const Place& from) {
    if (lines.empty()) return;
    if (!granted_) {
      for (const int peer : takers_) steps_.wait(peer, grant);
    }
    granted_ = true;
    TransformInto work{{lines, from}, {}, what_.stored, problem_.kind, what_.last};
    for (Layout::Cell& cell : steps_.operand(to_).layout.cells(lines)) {
      const int owner = cell.contributions.front().front();
      work.to.push_back({std::move(cell.region), {to_, owner, 0, {}}});
    }
    steps_.compute(std::move(work));
  }

  void tell() {
    for (const int peer : takers_) steps_.signal(peer, written);
  }

  Steps& steps_;
  const Problem& problem_;
  const StoredStage& what_;
  Stage rest_;  // that is transformed first
  int to_;
  Region own_;
  std::vector<int> takers_, givers_;
  bool granted_ = false;
};

bool is_complex_kind(TransformKind kind) {
  return kind == TransformKind::complex_forward || kind == TransformKind::complex_backward;
}

/// A power of two of complex numbers.
bool is_of_kernel(const Problem& problem, const Stage& stage, int axis) {
  const std::int64_t length = stage.after.shape()[axis];
  return axis != problem.halved_axis() && length >= 2 && (length & (length - 1)) == 0 &&
         length <= TransformInto::longest;
}

}  // namespace

bool is_of_kernel(const Problem& problem, const Stage& stage) {
  return is_complex_kind(problem.kind) && stage.axes.size() == 1 &&
         is_of_kernel(problem, stage, stage.axes.front());
}

std::optional<int> stored_axis(const Problem& problem, const Stage& stage, const Layout& to) {
  const bool makes_reals = problem.doubles && changes_dtype(problem, stage);
  if (!problem.on_device() || !is_complex_kind(problem.kind) || makes_reals || same(stage.after, to))
    return std::nullopt;
  if (!on_one_node(problem.topology) || problem.topology.ranks() > most_ranks) return std::nullopt;
  if (!is_plain(to) || !is_plain(stage.after) || !is_of_boxes(to) || !is_of_boxes(stage.after)) {
    return std::nullopt;
  }
  for (const std::int64_t axis : problem.input.axis_order) {  // slowest first
    const auto number = static_cast<int>(axis);
    if (!contains(stage.axes, axis) || !is_of_kernel(problem, stage, number)) continue;
    if (cuts_lines_alike(to, stage.after, number)) return number;
  }
  return std::nullopt;
}

bool stores_whole_words(const Problem& problem, const Stage& stage, const Layout& to) {
  constexpr std::int64_t word = 16;
  const int fastest = fastest_axis(problem);
  const auto whole = [&](const Layout& layout) {
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      if (layout.local_shape(rank)[fastest] * size_of(problem.dtype) % word != 0) return false;
    }
    return true;
  };
  return whole(stage.after) && whole(to);
}

Layout with_room_in_rows(const Problem& problem, const Layout& layout, Dtype dtype) {
  constexpr std::int64_t sector = 32, tile = 128;  // bytes: of links and memory; of the kernel's rows
  const int axis = fastest_axis(problem);
  const std::int64_t extent = layout.shape()[axis], item = size_of(dtype);
  if (extent * item % sector == 0 || !whole_axes(layout)[static_cast<std::size_t>(axis)]) return layout;
  const std::int64_t roomy = round_up(extent, tile / item);
  return stretches(layout, axis, roomy) ? with_extent(layout, axis, roomy) : layout;
}

Dtype dtype_between(const Problem& problem) {
  return problem.halves ? problem.dtype : problem.input.dtype;
}

namespace {

/// What a stage costs whose results are stored, but for the steps of each group.
struct Storage {
  StorePrice price;
  double others = 0;  // along the axes that are not stored
  int parts = 1;
  bool may_stay_in_cache = false;
  int parts_in_cache = 1;
  double next = 0;  // of the stage that follows

  double seconds_in(const Problem& problem, const Groups& groups) const {
    const double first = groups.first_share();
    return store_seconds(price, problem, others, parts, first) +
           seconds_behind_stores(price, next, first, groups.indices.size());
  }
  double seconds_in_cache(const Problem& problem) const {
    return cached_store_seconds(price, problem, others, parts_in_cache) + next;
  }
};

Storage storage_of(const Problem& problem, const Stage& stage, int stored, const Stage& next) {
  const Dtype dtype = dtype_between(problem);
  const Taking taken =
      taking(stage.after, next.before, problem.topology, static_cast<double>(size_of(dtype)));
  Storage result;
  result.price = store_price(taken, problem);
  result.others = compute_seconds(stage, problem, stored);
  result.parts = parts_of(problem, stage.after, dtype, stage.axes, next.before).count;
  result.may_stay_in_cache = stage.axes.size() > 1;
  result.parts_in_cache = parts_in_cache(problem, stage.after, dtype, stage.axes).count;
  result.next = compute_seconds(next, problem);
  return result;
}

}  // namespace

double Groups::first_share() const {
  if (!several()) return 1;
  std::int64_t all = 0;
  for (const IndexSet& group : indices) all += group.size();
  return static_cast<double>(indices.front().size()) / static_cast<double>(all);
}

Groups groups_of(const Problem& problem, const Stage& stage, int stored, const Stage& next) {
  constexpr std::int64_t shortest = 128;  // bytes of a row, as tiles of lines are
  const int axis = fastest_axis(problem);
  const auto whole = [&](const Layout& layout) -> bool {
    return whole_axes(layout)[static_cast<std::size_t>(axis)];
  };
  if (!is_of_kernel(problem, next) || axis == stored || contains(next.axes, axis)) return {};
  if (!whole(stage.after) || !whole(next.before)) return {};
  const Machine& machine = problem.machine;
  const std::int64_t item = size_of(dtype_between(problem));
  const double pass = static_cast<double>(next.before.largest_local_size() * item) / machine.copy_bandwidth;
  const double start = 2 * (machine.copy_latency + 2 * machine.signal_latency);
  const std::int64_t wanted = std::llround(start > 0 ? std::clamp(pass / start, 1.0, most) : most);
  if (wanted < 2) return {};
  const std::int64_t extent = next.before.shape()[axis], least = shortest / item;
  const Storage storage = storage_of(problem, stage, stored, next);
  const double share = std::clamp(share_stored_meanwhile(storage.price, storage.others, storage.parts),
                                  1 / static_cast<double>(wanted), largest_first);
  const auto first = static_cast<std::int64_t>(share * static_cast<double>(extent));
  const std::int64_t begun = std::min(extent, round_up(std::max<std::int64_t>(first, 1), least));
  const std::int64_t length = round_up(ceil_divide(extent - begun, wanted - 1), least);
  Groups groups{axis, {IndexSet::range(0, begun)}};
  for (std::int64_t next_one = begun; next_one < extent; next_one += length)
    groups.indices.push_back(IndexSet::range(next_one, std::min(extent, next_one + length)));
  const bool in_cache =
      storage.may_stay_in_cache && storage.seconds_in_cache(problem) < storage.seconds_in(problem, groups);
  return in_cache ? Groups{} : groups;
}

Region await_group(Steps& steps, const Arrivals& arrivals, std::size_t group, const Region& region) {
  for (const int peer : arrivals.givers) steps.wait(peer, written);
  return in_group(region, arrivals.groups.axis, arrivals.groups.indices[group]);
}

void await_all(Steps& steps, const Arrivals& arrivals) {
  for (const int peer : arrivals.givers) {
    steps.wait_for(peer, written, static_cast<std::int64_t>(arrivals.groups.indices.size()));
  }
}

Arrivals transform_into_owners(Steps& steps, const Problem& problem, const StoredStage& what,
                               const Arrivals& arriving, int to, const Groups& groups) {
  Storing storing(steps, problem, what, to);
  storing.open();
  if (arriving.groups.several()) {
    storing.run(arriving);
  } else {
    storing.run(groups);
    if (groups.several()) return {groups, storing.givers()};
  }
  for (const int peer : storing.givers()) steps.wait(peer, written);
  return {};
}

namespace {

void transform_lines(Steps& steps, const Problem& problem, const Stage& stage, bool last, const Region& lines,
                     int from, int to) {
  if (lines.empty()) return;
  steps.compute(TransformInto{
      {lines, steps.own(from)}, {{lines, steps.own(to)}}, stage.axes.front(), problem.kind, last});
}

}  // namespace

void transform_by_kernel(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                         int to) {
  transform_lines(steps, problem, stage, last, stage.before.region(steps.rank()), from, to);
}

void transform_arriving(Steps& steps, const Problem& problem, const Stage& stage, bool last,
                        const Arrivals& arriving, int from, int to) {
  const Region own = stage.before.region(steps.rank());
  for (std::size_t i = 0; i < arriving.groups.indices.size(); ++i)
    transform_lines(steps, problem, stage, last, await_group(steps, arriving, i, own), from, to);
}

}  // namespace partita::fourier
