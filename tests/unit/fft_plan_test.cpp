// Plans of transforms, looked at without running them.
#include <gtest/gtest.h>

#include <algorithm>
#include <partita/fft.hpp>
#include <partita/verify_numbers.hpp>
#include <set>

#include "fft/plan.hpp"
#include "plan/dependencies.hpp"
#include "plan/lanes.hpp"
#include "unit/indices.hpp"
#include "unit/naive_transform.hpp"
#include "unit/random_layouts.hpp"

namespace partita::testing {
namespace {

Operand on_heap(const Layout& layout, Dtype dtype = Dtype::c128) {
  return Operand::of(layout, dtype, Order::row_major, Residency::heap);
}

Planner planner_of(const Operand& input, const Operand& output, const Topology& topology,
                   const FftOptions& options = {}) {
  return [=](int rank) { return plan_fft(input, output, topology, rank, options); };
}

/// All ranks run to their ends, under a discrete-event clock, and are in the same plan.
void expect_consistent(const Planner& planner, int ranks) {
  std::set<std::uint64_t> hashes;
  for (int rank = 0; rank < ranks; ++rank) hashes.insert(planner(rank).hash());
  EXPECT_EQ(hashes.size(), 1U);
  EXPECT_NO_THROW((void)simulate(planner, ranks, Machine{}));
}

TEST(FftPlan, EndsOnEveryRankWhateverTheDistributions) {
  RandomLayouts random(7);
  for (int i = 0; i < 150; ++i) {
    const int ranks = random.number(1, 6);
    const int dimensions = random.number(1, 4);
    Shape shape;
    for (int d = 0; d < dimensions; ++d) shape.push_back(random.number(2, 8));
    const Layout input = random.layout(shape, ranks);
    Layout output = random.layout(shape, ranks);
    if (output.partial()) output = Layout(Slab(0), shape, ranks);
    Operand from = on_heap(input);
    Operand to = on_heap(output);
    if (random.maybe()) from.residency = Residency::ordinary;
    if (random.maybe()) to.residency = Residency::ordinary;
    FftOptions options;
    options.axes = random.permutation(dimensions);
    options.axes.resize(static_cast<std::size_t>(random.number(1, dimensions)));
    const Topology topology = Topology::regular(ranks, random.number(0, ranks));
    SCOPED_TRACE(from.to_string() + " -> " + to.to_string());
    expect_consistent(planner_of(from, to, topology, options), ranks);
  }
}

// Empty parts among them: they are handed over in no parts at all.
TEST(FftPlan, OnDevicesAllRanksAreInOnePlan) {
  RandomLayouts random(11);
  for (int i = 0; i < 200; ++i) {
    const int ranks = random.number(2, 5);
    const Shape half{random.number(2, 9), random.number(2, 9), random.number(2, 9)};
    FftOptions options;
    options.kind = FftKind::c2r;
    options.axes = random.permutation(3);
    options.axes.resize(static_cast<std::size_t>(random.number(1, 3)));
    options.last_length = 2 * half[options.axes.back()] - 1;
    options.scratch_bytes = 512 * ranks + random.number(0, 4096);
    options.overwrite_input = random.maybe();
    Shape whole = half;
    whole[options.axes.back()] = options.last_length;
    Operand from = on_heap(random.layout(half, ranks));
    Operand to =
        on_heap(random.maybe() ? Layout(Slab(0), whole, ranks) : random.layout(whole, ranks), Dtype::f64);
    if (to.layout.partial()) to.layout = Layout(Slab(1), whole, ranks);
    from.space = to.space = MemorySpace::device;
    SCOPED_TRACE(from.to_string() + " -> " + to.to_string());
    expect_consistent(planner_of(from, to, Topology::regular(ranks), options), ranks);
  }
}

/// What stands at an index: small, and not symmetric.
Number number_at(const Index& at, bool is_complex) {
  std::int64_t mixed = 7;
  for (const std::int64_t i : at) mixed = (mixed * 31 + 5 * i + 3) % 101;
  return {static_cast<long double>(mixed % 13 - 6), is_complex ? static_cast<long double>(mixed % 7 - 3) : 0};
}

/// By definition, axis by axis. The halved one is the first from real numbers and the last to them.
Numbers by_definition(const FftOptions& options, std::vector<int> axes, const Operand& input,
                      const Shape& result) {
  const Shape& shape = input.layout.shape();
  const int halved = axes.back();
  Numbers numbers{shape, {}};
  Region all;
  for (const std::int64_t extent : shape) all.sets.push_back(IndexSet::range(0, extent));
  for_each_index(all,
                 [&](const Index& at) { numbers.values.push_back(number_at(at, is_complex(input.dtype))); });
  const bool backward = (options.kind == FftKind::c2r) != options.inverse;
  TransformKind kind = backward ? TransformKind::complex_backward : TransformKind::complex_forward;
  if (options.kind == FftKind::r2c) std::rotate(axes.begin(), axes.end() - 1, axes.end());
  if (options.kind >= FftKind::dct1) {
    const int type = static_cast<int>(options.kind) - static_cast<int>(FftKind::dct1);
    kind = static_cast<TransformKind>(static_cast<int>(TransformKind::dct1) + type);
  }
  for (const int axis : axes) {
    const bool r2c = axis == halved && options.kind == FftKind::r2c;
    const bool c2r = axis == halved && options.kind == FftKind::c2r;
    const std::int64_t n = c2r ? result[axis] : numbers.shape[axis];
    const TransformKind one = r2c   ? TransformKind::real_to_complex
                              : c2r ? TransformKind::complex_to_real
                                    : kind;
    numbers = transform_axis(one, n, axis, numbers);
  }
  return numbers;
}

void expect_transforms(const Operand& input, const Operand& output, const Topology& topology,
                       const FftOptions& options, bool in_place = false, bool grouped = false,
                       const Machine& machine = {}) {
  SCOPED_TRACE(input.to_string() + " -> " + output.to_string() + (grouped ? " in groups" : ""));
  std::vector<int> axes = options.axes;
  for (int d = 0; options.axes.empty() && d < input.layout.dimensions(); ++d) axes.push_back(d);
  const Numbers wanted = by_definition(options, axes, input, output.layout.shape());
  const auto given = [&](const Index& at, int contribution) {  // but for one, contributions are 0
    const Number number = contribution == 0 ? number_at(at, is_complex(input.dtype)) : Number();
    return std::complex<double>(number);
  };
  const auto result = [&](const Index& at) {
    std::int64_t place = 0;
    for (int d = 0; d < at.size(); ++d) place = place * wanted.shape[d] + at[d];
    return std::complex<double>(wanted.values[static_cast<std::size_t>(place)]);
  };
  const Planner planner = [&](int rank) {
    return fourier::plan_transform(input, output, topology, rank, options, machine, in_place, grouped);
  };
  const Verdict verdict = in_place ? verify_numbers(planner, {{1, given, result, 0}})
                                   : verify_numbers(planner, {{0, given}, {1, {}, result}});
  EXPECT_TRUE(verdict.ok()) << planner(0).method << ": " << verdict.faults.front();
}

TEST(FftPlan, TransformsWhateverTheDistributionsAre) {
  RandomLayouts random(11), devices(12);
  for (int i = 0; i < 300; ++i) {
    const int ranks = random.number(1, 8), dimensions = random.number(1, 3);
    Shape shape;
    for (int d = 0; d < dimensions; ++d) shape.push_back(random.number(2, 7));
    FftOptions options;
    options.kind = static_cast<FftKind>(random.maybe() ? 0 : random.number(1, 10));
    options.inverse = options.kind == FftKind::c2c && random.maybe();
    options.axes = random.permutation(dimensions);
    options.axes.resize(static_cast<std::size_t>(random.number(1, dimensions)));
    if (random.maybe(0.2)) options.scratch_bytes = random.number(64, 4096);
    const bool is_complex = options.kind == FftKind::c2c || options.kind == FftKind::c2r;
    Operand input = on_heap(random.layout(shape, ranks), is_complex ? Dtype::c128 : Dtype::f64);
    Shape result = shape;
    const int last = options.axes.back();
    if (options.kind == FftKind::r2c) result[last] = shape[last] / 2 + 1;
    if (options.kind == FftKind::c2r) {
      options.last_length = result[last] = 2 * shape[last] - 1 - random.number(0, 1);
    }
    Layout given = random.layout(result, ranks);
    if (given.partial()) given = Layout(Slab(0), result, ranks);
    Operand output = on_heap(given, result_dtype(input.dtype, options.kind));
    if (random.maybe(0.3)) input.residency = Residency::ordinary;
    if (random.maybe(0.3)) output.residency = Residency::ordinary;
    if (devices.maybe(0.4)) {
      input.space = output.space = MemorySpace::device;
      if (options.scratch_bytes > 0) options.scratch_bytes += 2048;  // their staging takes more
    }
    const Topology topology = Topology::regular(ranks, random.number(0, ranks));
    const bool grouped = devices.maybe();
    expect_transforms(input, output, topology, options, false, grouped);
    const bool may_be_in_place = input.dtype == output.dtype && result == shape && !input.layout.partial();
    if (may_be_in_place) expect_transforms(input, input, topology, options, true, grouped);
    if (HasFailure()) return;
  }
}

TEST(FftPlan, TransformsLongLinesInFourSteps) {
  for (const std::int64_t length : {64, 60, 63}) {
    for (const int per_node : {0, 1, 2}) {
      const Topology topology = Topology::regular(4, per_node);
      for (const FftKind kind : {FftKind::c2c, FftKind::r2c, FftKind::c2r}) {
        FftOptions options;
        options.kind = kind;
        options.method = FftMethod::four_step;
        options.last_length = kind == FftKind::c2r ? length : 0;
        const std::int64_t half = length / 2 + 1;
        Operand whole = on_heap(Layout(Slab(0), {kind == FftKind::c2r ? half : length}, 4),
                                kind == FftKind::r2c ? Dtype::f64 : Dtype::c128);
        Operand result = on_heap(Layout(Slab(0), {kind == FftKind::r2c ? half : length}, 4),
                                 kind == FftKind::c2r ? Dtype::f64 : Dtype::c128);
        expect_transforms(whole, result, topology, options);
        whole.space = result.space = MemorySpace::device;
        expect_transforms(whole, result, topology, options, false, per_node == 2);
      }
    }
  }
}

/// A machine whose devices store so fast that copies are never chosen.
Machine that_stores() {
  Machine machine;
  machine.store_bandwidth = 1e18;
  machine.copy_latency = machine.signal_latency = 0;  // groups of lines cost nothing
  return machine;
}

bool stores_to_peers(const Plan& plan) {
  return std::ranges::any_of(plan.works, [&](const Work& work) {
    const auto* const into = std::get_if<TransformInto>(&work);
    return into != nullptr &&
           std::ranges::any_of(into->to, [&](const Part& part) { return part.place.rank != plan.rank; });
  });
}

/// Uneven slabs, ranks without lines, odd sizes along the other axes; several exchanges in a plan.
TEST(FftPlan, ResultsAreStoredWhereTheyBelong) {
  RandomLayouts random(23);
  int stored = 0;
  for (int i = 0; i < 250; ++i) {
    const int ranks = random.number(2, 8), dimensions = random.number(2, 3);
    Shape shape;
    for (int d = 0; d < dimensions; ++d)
      shape.push_back(random.maybe() ? 1 << random.number(1, 4) : random.number(1, 9));
    FftOptions options;
    options.kind = random.maybe(0.6) ? FftKind::c2c : random.maybe() ? FftKind::r2c : FftKind::c2r;
    options.inverse = options.kind == FftKind::c2c && random.maybe();
    options.axes = random.permutation(dimensions);
    options.axes.resize(static_cast<std::size_t>(random.number(1, dimensions)));
    const int last = options.axes.back();
    if (options.kind != FftKind::c2c) shape[last] = std::max<std::int64_t>(shape[last], 2);
    Shape result = shape;
    if (options.kind == FftKind::r2c) result[last] = shape[last] / 2 + 1;
    if (options.kind == FftKind::c2r) options.last_length = result[last] = 2 * (shape[last] - 1);
    const auto any_slab = [&](const Shape& of) {
      if (random.maybe(0.2)) return random.layout(of, ranks);
      return Layout(Slab(random.number(0, dimensions - 1)), of, ranks);
    };
    Operand input = on_heap(any_slab(shape), options.kind == FftKind::r2c ? Dtype::f64 : Dtype::c128);
    Layout given = any_slab(result);
    if (given.partial() || options.kind == FftKind::c2c)
      given = Layout(Slab(random.number(0, dimensions - 1)), result, ranks);
    if (input.layout.partial()) input.layout = Layout(Slab(0), shape, ranks);
    Operand output = on_heap(given, result_dtype(input.dtype, options.kind));
    input.space = output.space = MemorySpace::device;
    if (random.maybe(0.2)) input.residency = Residency::ordinary;
    if (random.maybe(0.2)) output.residency = Residency::ordinary;
    if (random.maybe(0.3)) options.scratch_bytes = random.number(1, 1000);
    const Topology topology = Topology::regular(ranks);
    expect_transforms(input, output, topology, options, false, false, that_stores());
    stored += stores_to_peers(plan_fft(input, output, topology, 0, options, that_stores())) ? 1 : 0;
    const bool may_be_in_place = options.kind == FftKind::c2c;
    if (may_be_in_place) expect_transforms(input, input, topology, options, true, false, that_stores());
    if (HasFailure()) return;
  }
  EXPECT_GT(stored, 60);
}

/// Boxes that are stacked as bricks cut neighbouring lines in other places.
TEST(FftPlan, BricksAreCopied) {
  const Shape shape{8, 8};
  const Box bricks({{{0, 0}, {4, 3}}, {{0, 3}, {4, 8}}, {{4, 0}, {8, 5}}, {{4, 5}, {8, 8}}});
  const Box tiles({{{0, 0}, {3, 4}}, {{3, 0}, {8, 4}}, {{0, 4}, {3, 8}}, {{3, 4}, {8, 8}}});
  for (const auto& [boxes, stored] : {std::pair(bricks, false), std::pair(tiles, true)}) {
    Operand input = on_heap(Layout(Slab(0), shape, 4)), output = on_heap(Layout(boxes, shape, 4));
    input.space = output.space = MemorySpace::device;
    FftOptions options;
    options.method = FftMethod::slab;
    expect_transforms(input, output, Topology::regular(4), options, false, false, that_stores());
    int last_stores = 0;
    for (const Work& work : plan_fft(input, output, Topology::regular(4), 1, options, that_stores()).works) {
      const auto* const into = std::get_if<TransformInto>(&work);
      if (into != nullptr && into->scaled) last_stores += static_cast<int>(into->to.size());
    }
    EXPECT_EQ(last_stores > 0, stored);
  }
}

/// Slabs, pencils, and what cannot be stored.
TEST(FftPlan, HowArraysChangeHandsIsChosenByPriceOrAsked) {
  const Topology topology = Topology::regular(4);
  const auto planned = [&](std::int64_t n, FftExchange exchange, const Machine& machine,
                           Dtype dtype = Dtype::c64, std::int64_t planes = 0) {
    const bool is_real = !is_complex(dtype);
    const std::int64_t first = planes > 0 ? planes : n;
    FftOptions options;
    options.kind = is_real ? FftKind::r2c : FftKind::c2c;
    Operand input = on_heap(Layout(Slab(0), {first, n, n}, 4), dtype),
            output = on_heap(Layout(Slab(1), {first, n, is_real ? n / 2 + 1 : n}, 4),
                             result_dtype(dtype, options.kind));
    input.space = output.space = MemorySpace::device;
    options.exchange = exchange;
    return plan_fft(input, output, topology, 1, options, machine);
  };
  const Machine h200 = Machine::find("node-4-h200");
  EXPECT_EQ(planned(256, FftExchange::automatic, h200).method, "slab+stores");
  EXPECT_EQ(planned(512, FftExchange::automatic, h200).method, "slab+stores");
  EXPECT_EQ(planned(1024, FftExchange::automatic, h200).method, "slab+stores");
  Machine slow_stores = h200;
  slow_stores.store_bandwidth = 1e11;
  EXPECT_EQ(planned(1024, FftExchange::automatic, slow_stores).method, "slab");
  EXPECT_EQ(planned(256, FftExchange::copies, h200).method, "slab");
  EXPECT_EQ(planned(1024, FftExchange::stores, h200).method, "slab+stores");
  EXPECT_EQ(planned(256, FftExchange::automatic, {}).method, "slab");  // nothing is known of its stores
  EXPECT_EQ(planned(250, FftExchange::automatic, h200).method, "slab");
  EXPECT_EQ(planned(250, FftExchange::stores, h200).method, "slab");
  EXPECT_NE(planned(256, FftExchange::automatic, h200).reason.find("; slab "), std::string::npos);
  // Half spectra have rows of 129 numbers; those of c64 are no whole words of 16 bytes.
  for (const std::int64_t planes : {256, 250}) {
    EXPECT_EQ(planned(256, FftExchange::automatic, h200, Dtype::f32, planes).method, "slab");
    EXPECT_EQ(planned(256, FftExchange::stores, h200, Dtype::f32, planes).method, "slab+stores");
  }
  EXPECT_EQ(planned(256, FftExchange::automatic, h200, Dtype::f64).method, "slab+stores");
  const Plan plan = planned(256, FftExchange::stores, h200);
  EXPECT_EQ(traffic(plan).node_bytes, std::int64_t{256} * 256 * 256 * 8 / 4 * 3 / 4);
  for (const Step& step : plan.steps) EXPECT_NE(step.kind, StepKind::copy);
}

/// Between stages rows of an odd number of elements begin where tiles of lines do.
TEST(FftPlan, StoredRowsHaveRoomBehindThem) {
  Operand input = on_heap(Layout(Slab(0), {64, 64, 64}, 2), Dtype::f32),
          output = on_heap(Layout(Slab(1), {64, 64, 33}, 2), Dtype::c64);
  input.space = output.space = MemorySpace::device;
  FftOptions options{.kind = FftKind::r2c, .exchange = FftExchange::stores};
  const Plan plan = plan_fft(input, output, Topology::regular(2), 0, options, that_stores());
  int with_room = 0;
  for (const Buffer& buffer : plan.buffers)
    with_room += buffer.operand && buffer.operand->layout.shape() == Shape{64, 64, 48} ? 1 : 0;
  EXPECT_GE(with_room, 1);
  for (const Work& work : plan.works) {
    const auto* const into = std::get_if<TransformInto>(&work);
    if (into == nullptr || into->axis != 1) continue;
    for (const Part& part : into->to) EXPECT_NE(part.place.buffer, 1);  // the result's rows have no room
  }
}

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

/// Rank 1's of two, of a cube of c64 from planes to transposed planes.
Plan plan_of_cube(std::int64_t n, FftExchange exchange) {
  Operand input = on_heap(Layout(Slab(0), {n, n, n}, 2), Dtype::c64),
          output = on_heap(Layout(Slab(1), {n, n, n}, 2), Dtype::c64);
  input.space = output.space = MemorySpace::device;
  FftOptions options;
  options.exchange = exchange;
  return plan_fft(input, output, Topology::regular(2), 1, options, Machine::find("node-8-gpu"));
}

/// The first group's while the other axes are transformed, which wait for no stores; each group's last
/// transform waits for stores of its own and those before.
TEST(FftPlan, StoresGoBesideTheTransformsOfOtherPartsAndGroups) {
  const Plan plan = plan_of_cube(512, FftExchange::stores);
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
  EXPECT_GT(extent(ends.front()), 512 / static_cast<std::int64_t>(groups));
  EXPECT_LE(extent(ends.front()), 256);
}

/// Nor does the next part's transform wait for what this rank keeps.
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
    EXPECT_EQ(found.after[i].empty(), step.work != static_cast<int>(plan.works.size()) - 1) << i;
    ++transforms;
  }
  EXPECT_EQ(kept, transforms - 1);  // the last one is that of the last axis
}

