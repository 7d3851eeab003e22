// Transforms of random numbers against the definition.
#include <partita/fft.hpp>

#include "ranks/any_memory.hpp"
#include "ranks/fft_model.hpp"
#include "stress/turn.hpp"

namespace partita::testing {
namespace {

/// In any distribution in which every element has one value.
Layout whole_layout(RandomLayouts& random, const Shape& shape, int ranks) {
  for (;;) {
    Layout layout = random.layout(shape, ranks);
    if (!layout.partial()) return layout;
  }
}

FftOptions random_options(Turn& turn, int dimensions) {
  FftOptions options;
  options.kind =
      turn.pick(std::array{FftKind::c2c, FftKind::c2c, FftKind::r2c, FftKind::dct2, FftKind::dst3});
  options.norm = static_cast<Norm>(turn.random.number(0, 2));
  options.inverse = options.kind == FftKind::c2c && turn.random.maybe();
  options.axes = turn.random.permutation(dimensions);
  options.axes.resize(static_cast<std::size_t>(turn.random.number(1, dimensions)));
  if (turn.random.maybe()) options.scratch_bytes = 512 * turn.context.size() + turn.random.number(0, 4096);
  return options;
}

}  // namespace

After transforms(Turn& turn) {
  RandomLayouts& random = turn.random;
  const int ranks = turn.context.size();
  const int dimensions = random.number(1, 3);
  Shape shape;
  for (int d = 0; d < dimensions; ++d) shape.push_back(random.number(2, dimensions == 3 ? 8 : 20));
  FftOptions options = random_options(turn, dimensions);
  const bool single = random.maybe();
  const bool complex = options.kind == FftKind::c2c;
  const Dtype dtype = complex ? (single ? Dtype::c64 : Dtype::c128) : (single ? Dtype::f32 : Dtype::f64);
  Shape after = shape;
  if (options.kind == FftKind::r2c) after[options.axes.back()] = shape[options.axes.back()] / 2 + 1;
  const Layout from = whole_layout(random, shape, ranks);
  const Layout to = whole_layout(random, after, ranks);
  const int rounds = random.number(1, 3);
  turn.call = fmt::format("fft {} kind {} norm {}{} axes {} of {}: {} -> {}", name(dtype),
                          static_cast<int>(options.kind), static_cast<int>(options.norm),
                          options.inverse ? " inverse" : "", options.axes.size(), dimensions,
                          from.to_string(), to.to_string());
  Wrapped input = make_array(turn.context, from, dtype, random.number(0, 4), MemorySpace::host);
  Wrapped output =
      make_array(turn.context, to, result_dtype(dtype, options.kind), random.number(0, 4), MemorySpace::host);
  options.output = Output::given;
  FFT plan(turn.context, input.array.operand(), output.array.operand(), options);
  for (int round = 0; round < rounds; ++round) {
    const auto seed = static_cast<std::uint64_t>(random.number(0, 1000));
    const auto whole = random_whole(turn.context, shape, dtype, seed);
    fill_random(input.array, seed);
    fill_random(output.array, seed + 1);
    turn.delay();
    plan.execute(input.array, output.array);
    fill_random(input.array, seed + 2);
    turn.delay();
    const double error = relative_error(output.array, transformed(whole, options));
    turn.expect(error < tolerance(dtype, shape), fmt::format("the error of round {} is {}", round, error));
  }
  return After::goes_on;
}

}  // namespace partita::testing
