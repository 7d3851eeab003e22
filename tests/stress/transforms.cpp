// Transforms of random numbers against the definition.
#include <fmt/ranges.h>

#include <array>
#include <partita/fft.hpp>

#include "stress/turn.hpp"
#include "support/models/any_memory.hpp"
#include "support/models/fft_model.hpp"

namespace partita::testing {
namespace {

FftOptions random_options(Turn& turn, int dimensions) {
  FftOptions options;
  options.kind =
      turn.pick(std::array{FftKind::c2c, FftKind::c2c, FftKind::r2c, FftKind::dct2, FftKind::dst3});
  options.norm = static_cast<Norm>(turn.random.number(0, 2));
  options.inverse = options.kind == FftKind::c2c && turn.random.maybe();
  options.axes = turn.random.permutation(dimensions);
  options.axes.resize(static_cast<std::size_t>(turn.random.number(1, dimensions)));
  options.exchange = turn.pick(std::array{FftExchange::automatic, FftExchange::copies, FftExchange::stores});
  options.overwrite_input = turn.random.maybe();
  if (turn.random.maybe()) options.scratch_bytes = 512 * turn.context.size() + turn.random.number(0, 4096);
  return options;
}

struct Transform {
  Turn& turn;
  Layout from, to;
  Dtype dtype = Dtype::c128;
  int input_kind = 0, output_kind = 0;  ///< as `make_array` counts them
  MemorySpace space = MemorySpace::host;
  FftOptions options;

  Wrapped another_input() const { return make_array(turn.context, from, dtype, input_kind, space); }
  Wrapped another_output() const {
    return make_array(turn.context, to, result_dtype(dtype, options.kind), output_kind, space);
  }
  void expect_right(const Array& result, std::uint64_t seed) const {
    const NumberArray whole = random_whole(turn.context, from.shape(), dtype, seed);
    const double error = relative_error(result, transformed(whole, options));
    turn.expect(error < tolerance(dtype, from.shape()),
                fmt::format("the error of the values of seed {} is {}", seed, error));
  }
};

/// Half of those that devices may store are of boxes and lengths that they store.
Transform random_transform(Turn& turn) {
  RandomLayouts& random = turn.random;
  const int ranks = turn.context.size();
  const int dimensions = random.number(1, 3);
  const bool on_device = turn.on_device() && random.maybe(0.7);
  const bool stored = on_device && dimensions > 1 && random.maybe();
  Shape shape;
  for (int d = 0; d < dimensions; ++d) {
    shape.push_back(stored ? turn.pick(std::array{2, 4, 8, 16}) : random.number(2, dimensions == 3 ? 8 : 20));
  }
  FftOptions options = random_options(turn, dimensions);
  if (stored) {
    options.kind = random.maybe(0.7) ? FftKind::c2c : FftKind::r2c;
    if (random.maybe()) options.exchange = FftExchange::stores;
  }
  const bool single = random.maybe();
  const bool complex = options.kind == FftKind::c2c;
  options.inverse = options.inverse && complex;
  Shape after = shape;
  if (options.kind == FftKind::r2c) after[options.axes.back()] = shape[options.axes.back()] / 2 + 1;
  const auto layout = [&](const Shape& extents) {
    if (!stored) return whole_layout(random, extents, ranks);
    return Layout(Slab(random.number(0, dimensions - 1)), extents, ranks);
  };
  const auto memory = [&] { return on_device ? turn.pick(std::array{0, 1, 2, 4}) : random.number(0, 4); };
  const Layout from = layout(shape), to = layout(after);
  const Dtype dtype = complex ? (single ? Dtype::c64 : Dtype::c128) : (single ? Dtype::f32 : Dtype::f64);
  const int input_kind = memory(), output_kind = stored ? 0 : memory();
  const MemorySpace space = on_device ? MemorySpace::device : MemorySpace::host;
  options.output = Output::given;
  return {turn, from, to, dtype, input_kind, output_kind, space, options};
}

}  // namespace

After transforms(Turn& turn) {
  const Transform what = random_transform(turn);
  const FftOptions& options = what.options;
  const int rounds = turn.random.number(1, 3);
  const bool in_stream = what.space == MemorySpace::device && turn.random.maybe(0.7);
  turn.call = fmt::format(
      "fft {} kind {} norm {}{} axes {} exchange {}: {} -> {}, kinds {},{}{}{}", name(what.dtype),
      static_cast<int>(options.kind), static_cast<int>(options.norm), options.inverse ? " inverse" : "",
      fmt::join(options.axes, ","), static_cast<int>(options.exchange), what.from.to_string(),
      what.to.to_string(), what.input_kind, what.output_kind,
      what.space == MemorySpace::device ? " on the device" : "", in_stream ? ", in the stream" : "");
  const auto seed = static_cast<std::uint64_t>(turn.random.number(0, 1000));
  const Wrapped input = what.another_input(), output = what.another_output();
  FFT plan(turn.context, input.array.operand(), output.array.operand(), options);
  turn.call += ", " + plan.plan().method;
  if (in_stream) {
    run_random_rounds_in_stream(what, rounds, seed, [&](const Array& source, Array& destination) {
      plan.execute(source, destination, 1, turn.stream);
    });
  } else {
    run_random_rounds(what, rounds, seed,
                      [&](const Array& source, Array& destination) { plan.execute(source, destination); });
  }
  return After::goes_on;
}

}  // namespace partita::testing
