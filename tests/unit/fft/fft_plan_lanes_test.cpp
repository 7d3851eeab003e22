// What runs concurrently, in plans of transforms on devices.
#include "fft/layouts.hpp"
#include "plan/channels.hpp"
#include "plan/dependencies.hpp"
#include "plan/lanes.hpp"
#include "support/models/fft_plans.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

/// A plan's steps in their lanes.
struct InLanes {
  explicit InLanes(const Plan& of) : plan(of), lanes(planning::lanes_of(of)) {
    after = planning::find_dependencies(of, planning::touched_by_steps(of), lanes).after;
  }
  bool is_in(std::size_t step, planning::Lane lane) const { return lanes[step] == lane; }
  /// Computed, as a work of that kind.
  template <class Kind>
  bool is_a(std::size_t step) const {
    const Step& one = plan.steps[step];
    return one.kind == StepKind::compute &&
           std::holds_alternative<Kind>(plan.works[static_cast<std::size_t>(one.work)]);
  }

  const Plan& plan;
  std::vector<int> lanes;
  std::vector<std::vector<int>> after;
};

/// Rank 1's, of a cube of c64 from planes to transposed planes.
Plan plan_of_cube(std::int64_t n, FftExchange exchange, int ranks = 2) {
  Operand input = on_heap(Layout(Slab(0), {n, n, n}, ranks), Dtype::c64),
          output = on_heap(Layout(Slab(1), {n, n, n}, ranks), Dtype::c64);
  input.space = output.space = MemorySpace::device;
  return plan_fft(input, output, Topology::regular(ranks), 1, {.exchange = exchange},
                  Machine::find("node-8-gpu"));
}

/// The first group's while the other axes are transformed, which wait for no stores; each group's last
/// transform waits for its own stores and those before.
TEST(FftPlan, StoresGoBesideTheTransformsOfOtherPartsAndGroups) {
  const Plan plan = plan_of_cube(1024, FftExchange::stores);
  const InLanes found(plan);
  int parts = 0;
  std::vector<std::size_t> stores, ends;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (found.is_a<Transform>(i)) {
      ++parts;
      EXPECT_TRUE(found.after[i].empty()) << i;
    }
    if (!found.is_a<TransformInto>(i)) continue;
    (found.is_in(i, planning::pushing) ? stores : ends).push_back(i);
  }
  EXPECT_EQ(parts, 8);
  const std::size_t groups = ends.size();
  ASSERT_GT(groups, 2U);
  ASSERT_EQ(stores.size(), static_cast<std::size_t>(parts) + groups - 1);
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t last = stores[static_cast<std::size_t>(parts) - 1 + group];
    EXPECT_EQ(found.after[ends[group]], std::vector{static_cast<int>(last)});
  }
  const auto extent = [&](std::size_t step) {
    return std::get<TransformInto>(plan.works[static_cast<std::size_t>(plan.steps[step].work)])
        .from.region.sets[2]
        .size();
  };
  EXPECT_GT(extent(ends.front()), 1024 / static_cast<std::int64_t>(groups));
  EXPECT_LE(extent(ends.front()), 1024 * 3 / 5 + 16);  // in rows of 128 bytes
  for (std::size_t group = 1; group + 1 < groups; ++group)
    EXPECT_LE(extent(ends[group]), extent(ends[group - 1]));
  EXPECT_EQ(extent(ends[groups - 1]), extent(ends[groups - 2]));
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const bool is_written = static_cast<planning::Channel>(step.channel) == planning::Channel::written;
    EXPECT_TRUE(step.kind != StepKind::signal || !is_written || found.is_in(i, planning::signalling));
  }
}

/// All rows with the columns of the first group, then the columns of the others.
TEST(FftPlan, ShortLinesAreStoredPlaneByPlane) {
  for (const std::int64_t n : {256, 512}) {
    const Plan plan = plan_of_cube(n, FftExchange::stores);
    const InLanes found(plan);
    int first = 0;
    std::int64_t stored = 0;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      EXPECT_FALSE(found.is_a<Transform>(i));
      if (!found.is_a<TransformInto>(i) || !found.is_in(i, planning::pushing)) continue;
      const auto& into = std::get<TransformInto>(plan.works[static_cast<std::size_t>(plan.steps[i].work)]);
      EXPECT_EQ(into.first.has_value(), stored == 0);
      first += into.first ? 1 : 0;
      EXPECT_TRUE(!into.first || into.first->from.region.size() == n * n * n / 2);
      stored += into.from.region.size();
    }
    EXPECT_EQ(first, 1);
    EXPECT_EQ(stored, n * n * n / 2);
  }
}

