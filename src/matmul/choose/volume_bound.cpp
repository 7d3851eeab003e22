// The least that the ranks of a multiply receive, whatever the plan.
#include <algorithm>
#include <array>
#include <cmath>
#include <partita/matmul.hpp>

#include "base/check.hpp"

namespace partita {
namespace {

using OfEach = std::array<double, 3>;  // of A, B and D

double product_of(const OfEach& numbers) {
  return numbers[0] * numbers[1] * numbers[2];
}

/// A multiply, and what a rank owns of its operands.
struct DividedProduct {
  OfEach whole;  ///< elements of A, B and D
  OfEach uses;   ///< multiplications that each of their elements takes part in: n, m, k
  OfEach owned;

  /// Elements that a rank needs at least for so many multiplications and does not own: the least x + y + z
  /// with xyz >= V^2, where none is less than is owned (that is there anyhow) or than V over its uses. There
  /// all that are not held by such a limit are equal.
  double received(double multiplications) const {
    OfEach least{};
    for (std::size_t i = 0; i < least.size(); ++i)
      least[i] = std::min(whole[i], std::max(owned[i], multiplications / uses[i]));
    const auto needed = [&](double level) {
      OfEach elements{};
      for (std::size_t i = 0; i < elements.size(); ++i)
        elements[i] = std::max(least[i], std::min(level, whole[i]));
      return elements;
    };
    const double wanted = multiplications * multiplications;
    double low = 0, high = *std::ranges::max_element(whole);
    for (int halvings = 0; halvings < 200 && low < high; ++halvings) {
      const double level = low + (high - low) / 2;
      (product_of(needed(level)) < wanted ? low : high) = level;
    }
    double elements = 0;
    const OfEach found = needed(low);
    for (std::size_t i = 0; i < found.size(); ++i) elements += std::max(0.0, found[i] - owned[i]);
    return elements;
  }

  /// Multiplications that a rank can make at most of what it owns.
  double without_receiving() const {
    double most = std::sqrt(product_of(owned));
    for (std::size_t i = 0; i < owned.size(); ++i) most = std::min(most, owned[i] * uses[i]);
    return most;
  }
};

/// Of all ranks on average, which make `even` multiplications, none of them more than `most`. What one
/// receives is nothing up to some number, and a concave function of it beyond: least in all where some ranks
/// make that number and the others the most.
double received_on_average(const DividedProduct& product, double even, double most) {
  const double free = product.without_receiving();
  if (even <= free) return 0;
  return product.received(most) * (even - free) / (most - free);
}

}  // namespace

double matmul_volume_bound(std::int64_t m, std::int64_t n, std::int64_t k, int ranks, std::int64_t scratch,
                           const MatmulShares& shares) {
  check(m >= 0 && n >= 0 && k >= 0, "a product of {}x{} by {}x{} has negative extents", m, k, k, n);
  check(ranks >= 1, "a bound for at least one rank, not {}", ranks);
  check(scratch >= 0, "scratch must not be negative, but is {}", scratch);
  if (m == 0 || n == 0 || k == 0) return 0;
  const auto rows = static_cast<double>(m), columns = static_cast<double>(n), depth = static_cast<double>(k);
  DividedProduct product{{rows * depth, depth * columns, rows * columns},
                         {columns, rows, depth},
                         {shares.a, shares.b, shares.d}};
  double owned = 0;
  for (std::size_t i = 0; i < product.owned.size(); ++i) {
    double& share = product.owned[i];
    share = std::min(product.whole[i], std::max(share, product.whole[i] / ranks));
    owned += share;
  }
  const double even = rows * columns * depth / ranks;
  const double bound = received_on_average(product, even, std::max(even, shares.multiplications));
  if (scratch == 0) return bound;
  const double held = owned + static_cast<double>(scratch);
  return std::max(bound, 2 * even / std::sqrt(held) - owned);
}

}  // namespace partita
