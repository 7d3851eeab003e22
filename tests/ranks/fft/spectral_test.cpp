// Spectral helpers against analytic derivatives, known solutions, and sums over all elements.
#include "array/array_state.hpp"
#include "support/models/naive_transform.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// The distributions of a three-dimensional array that the tests go through.
std::vector<Distribution> distributions(int ranks) {
  return {Slab(0), Slab(2), BlockCyclic(ProcessGrid({1, ranks, 1}), {2, 2, 3}),
          BlockNonCyclic(ProcessGrid({ranks, 1, 1})), Replicated{}};
}

template <class T, class Function>
Array make(const Context& context, const Shape& shape, const Distribution& distribution,
           Function&& function) {
  Array array = empty(context, shape, distribution, dtype_of<T>());
  fill(array, [&](const Index& at) { return T(function(at)); });
  return array;
}

/// A whole array's elements, row-major, on every rank.
template <class T>
std::vector<T> whole(const Array& array) {
  const Array all = arrays::on_host(redistribute(array, Replicated{}));
  const T* const first = all.data<T>();
  return {first, first + all.local_size()};
}

template <class T>
void expect_near(const Array& result, const Array& expected, double tolerance) {
  const std::vector<T> a = whole<T>(result), b = whole<T>(expected);
  ASSERT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, static_cast<double>(std::abs(a[i] - b[i])));
  EXPECT_LE(most, tolerance);
}

const Shape shape{12, 9, 10};
const std::vector<double> periods{2.0, 3.5, 1.25};

double coordinate(const Index& at, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  return periods[a] * static_cast<double>(at[axis]) / static_cast<double>(shape[axis]);
}

double wave_number(int axis, int mode) {
  return 2 * std::numbers::pi * mode / periods[static_cast<std::size_t>(axis)];
}

/// sin(k0 x) cos(k1 y + 1) (2 + sin(k2 z)) and its derivative along an axis; no axis: itself.
double function(const Index& at, int derivative) {
  const double k0 = wave_number(0, 3), k1 = wave_number(1, -2), k2 = wave_number(2, 4);
  const double x = k0 * coordinate(at, 0), y = k1 * coordinate(at, 1) + 1, z = k2 * coordinate(at, 2);
  const double along_x = derivative == 0 ? k0 * std::cos(x) : std::sin(x);
  const double along_y = derivative == 1 ? -k1 * std::sin(y) : std::cos(y);
  const double along_z = derivative == 2 ? k2 * std::cos(z) : 2 + std::sin(z);
  return along_x * along_y * along_z;
}

RANK_TEST(Spectral, DerivativesAreThoseOfTheFunction) {
  for (const Distribution& distribution : distributions(context.size())) {
    SCOPED_TRACE(distribution.to_string());
    const Array field =
        make<double>(context, shape, distribution, [](const Index& at) { return function(at, -1); });
    const std::vector<Array> derivatives = gradient(field, {.axes = {}, .lengths = periods});
    ASSERT_EQ(derivatives.size(), 3U);
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_TRUE(derivatives[static_cast<std::size_t>(axis)].layout().equivalent(field.layout()));
      const Array expected =
          make<double>(context, shape, Slab(1), [&](const Index& at) { return function(at, axis); });
      expect_near<double>(derivatives[static_cast<std::size_t>(axis)], expected, 1e-12);
    }
  }
}

RANK_TEST(Spectral, DerivativesOfComplexFieldsAlongSomeAxes) {
  using Number = std::complex<double>;
  const Array field = make<Number>(context, shape, Slab(1), [](const Index& at) {
    return Number(function(at, -1), 2 * function(at, -1));
  });
  const std::vector<Array> derivatives =
      gradient(field, {.axes = {2, 0}, .lengths = {periods[2], periods[0]}});
  ASSERT_EQ(derivatives.size(), 2U);
  for (const int axis : {2, 0}) {
    const Array expected = make<Number>(context, shape, Slab(0), [&](const Index& at) {
      return Number(function(at, axis), 2 * function(at, axis));
    });
    expect_near<Number>(derivatives[axis == 2 ? 0 : 1], expected, 1e-12);
  }
}