bool is_along(const Plan& plan, const Step& step, int axis) {
  const auto& transform = std::get<Transform>(plan.works[static_cast<std::size_t>(step.work)]);
  return transform.axes == Extents{axis};
}

/// Nor does the next part's transform wait for what this rank keeps, but each group's last one does.
TEST(FftPlan, WhatARankKeepsIsCopiedBesideTheNextTransform) {
  const Plan plan = plan_of_cube(256, FftExchange::copies);
  const InLanes found(plan);
  int transforms = 0, kept = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.kind == StepKind::copy) {
      EXPECT_TRUE(found.is_in(i, step.to.rank == 1 ? planning::keeping : planning::pushing));
      kept += step.to.rank == 1 ? 1 : 0;
    }
    if (!found.is_a<Transform>(i)) continue;
    EXPECT_EQ(found.after[i].empty(), !is_along(plan, step, 0)) << i;
    transforms += is_along(plan, step, 0) ? 0 : 1;
  }
  EXPECT_EQ(transforms, 4);
  EXPECT_EQ(kept, transforms + 1);  // of the first group's parts, and of the second group
}

/// The last transform of one group concurrently with the copies of the others; rows are copied whole.
TEST(FftPlan, CopiesOfAGroupGoBesideTheLastTransformOfTheOneBefore) {
  for (const auto& [n, groups] : {std::pair<std::int64_t, std::size_t>{720, 4}, {500, 3}}) {
    const Plan plan = plan_of_cube(n, FftExchange::copies, 4);
    const InLanes found(plan);
    std::vector<std::size_t> ends;
    std::int64_t copied = 0, first_rows = 0;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      if (step.kind == StepKind::copy) {
        EXPECT_EQ(step.region.sets[2].size(), n);
        copied += step.region.size();
        if (first_rows == 0) first_rows = step.region.sets[1].size();
      }
      if (found.is_a<Transform>(i) && is_along(plan, step, 0)) ends.push_back(i);
    }
    EXPECT_EQ(copied, n * n * n / 4);
    EXPECT_EQ(ends.size(), groups);
    EXPECT_GT(first_rows, n / 16);
    EXPECT_LE(first_rows, n / 8);
    for (std::size_t group = 0; group < ends.size(); ++group) {  // only what this rank keeps of the group
      ASSERT_EQ(found.after[ends[group]].size(), 1U) << group;
      const auto kept = static_cast<std::size_t>(found.after[ends[group]].front());
      EXPECT_EQ(plan.steps[kept].to.rank, 1);
      const auto& transform =
          std::get<Transform>(plan.works[static_cast<std::size_t>(plan.steps[ends[group]].work)]);
      EXPECT_EQ(plan.steps[kept].region.sets[1], transform.from.region.sets[1]);
    }
  }
}

/// What the stage before does not transform either is sent as it is made.
TEST(FftPlan, PencilsAreCopiedGroupByGroup) {
  const Shape shape{512, 512, 512};
  const std::vector<int> grid{2, 2}, from{0, 1}, to{1, 2};
  Operand input = on_heap(fourier::grid_layout(shape, from, grid, 4), Dtype::c64),
          output = on_heap(fourier::grid_layout(shape, to, grid, 4), Dtype::c64);
  input.space = output.space = MemorySpace::device;
  const Plan plan =
      plan_fft(input, output, Topology::regular(4), 1,
               {.method = FftMethod::pencil, .exchange = FftExchange::copies}, Machine::find("node-8-gpu"));
  const InLanes found(plan);
  std::vector<int> axes;  // in the order of the steps
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (!found.is_a<Transform>(i)) continue;
    for (int axis = 0; axis < 3; ++axis) {
      if (is_along(plan, plan.steps[i], axis)) axes.push_back(axis);
    }
  }
  EXPECT_EQ(axes, (std::vector{2, 2, 2, 2, 1, 1, 1, 1, 0}));
}

/// What is put into a peer's memory is sent between the transforms of parts.
TEST(FftPlan, ADevicesCopiesLeaveWhileTheNextPartIsTransformed) {
  const Shape shape{256, 256, 256};
  Operand input = on_heap(Layout(Slab(0), shape, 4), Dtype::c64),
          output = on_heap(Layout(Slab(1), shape, 4), Dtype::c64);
  input.space = output.space = MemorySpace::device;
  const Plan plan = plan_fft(input, output, Topology::regular(4), 1);
  std::vector<StepKind> kinds;
  for (const Step& step : plan.steps) {
    const bool to_peer = step.kind == StepKind::copy && step.to.rank != plan.rank;
    if (step.kind == StepKind::compute || to_peer) kinds.push_back(step.kind);
  }
  const auto first_copy = std::ranges::find(kinds, StepKind::copy);
  const auto computed_before = std::count(kinds.begin(), first_copy, StepKind::compute);
  EXPECT_EQ(computed_before, 1);
  EXPECT_EQ(std::ranges::count(kinds, StepKind::compute), 6);  // two parts, and the other axis in four groups
}