/// What is put into a peer's memory lies between the transforms of parts.
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
  EXPECT_EQ(std::ranges::count(kinds, StepKind::compute), 3);  // two parts, and the other axis
}

/// In groups that follow one another while the next part is transformed; a bound that is too small leaves
/// messages as they are.
TEST(FftPlan, BetweenDevicesOfNodesMessagesMayGoInGroups) {
  const auto planned = [](std::int64_t extent, int per_node, bool grouped, std::int64_t scratch_bytes = 0) {
    const Shape shape{extent, extent, extent};
    Operand input = on_heap(Layout(Slab(0), shape, 4), Dtype::c64),
            output = on_heap(Layout(Slab(1), shape, 4), Dtype::c64);
    input.space = output.space = MemorySpace::device;
    FftOptions options;
    options.scratch_bytes = scratch_bytes;
    return fourier::plan_transform(input, output, Topology::regular(4, per_node), 1, options, {}, false,
                                   grouped);
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

TEST(FftPlan, InsideANodeASlabMovesEachElementOnce) {
  const int ranks = 4;
  const Shape shape{32, 48, 40};
  const Topology topology = Topology::regular(ranks);
  const Operand input = on_heap(Layout(Slab(0), shape, ranks));
  FftOptions options;
  options.output = Output::cheapest;
  const Layout cheapest = result_layout(input, topology, options);
  EXPECT_TRUE(cheapest == Layout(Slab(1), shape, ranks)) << cheapest.to_string();
  const Plan transposed = plan_fft(input, on_heap(cheapest), topology, 1, options);
  EXPECT_EQ(transposed.method, "slab");
  const std::int64_t part = volume(shape) * 16 / ranks;
  EXPECT_EQ(traffic(transposed).node_bytes, part * 3 / 4);
  // Natural order: gathered and stored back where it came from, and the result holds it in between.
  const Plan natural = plan_fft(input, input, topology, 1);
  EXPECT_EQ(traffic(natural).node_bytes, 2 * part * 3 / 4);
  for (const Buffer& buffer : natural.buffers) EXPECT_NE(buffer.kind, BufferKind::shared) << buffer.name;
}

TEST(FftPlan, WholeLinesAreTransformedWhereTheyAre) {
  const Shape shape{6, 8, 10};
  const Operand input = on_heap(Layout(Slab(1), shape, 3));
  FftOptions options;
  options.axes = {2, 0};
  const Plan plan = plan_fft(input, input, Topology::regular(3), 2, options);
  EXPECT_EQ(plan.method, "local");
  EXPECT_EQ(traffic(plan).signals, 0);
  EXPECT_EQ(traffic(plan).node_bytes, 0);
}

TEST(FftPlan, AHalfSpectrumThatMayBeOverwrittenIsNotCopied) {
  Operand spectrum = on_heap(Layout(Replicated(), {6, 8, 5}, 1));
  Operand field = on_heap(Layout(Replicated(), {6, 8, 8}, 1), Dtype::f64);
  spectrum.space = field.space = MemorySpace::device;
  const auto plan = [&](bool overwrite) {
    return plan_fft(spectrum, field, Topology::regular(1), 0,
                    {.kind = FftKind::c2r, .overwrite_input = overwrite});
  };
  EXPECT_EQ(plan(false).buffers.size(), 3);
  EXPECT_EQ(plan(false).steps.size(), 2);
  EXPECT_EQ(plan(true).buffers.size(), 2);
  EXPECT_EQ(plan(true).steps.size(), 1);
  EXPECT_NE(plan(true).identity, plan(false).identity);
}

TEST(FftPlan, ShapesAndLayoutsOfResults) {
  const Topology topology = Topology::regular(4);
  const Operand real = on_heap(Layout(Slab(0), {8, 6, 9}, 4), Dtype::f32);
  FftOptions options;
  options.kind = FftKind::r2c;
  EXPECT_TRUE(result_layout(real, topology, options) == Layout(Slab(0), {8, 6, 5}, 4));
  EXPECT_EQ(result_dtype(Dtype::f32, FftKind::r2c), Dtype::c64);
  options.axes = {2, 0};
  EXPECT_EQ(result_layout(real, topology, options).shape(), Shape({5, 6, 9}));
  // Boxes that reach the old end reach the new one.
  const Box halves({{{0, 0}, {4, 4}}, {{0, 4}, {4, 9}}});
  const Operand half = on_heap(Layout(halves, {4, 9}, 2));
  FftOptions back;
  back.kind = FftKind::c2r;
  back.last_length = 17;
  const Layout whole = result_layout(half, Topology::regular(2), back);
  EXPECT_EQ(whole.shape(), Shape({4, 17}));
  EXPECT_EQ(whole.local_shape(1), Shape({4, 13}));
}

TEST(FftPlan, ALongLineGoesThroughFourSteps) {
  const Operand line = on_heap(Layout(Slab(0), {1 << 20}, 4));
  const Plan plan = plan_fft(line, line, Topology::regular(4), 1);
  EXPECT_EQ(plan.method, "four-step 1024x1024");
  const Operand prime = on_heap(Layout(Slab(0), {1009}, 4));
  EXPECT_EQ(plan_fft(prime, prime, Topology::regular(4), 1).method, "gathered on one rank");
}

TEST(FftPlan, ALongLineOfRealNumbersIsSpreadOverAllRanks) {
  for (const std::int64_t length : {std::int64_t{1} << 20, std::int64_t{1023 * 1025}}) {
    for (const int per_node : {0, 1, 2}) {
      const Topology topology = Topology::regular(4, per_node);
      const Operand line = on_heap(Layout(Slab(0), {length}, 4), Dtype::f64);
      const Operand half = on_heap(Layout(Slab(0), {length / 2 + 1}, 4));
      FftOptions options;
      options.kind = FftKind::r2c;
      FftOptions back;
      back.kind = FftKind::c2r;
      back.last_length = length;
      EXPECT_EQ(plan_fft(line, half, topology, 1, options).method.substr(0, 9), "four-step");
      EXPECT_EQ(plan_fft(half, line, topology, 1, back).method.substr(0, 9), "four-step");
      expect_consistent(planner_of(line, half, topology, options), 4);
      expect_consistent(planner_of(half, line, topology, back), 4);
      // Every rank transforms a fourth, and none holds the whole line.
      for (const Buffer& buffer : plan_fft(line, half, topology, 3, options).buffers) {
        if (!buffer.operand) continue;
        EXPECT_LE(buffer.bytes, length * 16 / 4 + 16 * 1025) << buffer.name;
      }
    }
  }
}

/// Messages that are on their way while something of the first stage is yet to be transformed.
int sent_before_first_stage_ends(const Plan& plan) {
  int sent = 0, result = 0;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::send) ++sent;
    if (step.kind != StepKind::compute) continue;
    const auto& transform = std::get<Transform>(plan.works[static_cast<std::size_t>(step.work)]);
    if (transform.axes[transform.axes.size() - 1] != 0) result = sent;
  }
  return result;
}