RANK_TEST(Spectral, TheNyquistModeHasNoDerivative) {
  const Array field =
      make<double>(context, {8, 4}, Slab(0), [](const Index& at) { return at[0] % 2 == 0 ? 1.0 : -1.0; });
  const std::vector<Array> derivatives = gradient(field);
  const Array zero = make<double>(context, {8, 4}, Slab(0), [](const Index&) { return 0.0; });
  expect_near<double>(derivatives[0], zero, 1e-14);
  expect_near<double>(derivatives[1], zero, 1e-14);
}

RANK_TEST(Spectral, PoissonHasTheKnownSolution) {
  // sin(k0 x) cos(k1 y) is an eigenfunction of the Laplacian; a mean of the right side is ignored.
  const double k0 = wave_number(0, 2), k1 = wave_number(1, 3);
  const auto solution = [&](const Index& at) {
    return std::sin(k0 * coordinate(at, 0)) * std::cos(k1 * coordinate(at, 1));
  };
  for (const Distribution& distribution : distributions(context.size())) {
    SCOPED_TRACE(distribution.to_string());
    const Array right_side = make<double>(context, shape, distribution, [&](const Index& at) {
      return -(k0 * k0 + k1 * k1) * solution(at) + 5.0;
    });
    const Array result = solve_poisson(right_side, {.axes = {}, .lengths = periods});
    expect_near<double>(result, make<double>(context, shape, Slab(2), solution), 1e-14);
  }
}

template <class T>
void expect_convolution(const Context& context, double tolerance) {
  const Shape small{5, 4, 3};
  Array a = empty(context, small, Slab(0), dtype_of<T>());
  Array b = empty(context, small, Slab(1), dtype_of<T>());
  fill_random(a, 1);
  fill_random(b, 2);
  const std::vector<T> x = whole<T>(a), y = whole<T>(b);
  const Array expected = make<T>(context, small, Slab(0), [&](const Index& at) {
    T sum{};
    for (std::int64_t i = 0; i < small[0]; ++i) {
      for (std::int64_t k = 0; k < small[2]; ++k) {
        const std::int64_t from = (i * small[1] + at[1]) * small[2] + k;
        const std::int64_t other = ((at[0] - i + small[0]) % small[0] * small[1] + at[1]) * small[2] +
                                   (at[2] - k + small[2]) % small[2];
        sum += x[static_cast<std::size_t>(from)] * y[static_cast<std::size_t>(other)];
      }
    }
    return sum;
  });
  expect_near<T>(convolve(a, b, {.axes = {0, 2}}), expected, tolerance);
}

RANK_TEST(Spectral, ConvolutionIsTheSum) {
  expect_convolution<double>(context, 1e-14);
  expect_convolution<float>(context, 1e-5);
  expect_convolution<std::complex<double>>(context, 1e-14);
  expect_convolution<std::complex<float>>(context, 1e-5);
}

RANK_TEST(Spectral, AMultiplierSeesEveryModeOnce) {
  // The identity, by way of a transform of the modes that the multiplier is asked for.
  Array field = empty(context, {6, 5}, Slab(0), Dtype::c128);
  fill_random(field, 3);
  const Array same = spectral_apply(field, [](const WaveVector& wave) {
    EXPECT_EQ(wave.dimensions, 2);
    EXPECT_EQ(wave.at_nyquist[0], wave[0] == -3);
    EXPECT_FALSE(wave.at_nyquist[1]);
    EXPECT_LE(std::abs(wave[1]), 2.0);
    return std::complex<double>(1, 0);
  });
  expect_near<std::complex<double>>(same, field, 1e-15);
}

