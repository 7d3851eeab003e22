// Real lines through buffers, against complex transforms of the same lines.
#include "kernels/host/buffered_lines.hpp"

#include "support/test.hpp"

namespace partita::testing {
namespace {

/// The layout of the lines of one side: one after the other, or interleaved; with gaps.
struct LinePlaces {
  std::int64_t step = 1, along = 1, size = 0;

  LinePlaces(std::int64_t count, std::int64_t lines, bool across)
      : step(across ? lines + 1 : 1), along(across ? 1 : count + 2), size((count + 2) * (lines + 2)) {}
  std::size_t at(std::int64_t line, std::int64_t i) const {
    return static_cast<std::size_t>(line * along + i * step) + 1;  // not aligned for vectors
  }
};

std::unique_ptr<char, decltype(&std::free)> buffers_of(const kernels::Lines& lines) {
  const auto bytes = static_cast<std::size_t>((lines.workspace_bytes() + 63) / 64 * 64);
  return {static_cast<char*>(std::aligned_alloc(64, bytes)), &std::free};
}

template <class Real>
class RealLines {
 public:
  using Complex = std::complex<Real>;

  RealLines(std::int64_t length, std::int64_t lines, bool reals_across, bool spectra_across)
      : length_(length),
        lines_(lines),
        real_places_(length, lines, reals_across),
        spectrum_places_(length / 2 + 1, lines, spectra_across),
        reals_(static_cast<std::size_t>(real_places_.size), gap),
        spectra_(static_cast<std::size_t>(spectrum_places_.size), Complex(gap)) {
    std::mt19937_64 random(static_cast<std::uint64_t>(length));
    std::uniform_real_distribution<Real> number(-1, 1);
    kernels::TransformShape shape;
    shape.precision = precision;
    shape.lines = {{length, 1, 1}};
    std::vector<Complex> line(static_cast<std::size_t>(length)), whole(line.size());
    const auto plan =
        kernels::plan_transform(shape, memory_of(kernels::fftw(precision), line.data(), whole.data()));
    for (std::int64_t l = 0; l < lines; ++l) {
      for (Complex& value : line) value = number(random);
      for (std::int64_t i = 0; i < length; ++i)
        reals_[real_places_.at(l, i)] = line[static_cast<std::size_t>(i)].real();
      plan->run(line.data(), whole.data());
      for (std::int64_t k = 0; k <= length / 2; ++k)
        spectra_[spectrum_places_.at(l, k)] = whole[static_cast<std::size_t>(k)];
    }
  }

  void expect_forward() const {
    std::vector<Complex> result(spectra_.size(), Complex(gap));
    run(TransformKind::real_to_complex, reals_, result, 0.5);
    std::vector<Complex> expected = spectra_;
    for_each(spectrum_places_, length_ / 2 + 1, [&](std::size_t at) { expected[at] *= Real(0.5); });
    expect_near(result, expected);
  }

  /// What should be real counts as real, and the spectra keep their values.
  void expect_backward() const {
    std::vector<Complex> from = spectra_;
    for (std::int64_t l = 0; l < lines_; ++l) {
      from[spectrum_places_.at(l, 0)] += Complex(0, 3);
      if (length_ % 2 == 0) from[spectrum_places_.at(l, length_ / 2)] += Complex(0, 3);
    }
    const std::vector<Complex> before = from;
    std::vector<Real> result(reals_.size(), gap);
    run(TransformKind::complex_to_real, from, result, 1 / static_cast<double>(length_));
    EXPECT_TRUE(from == before) << "the input was written";
    expect_near(result, reals_);
  }

 private:
  static constexpr Real gap = 7;
  static constexpr kernels::FftwPrecision precision =
      sizeof(Real) == 8 ? kernels::FftwPrecision::f64 : kernels::FftwPrecision::f32;

  template <class Visit>
  void for_each(const LinePlaces& places, std::int64_t count, const Visit& visit) const {
    for (std::int64_t l = 0; l < lines_; ++l)
      for (std::int64_t i = 0; i < count; ++i) visit(places.at(l, i));
  }

