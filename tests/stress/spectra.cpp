// Fields through their spectra, at once and in streams, against sums over all modes.
#include <array>
#include <partita/spectral.hpp>

#include "stress/turn.hpp"
#include "support/models/any_memory.hpp"
#include "support/models/fft_model.hpp"

namespace partita::testing {
namespace {

enum class Helper { apply, poisson, gradient, convolve };

struct Spectral {
  Turn& turn;
  Helper helper = Helper::apply;
  Layout from, to;
  Dtype dtype = Dtype::f64;
  int field_kind = 0, result_kind = 0;  ///< as `make_array` counts them
  MemorySpace space = MemorySpace::host;
  SpectralOptions options;
  Array other;  ///< what is convolved with
  std::uint64_t other_seed = 0;
  bool in_stream = false;

  const Shape& shape() const { return from.shape(); }
  Wrapped another_input() const { return make_array(turn.context, from, dtype, field_kind, space); }
  Wrapped another_output() const { return make_array(turn.context, to, dtype, result_kind, space); }
  NumberArray whole(std::uint64_t seed) const { return random_whole(turn.context, shape(), dtype, seed); }
  void operator()(const Array& field, Array& result) const;
  NumberArray expected(std::uint64_t seed) const;
  void expect_right(const Array& result, std::uint64_t seed) const {
    const double error = relative_error(result, expected(seed));
    turn.expect(error < 16 * tolerance(dtype, shape()),
                fmt::format("the error of the values of seed {} is {}", seed, error));
  }
};

long double damping(long double squared) {
  return std::exp(-0.1L * squared);
}

void Spectral::operator()(const Array& field, Array& result) const {
  const Multiplier damp = [](const WaveVector& wave) {
    return static_cast<double>(damping(static_cast<long double>(wave.squared())));
  };
  const std::span<Array> results(&result, 1);
  SpectralOptions how = options;
  if (in_stream) how.stream = turn.stream;
  switch (helper) {
    case Helper::apply:
      return spectral_apply_into(field, result, damp, how);
    case Helper::poisson:
      return solve_poisson_into(field, result, how);
    case Helper::gradient:
      return gradient_into(field, results, how);
    case Helper::convolve:
      return convolve_into(field, other, result, how);
  }
}

/// Of each mode of a whole spectrum, by its place in it.
Number factor(const Spectral& what, std::int64_t place, const NumberArray& other) {
  if (what.helper == Helper::convolve) return other.values[static_cast<std::size_t>(place)];
  Number result = 0;
  long double squared = 0;
  for (int d = what.shape().size() - 1; d >= 0; --d) {
    const std::int64_t extent = what.shape()[d], index = place % extent;
    place /= extent;
    const auto& axes = what.options.axes;
    const bool taken = std::find(axes.begin(), axes.end(), d) != axes.end();
    const auto wave = taken ? static_cast<long double>(2 * index < extent ? index : index - extent) : 0;
    squared += wave * wave;
    if (taken && what.helper == Helper::gradient && 2 * index != extent) result = Number(0, wave);
  }
  if (what.helper == Helper::gradient) return result;  // there is one axis
  if (what.helper == Helper::apply) return damping(squared);
  return squared > 0 ? -1 / squared : 0;
}

NumberArray Spectral::expected(std::uint64_t seed) const {
  FftOptions there{.axes = options.axes};
  const NumberArray second =
      helper == Helper::convolve ? transformed(whole(other_seed), there) : NumberArray{};
  NumberArray spectrum = transformed(whole(seed), there);
  for (std::size_t i = 0; i < spectrum.values.size(); ++i)
    spectrum.values[i] *= factor(*this, static_cast<std::int64_t>(i), second);
  there.inverse = true;
  return transformed(spectrum, there);
}

Layout whole_distribution(RandomLayouts& random, const Shape& shape, int ranks) {
  for (;;) {
    Layout layout = random.layout(shape, ranks);
    if (!layout.partial() && layout.members().empty()) return layout;
  }
}

Spectral random_spectral(Turn& turn) {
  RandomLayouts& random = turn.random;
  const int dimensions = random.number(1, 3), ranks = turn.context.size();
  Shape shape;
  const bool even = random.maybe();
  for (int d = 0; d < dimensions; ++d)
    shape.push_back(even ? turn.pick(std::array{2, 4, 8}) : random.number(1, dimensions == 3 ? 7 : 12));
  const auto helper = static_cast<Helper>(random.number(0, 3));
  SpectralOptions options{.axes = random.permutation(dimensions)};
  options.axes.resize(helper == Helper::gradient ? 1
                                                 : static_cast<std::size_t>(random.number(1, dimensions)));
  const bool on_device = turn.on_device() && random.maybe(0.8);
  const auto memory = [&] { return on_device ? turn.pick(std::array{0, 1, 2, 4}) : random.number(0, 4); };
  const Layout from = whole_distribution(random, shape, ranks), to = whole_distribution(random, shape, ranks);
  const Dtype dtype = turn.pick(std::array{Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128});
  const int field_kind = memory(), result_kind = memory();
  const MemorySpace space = on_device ? MemorySpace::device : MemorySpace::host;
  const bool in_stream = on_device && random.maybe(0.7);
  return {turn, helper, from, to, dtype, field_kind, result_kind, space, options, {}, 0, in_stream};
}

}  // namespace

After spectra(Turn& turn) {
  Spectral what = random_spectral(turn);
  const int rounds = turn.random.number(1, 3);
  const std::array names{"spectral_apply", "solve_poisson", "gradient", "convolve"};
  turn.call = fmt::format(
      "{} {} axes {}: {} -> {}, kinds {},{}{}{}", names.at(static_cast<std::size_t>(what.helper)),
      name(what.dtype), what.options.axes.size(), what.from.to_string(), what.to.to_string(), what.field_kind,
      what.result_kind, what.space == MemorySpace::device ? " on the device" : "",
      what.in_stream ? ", in the stream" : "");
  const auto seed = static_cast<std::uint64_t>(turn.random.number(0, 1000));
  Wrapped other = what.another_input();
  what.other_seed = seed + 77;
  fill_random(other.array, what.other_seed);
  what.other = other.array;
  what.in_stream ? run_random_rounds_in_stream(what, rounds, seed, what)
                 : run_random_rounds(what, rounds, seed, what);
  return After::goes_on;
}

}  // namespace partita::testing
