#include "fft/stores.hpp"

#include <algorithm>
#include <utility>

#include "fft/local_transforms.hpp"
#include "plan/peer_memory.hpp"

namespace partita::fourier {
namespace {

/// The axes but one, if any.
Stage without(const Stage& stage, std::optional<int> axis) {
  Stage rest = stage;
  if (axis) std::erase(rest.axes, *axis);
  return rest;
}

Region in_group(Region region, int axis, const IndexSet& group) {
  if (region.empty()) return region;
  IndexSet& set = region.sets[static_cast<std::size_t>(axis)];
  set = intersect(set, group);
  return region;
}

class Leaving {
 public:
  Leaving(Steps& steps, const Problem& problem, const LeavingStage& what, int to)
      : steps_(steps),
        problem_(problem),
        what_(what),
        rest_(without(what.stage, what.stored)),
        between_(rest_.axes.empty() ? what.from : what.between),
        to_(to),
        own_(what.stage.after.region(steps.rank())),
        takers_(owners(steps.operand(to).layout, own_)),
        givers_(owners(what.stage.after, without_room(steps.operand(to).layout, what.stage.after))),
        puts_(steps) {}

  /// No rank waits before all its peers have been notified that they may begin.
  void open() {
    steps_.resolve();
    for (const int peer : givers_) puts_.grant(peer);
  }

  /// As groups of the source arrive.
  void run(const Arrivals& arriving) {
    for (std::size_t i = 0; i < arriving.groups.indices.size(); ++i) {
      const Region lines = await_group(steps_, arriving, i, own_);
      make(lines);
      put(lines);
    }
    tell();
  }

  /// Of the first group part by part, while the other axes of the next part are transformed. Where groups can
  /// be made one after the other, they are the parts.
  void run(const Groups& groups) {
    if (!what_.stored && !contains(rest_.axes, groups.axis)) return run_in_order(groups);
    if (const std::optional<int> row = row_axis()) {
      store_planes(*row, groups);
    } else {
      run_in_parts(groups);
    }
    tell();
    for (std::size_t i = 1; i < groups.indices.size(); ++i) {
      put(in_group(own_, groups.axis, groups.indices[i]));
      tell();
    }
  }

  const std::vector<int>& givers() const { return givers_; }

 private:
  std::optional<int> row_axis() const {
    return what_.stored ? axis_before_in_planes(problem_, what_.stage, *what_.stored) : std::nullopt;
  }

  void run_in_parts(const Groups& groups) {
    const redistribution::Parts parts = parts_of_rest();
    for (int part = 0; part < parts.count; ++part) {
      const Region lines = redistribution::part_of(own_, parts, part);
      make(lines);
      put(groups.several() ? in_group(lines, groups.axis, groups.indices.front()) : lines);
    }
  }

  /// All rows, and the columns of the first group.
  void store_planes(int row, const Groups& groups) {
    if (own_.empty()) return;
    await_grants();
    const Region lines = groups.several() ? in_group(own_, groups.axis, groups.indices.front()) : own_;
    TransformInto work = storing(lines, steps_.operand(to_).layout.cells(lines));
    const Region before = region_before(what_.stage, own_);
    work.first =
        Transform{{before, steps_.own(what_.from)}, {own_, steps_.own(between_)}, {row}, problem_.kind};
    if (row == problem_.halved_axis()) {
      work.first->kind = TransformKind::real_to_complex;
      work.first->real_length = what_.stage.before.shape()[row];
    }
    steps_.compute(std::move(work));
  }

  static int owner(const Layout::Cell& cell) { return cell.contributions.front().front(); }
  int distance(int rank) const {
    const int ranks = what_.stage.after.ranks();
    return (rank - steps_.rank() + ranks) % ranks;
  }

  /// Those of a region, this rank excepted, from the next rank on.
  std::vector<int> owners(const Layout& layout, const Region& region) const {
    std::vector<int> ranks = steps_.owners(layout, region);
    std::ranges::sort(ranks, {}, [&](int rank) { return distance(rank); });
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
    return leaving_parts_of(problem_, what_.stage, what_.stored.has_value(), steps_.operand(to_).layout);
  }

