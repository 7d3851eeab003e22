// Plans of transforms, looked at without running them.
#include "support/models/fft_plans.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

TEST(FftPlan, InsideANodeASlabMovesEachElementOnce) {
  const int ranks = 4;
  const Shape shape{32, 48, 40};
  const Topology topology = Topology::regular(ranks);
  const Operand input = on_heap(Layout(Slab(0), shape, ranks));
  FftOptions options{.output = Output::cheapest};
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
  const Plan plan = plan_fft(input, input, Topology::regular(3), 2, {.axes = {2, 0}});
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

/// Between the passes half spectra are in the memory of the result, but for their last elements.
TEST(FftPlan, LargePlanesComeBackToRealNumbersWithoutAnArrayOfScratch) {
  const Operand spectrum = on_heap(Layout(Slab(0), {2, 70, 60, 33}, 2));
  const FftOptions options{.kind = FftKind::c2r, .axes = {1, 2, 3}, .last_length = 64};
  const auto scratch_of = [&](std::int64_t length, bool dense) {
    Operand field = on_heap(Layout(Slab(0), {2, 70, 60, length}, 2), Dtype::f64);
    field.dense = dense;
    FftOptions with_length = options;
    with_length.last_length = length;
    std::int64_t bytes = 0;
    const Plan plan = plan_fft(spectrum, field, Topology::regular(2), 1, with_length);
    for (const Buffer& buffer : plan.buffers) bytes += buffer.bytes;
    return bytes;
  };
  constexpr std::int64_t whole = 70 * 60 * 33 * 16;
  EXPECT_LT(scratch_of(64, true), whole / 4);
  EXPECT_GE(scratch_of(65, true), whole);   // lines of odd length hold no whole complex numbers
  EXPECT_GE(scratch_of(64, false), whole);  // and these may be anywhere
  const Operand small = on_heap(Layout(Slab(0), {1, 12, 33000}, 1));
  const Operand lines = on_heap(Layout(Slab(0), {1, 12, 65998}, 1), Dtype::f64);
  FftOptions long_lines{.kind = FftKind::c2r, .axes = {1, 2}, .last_length = 65998};
  expect_consistent(planner_of(small, lines, Topology::regular(1), long_lines), 1);
}

TEST(FftPlan, ShapesAndLayoutsOfResults) {
  const Topology topology = Topology::regular(4);
  const Operand real = on_heap(Layout(Slab(0), {8, 6, 9}, 4), Dtype::f32);
  FftOptions options{.kind = FftKind::r2c};
  EXPECT_TRUE(result_layout(real, topology, options) == Layout(Slab(0), {8, 6, 5}, 4));
  EXPECT_EQ(result_dtype(Dtype::f32, FftKind::r2c), Dtype::c64);
  options.axes = {2, 0};
  EXPECT_EQ(result_layout(real, topology, options).shape(), Shape({5, 6, 9}));
  // Boxes that reach the old end reach the new one.
  const Box halves({{{0, 0}, {4, 4}}, {{0, 4}, {4, 9}}});
  const Operand half = on_heap(Layout(halves, {4, 9}, 2));
  const Layout whole = result_layout(half, Topology::regular(2), {.kind = FftKind::c2r, .last_length = 17});
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
      FftOptions options{.kind = FftKind::r2c};
      FftOptions back{.kind = FftKind::c2r, .last_length = length};
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
  FftOptions options{.output = Output::cheapest};
  const Layout cheapest = result_layout(input, topology, options);
  const Plan plan = plan_fft(input, on_heap(cheapest), topology, 77, options);
  EXPECT_EQ(plan.method, "pencil 64x64");
  EXPECT_TRUE(contains(plan.reason, "pencil 64x64")) << plan.reason;
  EXPECT_TRUE(contains(plan.reason, "slab")) << plan.reason;
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

// Nothing is copied, and scratch is for one half spectrum and a plane of it.
TEST(FftPlan, AHalfSpectrumThatStaysIsTransformedOnTheWayIntoScratch) {
  const Shape half{64, 70, 33}, whole{64, 70, 64};
  const Operand input = on_heap(Layout(Slab(0), half, 1));
  const Operand output = on_heap(Layout(Slab(0), whole, 1), Dtype::f64);
  const Plan plan =
      plan_fft(input, output, Topology::regular(1), 0, {.kind = FftKind::c2r, .last_length = 64});
  EXPECT_EQ(std::ranges::count(plan.steps, StepKind::copy, &Step::kind), 0);
  std::int64_t scratch = 0;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.kind != BufferKind::operand) scratch += buffer.bytes;
  }
  const std::int64_t plane = half[1] * half[2] * size_of(Dtype::c128);
  EXPECT_LE(scratch, half[0] * plane + std::max<std::int64_t>(2 * plane, std::int64_t{512} << 10));
  expect_transforms(on_heap(Layout(Slab(0), {6, 5, 4}, 1)),
                    on_heap(Layout(Slab(0), {6, 5, 7}, 1), Dtype::f64), Topology::regular(1),
                    {.kind = FftKind::c2r, .last_length = 7});
}

}  // namespace
}  // namespace partita::testing