TEST(FftPlan, BetweenNodesAPartIsSentWhileTheNextIsTransformed) {
  const Shape shape{256, 256, 256};
  const Topology apart = Topology::regular(2, 1);
  const Operand input = on_heap(Layout(Slab(0), shape, 2));
  const Operand output = on_heap(Layout(Slab(1), shape, 2));
  const Planner planner = planner_of(input, output, apart);
  const Plan plan = planner(0);
  EXPECT_EQ(plan.method, "slab");
  EXPECT_GE(sent_before_first_stage_ends(plan), 7);
  EXPECT_EQ(sent_before_first_stage_ends(plan_fft(input, output, Topology::regular(2), 0)), 0);
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::send) {
      EXPECT_GE(step.bytes, 256 << 10);
    }
  }
  // A machine on which the exchange takes as long as the first stage: most of it is hidden.
  Machine machine;
  machine.copy_bandwidth = machine.node_copy_bandwidth = machine.strided_bandwidth = 1e13;
  machine.flops = 5 * 16.0 * static_cast<double>(volume(shape)) / 2;  // of axes 1 and 2: one second
  machine.network_bandwidth = 16.0 * static_cast<double>(volume(shape)) / 4;
  const double seconds = simulate(planner, 2, machine).seconds;
  EXPECT_GT(seconds, 1.5);  // the second stage takes half a second
  EXPECT_LT(seconds, 1.75);
  // The chooser knows.
  const Plan priced = plan_fft(input, output, apart, 0, {}, machine);
  const double predicted = std::stod(priced.reason.substr(priced.reason.find("slab ") + 5)) / 1e3;
  EXPECT_NEAR(predicted, seconds, 0.1);
}

