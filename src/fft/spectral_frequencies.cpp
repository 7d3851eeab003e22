#include <numbers>
#include <partita/spectral.hpp>

#include "base/check.hpp"
#include "fft/spectral.hpp"

namespace partita {
namespace {

/// Of `count` modes of n samples; `number(k)`: of mode k.
template <class Number>
std::vector<double> frequencies(std::int64_t n, std::int64_t count, double spacing, const Number& number) {
  check(n > 0 && spacing > 0, "frequencies of {} samples {} apart", n, spacing);
  std::vector<double> result;
  for (std::int64_t k = 0; k < count; ++k) {
    result.push_back(static_cast<double>(number(k)) / (static_cast<double>(n) * spacing));
  }
  return result;
}

/// Of the rank's indices, in local order.
std::vector<double> local_part(const std::vector<double>& all, const Layout& layout, int axis, int rank) {
  check(axis >= 0 && axis < layout.dimensions(), "a spectrum of {} dimensions has no axis {}",
        layout.dimensions(), axis);
  check(layout.shape()[axis] == static_cast<std::int64_t>(all.size()),
        "the spectrum has {} indices along axis {}, but its samples give {}", layout.shape()[axis], axis,
        all.size());
  const Region region = layout.region(rank);
  std::vector<double> result;
  if (region.empty()) return result;
  const IndexSet& set = region.sets[static_cast<std::size_t>(axis)];
  result.reserve(static_cast<std::size_t>(set.size()));
  for (std::int64_t i = 0; i < set.size(); ++i) result.push_back(all[static_cast<std::size_t>(set.at(i))]);
  return result;
}

}  // namespace

std::int64_t signed_frequency(std::int64_t k, std::int64_t n) {
  return k < n - n / 2 ? k : k - n;
}

std::vector<double> fftfreq(std::int64_t n, double spacing) {
  return frequencies(n, n, spacing, [n](std::int64_t k) { return signed_frequency(k, n); });
}

std::vector<double> rfftfreq(std::int64_t n, double spacing) {
  return frequencies(n, n / 2 + 1, spacing, [](std::int64_t k) { return k; });
}

std::vector<double> fftfreq(const Layout& spectrum, int axis, int rank, double spacing) {
  const bool known = axis >= 0 && axis < spectrum.dimensions();
  check(known, "a spectrum of {} dimensions has no axis {}", spectrum.dimensions(), axis);
  if (spectrum.shape()[axis] == 0) return {};
  return local_part(fftfreq(spectrum.shape()[axis], spacing), spectrum, axis, rank);
}

std::vector<double> rfftfreq(const Layout& spectrum, int axis, int rank, std::int64_t length,
                             double spacing) {
  return local_part(rfftfreq(length, spacing), spectrum, axis, rank);
}

Shape three_halves(const Shape& lengths, const std::vector<int>& axes) {
  Shape result = lengths;
  for (const int axis : spectral::all_or(axes, lengths.size())) result[axis] = (3 * lengths[axis] + 1) / 2;
  return result;
}

namespace spectral {

std::vector<int> all_or(const std::vector<int>& axes, int dimensions) {
  std::vector<int> result = axes;
  for (int d = 0; axes.empty() && d < dimensions; ++d) result.push_back(d);
  for (const int axis : result) {
    check(axis >= 0 && axis < dimensions, "an array of {} dimensions has no axis {}", dimensions, axis);
  }
  return result;
}

}  // namespace spectral
}  // namespace partita
