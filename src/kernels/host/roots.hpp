// Roots of unity: exp(sign 2 pi i k / length).
//
// They come from two short tables: w^k = w^(block * high) w^low with k = block * high + low, computed in long
// double. So every root is exact to an ulp or two at any length, and the tables take some sqrt(length)
// numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <vector>

namespace partita::kernels {

template <class Real>
class Roots {
 public:
  /// Those of 0 <= k < count. A block is all of them where they are few: some `fewest`.
  Roots(std::int64_t length, int sign, std::int64_t count, std::int64_t fewest = 1)
      : length_(length), sign_(sign) {
    block_ =
        std::max({std::int64_t{1}, fewest, static_cast<std::int64_t>(std::sqrt(static_cast<double>(count)))});
    for (std::int64_t k = 0; k < std::min(block_, count); ++k) low_.push_back(root(k));
    for (std::int64_t k = 0; k < count; k += block_) high_.push_back(root(k));
  }

  std::complex<Real> operator()(std::int64_t k) const { return product(high(k / block_), low()[k % block_]); }

  std::int64_t length() const { return length_; }
  std::int64_t block() const { return block_; }
  const std::complex<Real>* low() const { return low_.data(); }  ///< of the first block
  /// What the first block is multiplied by to become that of this number.
  std::complex<Real> high(std::int64_t block) const { return high_[static_cast<std::size_t>(block)]; }

 private:
  static std::complex<Real> product(std::complex<Real> a, std::complex<Real> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  std::complex<Real> root(std::int64_t k) const {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(length_);
    return {static_cast<Real>(std::cos(angle)), static_cast<Real>(sign_ * std::sin(angle))};
  }

  std::int64_t length_;
  int sign_;
  std::int64_t block_ = 1;
  std::vector<std::complex<Real>> low_, high_;
};

}  // namespace partita::kernels
