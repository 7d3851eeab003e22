// What plans of transforms compute, whatever the distributions are.
#include "support/models/fft_plans.hpp"
#include "support/models/random_layouts.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

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
    FftOptions options{.axes = random.permutation(dimensions)};
    options.axes.resize(static_cast<std::size_t>(random.number(1, dimensions)));
    const Topology topology = Topology::regular(ranks, random.number(0, ranks));
    SCOPED_TRACE(from.to_string() + " -> " + to.to_string());
    expect_consistent(planner_of(from, to, topology, options), ranks);
  }
}

// Empty parts among them: they are exchanged in no parts at all.
TEST(FftPlan, OnDevicesAllRanksAreInOnePlan) {
  RandomLayouts random(11);
  for (int i = 0; i < 200; ++i) {
    const int ranks = random.number(2, 5);
    const Shape half{random.number(2, 9), random.number(2, 9), random.number(2, 9)};
    FftOptions options{.kind = FftKind::c2r};
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

TEST(FftPlan, TransformsWhateverTheDistributionsAre) {
  RandomLayouts random(11), devices(12);
  for (int i = 0; i < 300; ++i) {
    const int ranks = random.number(1, 8), dimensions = random.number(1, 3);
    Shape shape;
    for (int d = 0; d < dimensions; ++d) shape.push_back(random.number(2, 7));
    FftOptions options{.kind = static_cast<FftKind>(random.maybe() ? 0 : random.number(1, 10))};
    options.inverse = options.kind == FftKind::c2c && random.maybe();
    if (options.kind >= FftKind::dct1) options.orthogonalize = devices.maybe();
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
        FftOptions options{
            .kind = kind, .last_length = kind == FftKind::c2r ? length : 0, .method = FftMethod::four_step};
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

}  // namespace
}  // namespace partita::testing
