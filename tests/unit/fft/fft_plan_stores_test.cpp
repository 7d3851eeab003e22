// Plans of transforms whose last passes store into the memory of other ranks.
#include "plan/channels.hpp"
#include "support/models/fft_plans.hpp"
#include "support/models/random_layouts.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

bool stores_to_peers(const Plan& plan) {
  return std::ranges::any_of(plan.works, [&](const Work& work) {
    const auto* const into = std::get_if<TransformInto>(&work);
    return into != nullptr &&
           std::ranges::any_of(into->to, [&](const Part& part) { return part.place.rank != plan.rank; });
  });
}

/// What a rank puts arrives in groups, each of which is reported to its owner.
bool goes_in_groups(const Plan& plan) {
  std::map<int, int> puts;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::signal &&
        static_cast<planning::Channel>(step.channel) == planning::Channel::written)
      ++puts[step.peer];
  }
  return std::ranges::any_of(puts, [](const auto& peer) { return peer.second > 1; });
}

/// Uneven slabs, ranks without lines, odd sizes along the other axes; several exchanges in a plan.
TEST(FftPlan, ResultsAreStoredWhereTheyBelongOrCopiedThereInGroups) {
  RandomLayouts random(23);
  int stored = 0, in_groups = 0;
  for (int i = 0; i < 250; ++i) {
    const int ranks = random.number(2, 8), dimensions = random.number(2, 3);
    Shape shape;
    for (int d = 0; d < dimensions; ++d)
      shape.push_back(random.maybe() ? 1 << random.number(1, 4) : random.number(1, 9));
    FftOptions options{.kind = random.maybe(0.6) ? FftKind::c2c
                               : random.maybe()  ? FftKind::r2c
                                                 : FftKind::c2r};
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
    expect_transforms(input, output, topology, options, false, false, that_copies_in_groups());
    const Plan first = plan_fft(input, output, topology, 0, options, that_copies_in_groups());
    in_groups += goes_in_groups(first) ? 1 : 0;
    for (int rank = 1; rank < ranks; ++rank) {
      const Plan other = plan_fft(input, output, topology, rank, options, that_copies_in_groups());
      ASSERT_EQ(other.buffers.size(), first.buffers.size());
      ASSERT_EQ(other.hash(), first.hash());
    }
    const bool may_be_in_place = options.kind == FftKind::c2c;
    for (const Machine& machine : {that_stores(), that_copies_in_groups()}) {
      if (may_be_in_place) expect_transforms(input, input, topology, options, true, false, machine);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(stored, 60);
  EXPECT_GT(in_groups, 60);
}

/// Boxes that are stacked as bricks cut neighbouring lines in other places.
TEST(FftPlan, BricksAreCopied) {
  const Shape shape{8, 8};
  const Box bricks({{{0, 0}, {4, 3}}, {{0, 3}, {4, 8}}, {{4, 0}, {8, 5}}, {{4, 5}, {8, 8}}});
  const Box tiles({{{0, 0}, {3, 4}}, {{3, 0}, {8, 4}}, {{0, 4}, {3, 8}}, {{3, 4}, {8, 8}}});
  for (const auto& [boxes, stored] : {std::pair(bricks, false), std::pair(tiles, true)}) {
    Operand input = on_heap(Layout(Slab(0), shape, 4)), output = on_heap(Layout(boxes, shape, 4));
    input.space = output.space = MemorySpace::device;
    FftOptions options{.method = FftMethod::slab};
    expect_transforms(input, output, Topology::regular(4), options, false, false, that_stores());
    int last_stores = 0;
    for (const Work& work : plan_fft(input, output, Topology::regular(4), 1, options, that_stores()).works) {
      const auto* const into = std::get_if<TransformInto>(&work);
      if (into != nullptr && into->scaled) last_stores += static_cast<int>(into->to.size());
    }
    EXPECT_EQ(last_stores > 0, stored);
  }
}

/// Rows and columns of planes at once: cubes, batches of planes, uneven slabs, there and back, in place.
TEST(FftPlan, PlanesAreTransformedAndStoredAtOnce) {
  for (const Shape& shape : {Shape{16, 8, 8}, Shape{19, 8, 8}, Shape{8, 8, 16, 16}, Shape{8, 4, 4}}) {
    const int rows = shape.size() - 1, columns = rows - 1;
    for (const int ranks : {1, 2, 3}) {
      for (const bool natural : {false, true}) {
        FftOptions options{.axes = {0, columns, rows}, .inverse = natural};
        Operand input = on_heap(Layout(Slab(0), shape, ranks)), output = input;
        output.layout = Layout(Slab(natural ? 0 : columns), shape, ranks);
        input.space = output.space = MemorySpace::device;
        const Topology topology = Topology::regular(ranks);
        expect_transforms(input, output, topology, options, false, false, that_stores());
        if (natural) expect_transforms(input, input, topology, options, true, false, that_stores());
        const Plan plan = plan_fft(input, output, topology, 0, options, that_stores());
        const bool at_once = std::ranges::any_of(plan.works, [](const Work& work) {
          const auto* const into = std::get_if<TransformInto>(&work);
          return into != nullptr && into->first;
        });
        EXPECT_EQ(at_once, ranks > 1 && input.layout.local_shape(0)[0] * (shape.size() > 3 ? 8 : 1) >= 8)
            << to_string(shape) << " " << ranks;
      }
    }
  }
}

/// Rows of reals, too, of 2 KiB at least.
TEST(FftPlan, PlanesOfRealsAreTransformedAndStoredAtOnce) {
  for (const std::int64_t n : {128, 256}) {
    for (const int ranks : {1, 2}) {
      FftOptions options{.kind = FftKind::r2c, .exchange = FftExchange::stores};
      Operand input = on_heap(Layout(Slab(0), {16, n, n}, ranks), Dtype::f64),
              output = on_heap(Layout(Slab(1), {16, n, n / 2 + 1}, ranks), Dtype::c128);
      input.space = output.space = MemorySpace::device;
      const Topology topology = Topology::regular(ranks);
      expect_transforms(input, output, topology, options, false, false, that_stores());
      int at_once = 0;
      for (const Work& work : plan_fft(input, output, topology, 0, options, that_stores()).works) {
        const auto* const into = std::get_if<TransformInto>(&work);
        if (into == nullptr || !into->first) continue;
        ++at_once;
        EXPECT_EQ(into->first->kind, TransformKind::real_to_complex);
        EXPECT_EQ(into->first->real_length, n);
      }
      EXPECT_EQ(at_once, n == 256 && ranks > 1 ? 1 : 0);
    }
  }
}

/// Also where the axis of the groups is cut, alike before and after; in uneven parts, too.
TEST(FftPlan, PencilsAreStoredInGroups) {
  for (const Shape& shape : {Shape{8, 16, 64}, Shape{16, 8, 57}, Shape{4, 8, 4}}) {
    Operand input = on_heap(Layout(BlockNonCyclic(ProcessGrid({2, 2, 1})), shape, 4)), output = input;
    output.layout = Layout(BlockNonCyclic(ProcessGrid({1, 2, 2})), shape, 4);
    input.space = output.space = MemorySpace::device;
    FftOptions options{.exchange = FftExchange::stores};
    options.grid = {2, 2};
    expect_transforms(input, output, Topology::regular(4), options, false, false, that_stores());
    const Plan plan = plan_fft(input, output, Topology::regular(4), 1, options, that_stores());
    EXPECT_EQ(goes_in_groups(plan), shape[2] > 4) << to_string(shape);
  }
}

/// If peers do not reach the result, they store next to it; not if scratch is bounded.
TEST(FftPlan, WhatPeersDoNotReachIsStoredBesideIt) {
  const Shape shape{16, 16, 16};
  Operand input = on_heap(Layout(Slab(0), shape, 4)), output = input;
  input.space = output.space = MemorySpace::device;
  output.residency = Residency::ordinary;
  for (const std::int64_t scratch : {0, 1 << 20}) {
    FftOptions options{.scratch_bytes = scratch};
    expect_transforms(input, output, Topology::regular(4), options, false, false, that_stores());
    const Plan plan = plan_fft(input, output, Topology::regular(4), 1, options, that_stores());
    const auto copies = std::ranges::count(plan.steps, StepKind::copy, &Step::kind);
    EXPECT_EQ(copies == 1, scratch == 0);
  }
}

/// Slabs, pencils, and what cannot be stored.
TEST(FftPlan, HowArraysChangeHandsIsChosenByPriceOrAsked) {
  const auto planned = [&](std::int64_t n, FftExchange exchange, const Machine& machine,
                           Dtype dtype = Dtype::c64, std::int64_t planes = 0, int ranks = 4) {
    const bool is_real = !is_complex(dtype);
    const std::int64_t first = planes > 0 ? planes : n;
    FftOptions options{.kind = is_real ? FftKind::r2c : FftKind::c2c};
    Operand input = on_heap(Layout(Slab(0), {first, n, n}, ranks), dtype),
            output = on_heap(Layout(Slab(1), {first, n, is_real ? n / 2 + 1 : n}, ranks),
                             result_dtype(dtype, options.kind));
    input.space = output.space = MemorySpace::device;
    options.exchange = exchange;
    return plan_fft(input, output, Topology::regular(ranks), 1, options, machine);
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
  EXPECT_TRUE(contains(planned(256, FftExchange::automatic, h200).reason, "; slab "));
  // Half spectra have rows of 129 numbers; those of c64 are no whole words of 16 bytes, which two devices
  // copy.
  for (const std::int64_t planes : {256, 250}) {
    EXPECT_EQ(planned(256, FftExchange::automatic, h200, Dtype::f32, planes, 2).method, "slab");
    EXPECT_EQ(planned(256, FftExchange::stores, h200, Dtype::f32, planes, 2).method, "slab+stores");
    EXPECT_EQ(planned(256, FftExchange::automatic, h200, Dtype::f32, planes).method, "slab+stores");
  }
  EXPECT_EQ(planned(256, FftExchange::automatic, h200, Dtype::f64).method, "slab+stores");
  const Plan plan = planned(256, FftExchange::stores, h200);
  EXPECT_EQ(traffic(plan).node_bytes, std::int64_t{256} * 256 * 256 * 8 / 4 * 3 / 4);
  for (const Step& step : plan.steps) EXPECT_NE(step.kind, StepKind::copy);
}

/// What is cheapest cuts no rows: copies of pieces of them take longer.
TEST(FftPlan, TheCheapestResultOfCopiesHasWholeRows) {
  for (const std::int64_t n : {250, 500, 509, 720}) {
    Operand input = on_heap(Layout(Slab(0), {n, n, n}, 4), Dtype::c64);
    input.space = MemorySpace::device;
    const Layout result = result_layout(input, Topology::regular(4), {.output = Output::cheapest},
                                        Machine::find("node-4-h200"));
    EXPECT_EQ(result.local_shape(1)[2], n) << result.to_string();
  }
}

/// Between stages rows of an odd number of elements begin where tiles of lines do.
TEST(FftPlan, StoredRowsHaveRoomBehindThem) {
  Operand input = on_heap(Layout(Slab(0), {64, 64, 64}, 2), Dtype::f32),
          output = on_heap(Layout(Slab(1), {64, 64, 33}, 2), Dtype::c64);
  input.space = output.space = MemorySpace::device;
  const Plan plan = plan_fft(input, output, Topology::regular(2), 0,
                             {.kind = FftKind::r2c, .exchange = FftExchange::stores}, that_stores());
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

}  // namespace
}  // namespace partita::testing
