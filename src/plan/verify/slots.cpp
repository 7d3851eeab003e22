#include "plan/verify/slots.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"

namespace partita::verification {
namespace {

using Offsets = std::vector<std::int64_t>;

/// The elements of a set, increasing.
Offsets elements(const IndexSet& set) {
  Offsets result;
  result.reserve(static_cast<std::size_t>(set.size()));
  for (const Interval& interval : set.intervals()) {
    for (std::int64_t run = 0; run < interval.count; ++run) {
      const std::int64_t first = interval.first + run * interval.period;
      for (std::int64_t i = 0; i < interval.length; ++i) result.push_back(first + i);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// All sums base + terms[0][i] + terms[1][j] + ..., the last dimension fastest.
Offsets combine(const std::vector<Offsets>& terms, std::int64_t base) {
  Offsets sums{base};
  for (const Offsets& dimension : terms) {
    Offsets next;
    next.reserve(sums.size() * dimension.size());
    for (const std::int64_t sum : sums) {
      for (const std::int64_t term : dimension) next.push_back(sum + term);
    }
    sums = std::move(next);
  }
  return sums;
}

}  // namespace

Region whole_region(const Shape& shape) {
  Region region;
  for (const std::int64_t extent : shape) region.sets.push_back(IndexSet::range(0, extent));
  return region;
}

std::vector<std::int64_t> element_numbers(const Region& region, const Shape& shape) {
  return positions(region, whole_region(shape), dense_strides(shape));
}

std::vector<std::int64_t> positions(const Region& region, const Region& whole, const Strides& strides) {
  std::vector<Offsets> terms;
  for (std::size_t i = 0; i < region.sets.size(); ++i) {
    Offsets& term = terms.emplace_back(elements(region.sets[i]));
    for (std::int64_t& element : term)
      element = whole.sets[i].position(element) * strides[static_cast<int>(i)];
  }
  return combine(terms, 0);
}

bool is_inside(const Region& region, const Region& whole) {
  if (region.sets.size() != whole.sets.size()) return false;
  for (std::size_t i = 0; i < region.sets.size(); ++i) {
    if (intersect(region.sets[i], whole.sets[i]).size() != region.sets[i].size()) return false;
  }
  return true;
}

std::vector<std::int64_t> packed(const Region& region, const Place& place, std::int64_t base,
                                 std::int64_t step) {
  std::vector<Offsets> terms(region.sets.size());
  std::int64_t stride = step;
  const int fastest = place.axis_order.size() - 1;
  for (int i = fastest; i >= 0; --i) {
    const auto dimension = static_cast<std::size_t>(place.axis_order[i]);
    for (std::int64_t k = 0; k < region.sets[dimension].size(); ++k) terms[dimension].push_back(k * stride);
    stride *= i == fastest && place.pitch > 0 ? place.pitch : region.sets[dimension].size();
  }
  return combine(terms, base);
}

Index index_of(std::int64_t number, const Shape& shape) {
  Index index = Extents::filled(shape.size(), 0);
  for (int i = shape.size() - 1; i >= 0; --i) {
    index[i] = number % shape[i];
    number /= shape[i];
  }
  return index;
}

std::string describe_element(std::int64_t number, const Shape& shape) {
  const Index index = index_of(number, shape);
  return fmt::format("({})", fmt::join(index.begin(), index.end(), ","));
}

}  // namespace partita::verification