  template <class From, class To>
  void run(TransformKind kind, const std::vector<From>& from, std::vector<To>& to, double factor) const {
    const bool forward = kind == TransformKind::real_to_complex;
    const LinePlaces& source = forward ? real_places_ : spectrum_places_;
    const LinePlaces& target = forward ? spectrum_places_ : real_places_;
    const kernels::BufferedLines lines(kind, precision, {length_, source.step, target.step},
                                       {{lines_, source.along, target.along}}, false);
    const auto workspace = buffers_of(lines);
    lines.run(reinterpret_cast<const char*>(&from[source.at(0, 0)]),
              reinterpret_cast<char*>(&to[target.at(0, 0)]), workspace.get(), factor);
  }

  /// Gaps are numbers like others: nothing else is written.
  template <class Value>
  void expect_near(const std::vector<Value>& result, const std::vector<Value>& expected) const {
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      difference += static_cast<double>(std::norm(result[i] - expected[i]));
      if (expected[i] != Value(gap)) norm += static_cast<double>(std::norm(expected[i]));
    }
    const double epsilon = static_cast<double>(std::numeric_limits<Real>::epsilon());
    EXPECT_LE(std::sqrt(difference / norm), epsilon * std::log2(static_cast<double>(length_)));
  }

  std::int64_t length_, lines_;
  LinePlaces real_places_, spectrum_places_;
  std::vector<Real> reals_;
  std::vector<Complex> spectra_;
};

void expect_lines(std::int64_t length, std::int64_t lines) {
  for (const bool reals_across : {false, true}) {
    for (const bool spectra_across : {false, true}) {
      SCOPED_TRACE(::testing::Message()
                   << length << " points, " << lines << " lines" << (reals_across ? ", reals across" : "")
                   << (spectra_across ? ", spectra across" : ""));
      const RealLines<double> numbers(length, lines, reals_across, spectra_across);
      numbers.expect_forward();
      numbers.expect_backward();
      const RealLines<float> singles(length, lines, reals_across, spectra_across);
      singles.expect_forward();
      singles.expect_backward();
    }
  }
}

TEST(BufferedLines, RealLinesOfAnyLength) {
  for (const std::int64_t length : {2, 3, 4, 5, 6, 7, 8, 10, 12, 33, 66, 100, 101, 128, 254})
    expect_lines(length, length % 3 == 0 ? 1 : 37);
}

// With several blocks of roots, and in one buffer or the result itself.
TEST(BufferedLines, LongRealLines) {
  expect_lines(4098, 2);
  expect_lines(300000, 1);
}

// Short ones side by side in the buffer, longer ones one by one; in place.
TEST(BufferedLines, ComplexLinesAcross) {
  constexpr std::int64_t lines = 21;
  constexpr auto precision = kernels::FftwPrecision::f64;
  for (const std::int64_t length : {60, 260}) {
    std::vector<std::complex<double>> values(static_cast<std::size_t>(length * lines)),
        expected(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = {std::sin(static_cast<double>(i)), std::cos(3 * static_cast<double>(i))};
    kernels::TransformShape shape;
    shape.lines = {{length, lines, lines}};
    shape.batch = {{lines, 1, 1}};
    kernels::plan_transform(shape, memory_of(kernels::fftw(precision), values.data(), expected.data()))
        ->run(values.data(), expected.data());
    const kernels::BufferedLines transform(shape.kind, precision, shape.lines.front(), shape.batch, false);
    const auto workspace = buffers_of(transform);
    char* const data = reinterpret_cast<char*>(values.data());
    transform.run(data, data, workspace.get(), 2);
    double difference = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      difference = std::max(difference, std::abs(values[i] - 2.0 * expected[i]));
    EXPECT_LE(difference, 1e-12) << length;
  }
}

}  // namespace
}  // namespace partita::testing
