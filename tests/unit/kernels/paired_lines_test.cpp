// Half spectra along two and three axes, against complex transforms of the whole spectrum.
#include "kernels/host/paired_lines.hpp"

#include "kernels/host/fftw_library.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

template <class Real>
class PairedPlane {
 public:
  using Complex = std::complex<Real>;

  /// `gap`: numbers between the lines of either side. The planes are an axis if `axes` is 3.
  PairedPlane(int axes, std::int64_t planes, std::int64_t rows, std::int64_t length, std::int64_t gap)
      : axes_(axes),
        planes_(planes),
        rows_(rows),
        length_(length),
        half_(length / 2),
        spectrum_pitch_(half_ + 1 + gap),
        pitch_(length + 2 * gap),
        spectra_(static_cast<std::size_t>(planes * rows * spectrum_pitch_)) {
    std::mt19937_64 random(static_cast<std::uint64_t>(rows * length));
    std::uniform_real_distribution<Real> number(-1, 1);
    for (Complex& value : spectra_) value = {number(random), number(random)};
  }

  /// Any numbers are half spectra: of what they should have in common only that counts.
  void expect_lines() const {
    const std::vector<Complex> before = spectra_;
    std::vector<Real> result(static_cast<std::size_t>(planes_ * rows_ * pitch_), Real(7));
    const kernels::FftwLoop planes{planes_, rows_ * spectrum_pitch_, rows_ * pitch_};
    const std::vector<kernels::FftwLoop> across{planes, {rows_, spectrum_pitch_, pitch_}};
    const bool in_planes = axes_ == 2;
    const kernels::PairedLines lines(precision, std::span(across).subspan(in_planes ? 1 : 0), {length_, 1, 1},
                                     in_planes ? std::vector{planes} : std::vector<kernels::FftwLoop>(),
                                     false);
    std::vector<double> workspace(static_cast<std::size_t>(lines.workspace_bytes() / 8 + 8));
    void* place = workspace.data();
    std::size_t room = workspace.size() * 8;
    std::align(64, static_cast<std::size_t>(lines.workspace_bytes()), place, room);
    lines.run(reinterpret_cast<const char*>(spectra_.data()), reinterpret_cast<char*>(result.data()),
              static_cast<char*>(place), 0.5);
    EXPECT_TRUE(spectra_ == before) << "the input was written";
    // One rank's threads have parts.
    std::vector<Real> in_parts(result.size(), Real(7));
    for (int part = 0; part < 3; ++part)
      lines.run_part(reinterpret_cast<const char*>(spectra_.data()), reinterpret_cast<char*>(in_parts.data()),
                     static_cast<char*>(place), 0.5, {part, 3});
    EXPECT_TRUE(in_parts == result);
    for (std::int64_t plane = 0; plane < planes_; ++plane) expect_plane(plane, result);
  }

 private:
  static constexpr kernels::FftwPrecision precision =
      sizeof(Real) == 8 ? kernels::FftwPrecision::f64 : kernels::FftwPrecision::f32;

  void expect_plane(std::int64_t plane, const std::vector<Real>& result) const {
    const double tolerance = 40 * static_cast<double>(std::numeric_limits<Real>::epsilon() *
                                                      Real(length_ * (axes_ == 3 ? planes_ : 1)));
    for (std::int64_t j = 0; j < rows_; ++j) {
      for (std::int64_t i = 0; i < length_; ++i)
        EXPECT_NEAR(value_at(plane, j, i, result), expected_at(plane, j, i), tolerance)
            << axes_ << " axes, " << planes_ << " x " << rows_ << " x " << length_ << ": " << plane << ", "
            << j << ", " << i;
      for (std::int64_t i = length_; i < pitch_; ++i) EXPECT_EQ(result[at(plane, j, i)], Real(7));
    }
  }

  std::size_t at(std::int64_t plane, std::int64_t row, std::int64_t i) const {
    return static_cast<std::size_t>((plane * rows_ + row) * pitch_ + i);
  }

  static std::complex<double> root(std::int64_t numerator, std::int64_t n) {
    return std::polar(1.0,
                      2 * std::numbers::pi * static_cast<double>(numerator % n) / static_cast<double>(n));
  }

  /// After the last pass, by the sum along the first axis.
  double value_at(std::int64_t plane, std::int64_t j, std::int64_t i, const std::vector<Real>& result) const {
    const bool in_planes = axes_ == 2;
    const std::int64_t n = in_planes ? rows_ : planes_;
    std::complex<double> sum = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::size_t pair = in_planes ? at(plane, k, i / 2 * 2) : at(k, j, i / 2 * 2);
      sum += root((in_planes ? j : plane) * k, n) *
             std::complex<double>(static_cast<double>(result[pair]), static_cast<double>(result[pair + 1]));
    }
    return i % 2 == 0 ? sum.real() : sum.imag();
  }

  double expected_at(std::int64_t plane, std::int64_t j, std::int64_t i) const {
    if (axes_ == 2) return plane_at(plane, j, i).real() / 2;
    std::complex<double> sum = 0;
    for (std::int64_t k = 0; k < planes_; ++k) sum += root(plane * k, planes_) * plane_at(k, j, i);
    return sum.real() / 2;
  }

  std::complex<double> plane_at(std::int64_t plane, std::int64_t j, std::int64_t i) const {
    std::complex<double> sum = 0;
    for (std::int64_t k = 0; k < rows_; ++k) {
      for (std::int64_t l = 0; l <= half_; ++l) {
        const auto place = static_cast<std::size_t>((plane * rows_ + k) * spectrum_pitch_ + l);
        const double times = l == 0 || l == half_ ? 1 : 2;
        sum += times * root(j * k, rows_) * root(i * l, length_) * std::complex<double>(spectra_[place]);
      }
    }
    return sum;
  }

  int axes_;
  std::int64_t planes_, rows_, length_, half_, spectrum_pitch_, pitch_;
  std::vector<Complex> spectra_;
};

TEST(PairedLines, RowsOfAnyNumberAndEvenLength) {
  for (const std::int64_t rows : {1, 2, 3, 4, 7, 30, 41}) {
    for (const std::int64_t length : {2, 4, 6, 14, 20, 36}) {
      for (const std::int64_t gap : {0, 3}) {
        PairedPlane<double>(2, 2, rows, length, gap).expect_lines();
        PairedPlane<float>(2, 2, rows, length, gap).expect_lines();
      }
    }
  }
}

TEST(PairedLines, PlanesOfAThirdAxis) {
  for (const std::int64_t planes : {1, 2, 3, 4, 7}) {
    for (const std::int64_t rows : {1, 2, 3, 4, 9}) {
      for (const std::int64_t length : {2, 6, 12}) {
        PairedPlane<double>(3, planes, rows, length, 0).expect_lines();
        PairedPlane<float>(3, planes, rows, length, 3).expect_lines();
      }
    }
  }
  PairedPlane<double>(3, 3, 12, 300, 0).expect_lines();
}

}  // namespace
}  // namespace partita::testing
