#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <partita/extents.hpp>

#include "base/check.hpp"

namespace partita {

void detail::refuse_extent(std::uint64_t value) {
  throw ArgumentError(fmt::format("{} is not an extent, index or stride: it exceeds 2^63 - 1", value));
}

void detail::refuse_dimension(int dimension, int dimensions) {
  throw ArgumentError(fmt::format("dimension {} is out of range: there are {}", dimension, dimensions));
}

Extents::Extents(std::initializer_list<detail::Extent> values) {
  check(values.size() <= max_dimensions, "{} dimensions; at most {} are supported", values.size(),
        max_dimensions);
  for (const detail::Extent one : values) values_[static_cast<std::size_t>(size_++)] = one.value;
}

Extents::Extents(std::span<const std::int64_t> values) {
  check(values.size() <= max_dimensions, "{} dimensions; at most {} are supported", values.size(),
        max_dimensions);
  std::copy(values.begin(), values.end(), values_.begin());
  size_ = static_cast<int>(values.size());
}

Extents Extents::filled(int dimensions, std::int64_t value) {
  Extents result;
  for (int i = 0; i < dimensions; ++i) result.push_back(value);
  return result;
}

void Extents::push_back(std::int64_t value) {
  check(size_ < max_dimensions, "more than {} dimensions", max_dimensions);
  values_[static_cast<std::size_t>(size_++)] = value;
}

std::int64_t volume(const Extents& shape) {
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  std::int64_t product = empty ? 0 : 1;
  for (const std::int64_t extent : shape) {
    check(extent >= 0, "a shape has the negative extent {}", extent);
    if (__builtin_mul_overflow(product, extent, &product)) {  // the text is costly: only where it is needed
      check(false, "the shape {} has more than 2^63 - 1 elements", to_string(shape));
    }
  }
  return product;
}

Strides dense_strides(const Extents& shape, Order order) {
  Strides strides = Extents::filled(shape.size(), 1);
  std::int64_t step = 1;
  for (int i = 0; i < shape.size(); ++i) {
    const int dimension = order == Order::row_major ? shape.size() - 1 - i : i;
    strides[dimension] = step;
    step *= std::max<std::int64_t>(shape[dimension], 1);
  }
  return strides;
}

std::string to_string(const Extents& extents) {
  if (extents.empty()) return "scalar";
  return fmt::format("{}", fmt::join(extents.begin(), extents.end(), "x"));
}

std::ostream& operator<<(std::ostream& stream, const Extents& extents) {
  return stream << to_string(extents);
}

}  // namespace partita