TEST(FftPlan, ShortMessagesAreNotCutFurther) {
  const Shape shape{32, 32, 32};
  const Operand input = on_heap(Layout(Slab(0), shape, 4));
  const Operand output = on_heap(Layout(Slab(1), shape, 4));
  const Plan plan = plan_fft(input, output, Topology::regular(4, 1), 1);
  EXPECT_EQ(traffic(plan).messages, 3);
}

TEST(FftPlan, ThousandsOfRanksPlanAloneAndSayWhatWasCompared) {
  const int ranks = 4096;
  const Shape shape{8192, 8192, 8192};
  const Topology topology = Topology::regular(ranks, 32);
  const Operand input = on_heap(Layout(BlockNonCyclic(ProcessGrid({64, 64, 1})), shape, ranks));
  FftOptions options;
  options.output = Output::cheapest;
  const Layout cheapest = result_layout(input, topology, options);
  const Plan plan = plan_fft(input, on_heap(cheapest), topology, 77, options);
  EXPECT_EQ(plan.method, "pencil 64x64");
  EXPECT_NE(plan.reason.find("pencil 64x64"), std::string::npos) << plan.reason;
  EXPECT_NE(plan.reason.find("slab"), std::string::npos) << plan.reason;
  EXPECT_LT(plan.steps.size(), 40000U);
  // Where slabs would leave most ranks without work, pencils are chosen.
  const Shape flat{64, 2048, 2048};
  const Operand few = on_heap(Layout(Slab(0), flat, ranks));
  EXPECT_EQ(plan_fft(few, few, topology, 5).method.substr(0, 6), "pencil");
}

TEST(FftPlan, TheLastTransformCarriesTheScale) {
  const Operand input = on_heap(Layout(Slab(0), {8, 8, 8}, 2));
  const Plan plan = plan_fft(input, input, Topology::regular(2), 0);
  int scaled = 0;
  for (const Work& work : plan.works) {
    const auto* transform = std::get_if<Transform>(&work);
    ASSERT_NE(transform, nullptr);
    const bool last = transform->axes == Extents({0});
    EXPECT_EQ(transform->scaled, last);
    scaled += transform->scaled ? 1 : 0;
  }
  EXPECT_GT(scaled, 0);
}

}  // namespace
}  // namespace partita::testing