// The multiplier is the program's.
RANK_TEST(Spectral, AMultiplierThatThrowsOnOneRankThrowsOnAll) {
  const Array field = zeros(context, {6, 5}, Slab(0), Dtype::c128);
  EXPECT_ERROR(ArgumentError,
               spectral_apply(field,
                              [&](const WaveVector&) -> std::complex<double> {
                                if (context.rank() == 0) throw ArgumentError("no such wave");
                                return {1, 0};
                              }),
               "no such wave");
  EXPECT_FALSE(context.failed());
  context.barrier();
}

// Of which the last ranks have nothing: they keep the same plans all the same.
RANK_TEST(Spectral, FieldsThatNotAllRanksHaveAPartOf) {
  const Array field = zeros(context, {3, 4}, Slab(0), Dtype::f64);
  (void)solve_poisson(field);
  (void)gradient(field);
}

/// The field of a spectrum on m points, straight from the sum over signed frequencies along one axis.
std::vector<Number> interpolated(const std::vector<Number>& line, std::int64_t m) {
  const auto n = static_cast<std::int64_t>(line.size());
  const auto spectrum = transform_line(TransformKind::complex_forward, n, line);
  std::vector<Number> result(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t k = 0; k < n; ++k) {
      const auto value = spectrum[static_cast<std::size_t>(k)] / static_cast<long double>(n);
      const auto wave = [&](std::int64_t frequency) {
        return std::polar(1.0L, 2 * std::numbers::pi_v<long double> *
                                    static_cast<long double>(frequency * i) / static_cast<long double>(m));
      };
      const std::int64_t f = signed_frequency(k, n);
      const bool nyquist = 2 * k == n;
      result[static_cast<std::size_t>(i)] += value * (nyquist ? (wave(f) + wave(-f)) * 0.5L : wave(f));
    }
  }
  return result;
}

RANK_TEST(Spectral, MoreModesInterpolate) {
  using Number64 = std::complex<double>;
  for (const std::int64_t n : {6, 7}) {
    for (const std::int64_t m : {8, 9, 10}) {
      SCOPED_TRACE(std::to_string(n) + " to " + std::to_string(m));
      for (const Distribution& distribution : {Distribution(Slab(0)), Distribution(Slab(1))}) {
        Array field = empty(context, {n, 4}, distribution, Dtype::c128);
        fill_random(field, 4);
        const Array fine = ifft(resize_spectrum(fft(field), {n, 4}, {m, 4}));
        const std::vector<Number64> values = whole<Number64>(field);
        std::vector<std::vector<Number>> lines;
        for (std::size_t j = 0; j < 4; ++j) {
          std::vector<Number> line;
          for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) line.emplace_back(values[i * 4 + j]);
          lines.push_back(interpolated(line, m));
        }
        const Array expected = make<Number64>(context, {m, 4}, Slab(0), [&](const Index& at) {
          return Number64(lines[static_cast<std::size_t>(at[1])][static_cast<std::size_t>(at[0])]);
        });
        expect_near<Number64>(fine, expected, 1e-14);
      }
    }
  }
}

RANK_TEST(Spectral, ThreeHalvesUpAndBackChangesNothing) {
  const Shape lengths{6, 5, 8};
  const Shape fine = three_halves(lengths);
  EXPECT_EQ(fine, (Shape{9, 8, 12}));
  for (const Distribution& distribution :
       {Distribution(Slab(0)), Distribution(Slab(2)),
        Distribution(BlockCyclic(ProcessGrid({1, context.size(), 1}), {2, 2, 3}))}) {
    SCOPED_TRACE(distribution.to_string());
    Array real = empty(context, lengths, distribution, Dtype::f64);
    fill_random(real, 5);
    const Array spectrum = rfft(real);
    const Array up = resize_spectrum(spectrum, lengths, fine, {.halved_axis = 2});
    EXPECT_EQ(up.shape(), (Shape{9, 8, 7}));
    const Array back = resize_spectrum(up, fine, lengths, {.halved_axis = 2, .distribution = Slab(1)});
    expect_near<std::complex<double>>(back, spectrum, 1e-12);
    // At the points that both have (every third one of the fine x, at x = 0, 2, 4) the field is the same.
    const std::vector<double> fine_values = whole<double>(irfft(up, {.last_length = 12}));
    const std::vector<double> values = whole<double>(real);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t coarse_at = (2 * i * 5 + 0) * 8 + 2 * k, fine_at = (3 * i * 8 + 0) * 12 + 3 * k;
        EXPECT_NEAR(fine_values[fine_at], values[coarse_at], 1e-14);
      }
    }
  }
}