/// Strided lines of that length take a device four times as long. And what has been transformed leaves while
/// the next part is: of all three exchanges only the first runs alone.
TEST(FftPlan, LinesOfALongLineLieSideBySideOnDevices) {
  const Layout line(Slab(0), {std::int64_t{1} << 26}, 4);
  Operand operand = on_heap(line, Dtype::c64);
  operand.space = MemorySpace::device;
  const Plan plan = plan_fft(operand, operand, Topology::regular(4), 1, {}, Machine::find("node-8-gpu"));
  ASSERT_EQ(plan.method, "four-step 8192x8192");
  std::vector<int> parts(2);
  for (const Work& work : plan.works) {
    const auto* const transform = std::get_if<Transform>(&work);
    if (transform == nullptr) continue;
    const Buffer& buffer = plan.buffers[static_cast<std::size_t>(transform->from.place.buffer)];
    EXPECT_EQ(buffer.operand->axis_order[1], transform->axes[0]);
    ++parts[static_cast<std::size_t>(transform->axes[0])];
  }
  EXPECT_EQ(parts, (std::vector<int>{8, 8}));
}

/// In groups that follow one another while the next part is transformed; a bound that is too small leaves
/// messages as they are.
TEST(FftPlan, BetweenDevicesOfNodesMessagesMayGoInGroups) {
  const auto planned = [](std::int64_t extent, int per_node, bool grouped, std::int64_t scratch_bytes = 0) {
    const Shape shape{extent, extent, extent};
    Operand input = on_heap(Layout(Slab(0), shape, 4), Dtype::c64),
            output = on_heap(Layout(Slab(1), shape, 4), Dtype::c64);
    input.space = output.space = MemorySpace::device;
    return fourier::plan_transform(input, output, Topology::regular(4, per_node), 1,
                                   {.scratch_bytes = scratch_bytes}, {}, false, grouped)
        .plan;
  };
  const Plan plan = planned(256, 1, true);
  EXPECT_TRUE(plan.grouped);
  std::set<std::int64_t> rounds;
  std::vector<StepKind> kinds;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::send) rounds.insert(step.round);
    if (step.kind == StepKind::send || step.kind == StepKind::compute) kinds.push_back(step.kind);
  }
  EXPECT_EQ(rounds.size(), 2U);
  const auto first_send = std::ranges::find(kinds, StepKind::send);
  EXPECT_EQ(std::count(kinds.begin(), first_send, StepKind::compute), 1);
  EXPECT_EQ(std::ranges::count(kinds, StepKind::compute), 3);
  EXPECT_FALSE(planned(16, 1, false).grouped);
  EXPECT_FALSE(planned(16, 0, true).grouped);
  EXPECT_FALSE(planned(16, 1, true, 2048).grouped);
}

/// Copies do not wait for them, and each of them waits for what it is about. Long copies have theirs between.
TEST(FftPlan, SignalsOfShortCopiesGoBesideTheNextOnes) {
  for (const auto& [n, lane] : {std::pair(256, planning::signalling), std::pair(512, planning::pushing)}) {
    const Plan plan = plan_of_cube(n, FftExchange::copies, n == 256 ? 4 : 2);
    const InLanes found(plan);
    int signals = 0;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      if (step.kind == StepKind::copy && found.is_in(i, planning::pushing)) {
        for (const int before : found.after[i])
          EXPECT_NE(found.lanes[static_cast<std::size_t>(before)], planning::signalling)
              << n << " step " << i;
      }
      const bool is_about_copies = step.kind == StepKind::signal &&
                                   static_cast<planning::Channel>(step.channel) == planning::Channel::written;
      if (!is_about_copies) continue;
      ++signals;
      EXPECT_TRUE(found.is_in(i, lane)) << n << " step " << i;
      if (lane == planning::pushing) continue;
      EXPECT_TRUE(std::ranges::any_of(found.after[i],
                                      [&](int before) {
                                        const auto copy = static_cast<std::size_t>(before);
                                        return found.is_in(copy, planning::pushing) &&
                                               plan.steps[copy].kind == StepKind::copy &&
                                               plan.steps[copy].to.rank == step.peer;
                                      }))
          << n << " step " << i;
    }
    EXPECT_GT(signals, 1) << n;
  }
}

}  // namespace
}  // namespace partita::testing