  void run_in_order(const Groups& groups) {
    for (const IndexSet& group : groups.indices) {
      const Region lines = in_group(own_, groups.axis, group);
      make(lines);
      put(lines);
      tell();
    }
  }

  /// But for what is transformed where it is stored. Ranks without lines have the same buffers as the others.
  void make(const Region& lines) {
    if (rest_.axes.empty()) return;
    const bool last = what_.last && !what_.stored;
    transform_owned(steps_, problem_, rest_, last, region_before(what_.stage, lines), what_.from, between_);
  }

  void await_grants() {
    for (const int peer : takers_) puts_.await_grant(peer);
  }

  void put(const Region& lines) {
    if (lines.empty()) return;
    await_grants();
    std::vector<Layout::Cell> cells = steps_.operand(to_).layout.cells(lines);
    if (what_.stored) {
      steps_.compute(storing(lines, std::move(cells)));
    } else {
      copy(cells);
    }
  }

  TransformInto storing(const Region& lines, std::vector<Layout::Cell> cells) const {
    TransformInto work{{}, {lines, steps_.own(between_)}, {}, *what_.stored, problem_.kind, what_.last};
    for (Layout::Cell& cell : cells) work.to.push_back({std::move(cell.region), {to_, owner(cell), 0, {}}});
    return work;
  }

  /// To the next rank first, so that no two put to the same one.
  void copy(std::vector<Layout::Cell>& cells) {
    std::ranges::stable_sort(cells, {}, [&](const Layout::Cell& cell) { return distance(owner(cell)); });
    for (Layout::Cell& cell : cells)
      steps_.copy(steps_.rank(), std::move(cell.region), steps_.own(between_), {to_, owner(cell), 0, {}});
  }

  void tell() {
    for (const int peer : takers_) puts_.tell(peer);
  }

  Steps& steps_;
  const Problem& problem_;
  const LeavingStage& what_;
  Stage rest_;  // that is transformed first
  int between_, to_;
  Region own_;
  std::vector<int> takers_, givers_;
  planning::PeerPuts puts_;
};

}  // namespace

Region await_group(Steps& steps, const Arrivals& arrivals, std::size_t group, const Region& region) {
  for (const int peer : arrivals.givers) steps.wait(peer, written);
  return in_group(region, arrivals.groups.axis, arrivals.groups.indices[group]);
}

void await_all(Steps& steps, const Arrivals& arrivals) {
  const auto groups = static_cast<std::int64_t>(std::max<std::size_t>(arrivals.groups.indices.size(), 1));
  for (const int peer : arrivals.givers) steps.wait_for(peer, written, groups);
}

Arrivals put_into_owners(Steps& steps, const Problem& problem, const LeavingStage& what,
                         const Arrivals& arriving, int to, const Groups& groups) {
  Leaving leaving(steps, problem, what, to);
  leaving.open();
  if (arriving.groups.several()) {
    leaving.run(arriving);
    return {{}, leaving.givers()};
  }
  await_all(steps, arriving);
  leaving.run(groups);
  return {groups, leaving.givers()};
}

namespace {

void transform_lines(Steps& steps, const Problem& problem, const Stage& stage, bool last, const Region& lines,
                     int from, int to) {
  if (lines.empty()) return;
  steps.compute(TransformInto{
      {}, {lines, steps.own(from)}, {{lines, steps.own(to)}}, stage.axes.front(), problem.kind, last});
}

}  // namespace

void transform_by_kernel(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                         int to) {
  transform_lines(steps, problem, stage, last, stage.before.region(steps.rank()), from, to);
}

void transform_arriving(Steps& steps, const Problem& problem, const Stage& stage, bool last, bool by_kernel,
                        const Arrivals& arriving, int from, int to) {
  const Region own = stage.before.region(steps.rank());
  for (std::size_t i = 0; i < arriving.groups.indices.size(); ++i) {
    const Region lines = await_group(steps, arriving, i, own);
    if (by_kernel) {
      transform_lines(steps, problem, stage, last, lines, from, to);
    } else {  // also without lines: all ranks have the same buffers
      transform_owned(steps, problem, stage, last, lines, from, to);
    }
  }
}

}  // namespace partita::fourier