RANK_TEST(Spectral, FewerModesAreThoseOfTheFilteredField) {
  // Waves that fit on the coarse points are kept, the others are removed.
  const auto wave = [](std::int64_t i, std::int64_t n, int k) {
    return std::cos(2 * std::numbers::pi * static_cast<double>(k * i) / static_cast<double>(n) + 0.5);
  };
  const Array fine = make<float>(context, {15, 4}, Slab(0), [&](const Index& at) {
    return static_cast<float>(1 + wave(at[0], 15, 2) + wave(at[0], 15, 6));
  });
  FftOptions first{.axes = {0}};
  const Array spectrum = rfft(fine, first);
  const Array coarse = resize_spectrum(spectrum, {15, 4}, {10, 4}, {.halved_axis = 0});
  first.last_length = 10;
  const Array expected = make<float>(
      context, {10, 4}, Slab(1), [&](const Index& at) { return static_cast<float>(1 + wave(at[0], 10, 2)); });
  expect_near<float>(irfft(coarse, first), expected, 1e-5);
}

RANK_TEST(Spectral, BadArgumentsAreTheSameErrorEverywhere) {
  const Array integers = zeros(context, {6, 6}, Slab(0), Dtype::i32);
  const Array field = zeros(context, {6, 6}, Slab(0), Dtype::f64);
  const Array spectrum = zeros(context, {6, 6}, Slab(0), Dtype::c128);
  const auto one = [](const WaveVector&) { return std::complex<double>(1, 0); };
  EXPECT_THROW(spectral_apply(integers, one), ArgumentError);
  EXPECT_THROW(spectral_apply(field, one, {.axes = {2}}), ArgumentError);
  EXPECT_THROW(solve_poisson(field, {.axes = {}, .lengths = {1.0}}), ArgumentError);
  EXPECT_THROW(solve_poisson(field, {.axes = {}, .lengths = {1.0, 0.0}}), ArgumentError);
  EXPECT_THROW(convolve(field, spectrum), ArgumentError);
  const Array scalar = zeros(context, {}, Replicated{}, Dtype::f64);
  EXPECT_THROW(solve_poisson(scalar), ArgumentError);
  EXPECT_THROW(gradient(scalar), ArgumentError);
  EXPECT_THROW(convolve(scalar, scalar), ArgumentError);
  EXPECT_THROW(resize_spectrum(field, {6, 6}, {9, 9}), ArgumentError);
  EXPECT_THROW(resize_spectrum(spectrum, {6, 7}, {9, 9}), ArgumentError);
  EXPECT_THROW(resize_spectrum(spectrum, {6, 6}, {9, 0}), ArgumentError);
  if (context.size() > 1) {
    const Array copies = zeros(context, {6, 6}, Replicated{}, Dtype::c128);
    EXPECT_THROW(resize_spectrum(copies, {6, 6}, {9, 9}), UnsupportedError);
    const std::int64_t different = context.rank() == 0 ? 9 : 8;
    EXPECT_THROW(resize_spectrum(spectrum, {6, 6}, {different, 9}), DisagreementError);
  }
}

}  // namespace
}  // namespace partita::testing
