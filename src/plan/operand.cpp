#include <fmt/format.h>

#include <partita/operand.hpp>

#include "base/check.hpp"

namespace partita {
namespace {

[[noreturn]] void refuse_strided(const Operand& operand) {
  throw ArgumentError(
      fmt::format("the operand {} is not dense: its strides may differ between ranks", operand.to_string()));
}

}  // namespace

Operand Operand::of(Layout layout, Dtype dtype, Order order, Residency residency) {
  const int dimensions = layout.dimensions();
  Extents axis_order;
  for (int i = 0; i < dimensions; ++i) {
    axis_order.push_back(order == Order::row_major ? i : dimensions - 1 - i);
  }
  return {std::move(layout), dtype, axis_order, true, MemorySpace::host, residency};
}

// B = A permuted: B's dimension i is A's dimension axes[i], so A's dimension d is B's dimension inverse[d].
Operand Operand::permuted(std::span<const int> axes) const {
  Operand result{layout.permuted(axes), dtype, axis_order, dense, space, residency};
  Extents inverse = Extents::filled(axis_order.size(), 0);
  for (int i = 0; i < axis_order.size(); ++i) inverse[axes[static_cast<std::size_t>(i)]] = i;
  for (int i = 0; i < axis_order.size(); ++i) result.axis_order[i] = inverse[static_cast<int>(axis_order[i])];
  return result;
}

Strides Operand::local_strides(int rank) const {
  if (!dense) refuse_strided(*this);  // texts of layouts take longer than all else here
  const Shape shape = layout.local_shape(rank);
  Strides strides = Extents::filled(shape.size(), 1);
  std::int64_t step = 1;
  // Nothing of a scalar has one dimension more than the scalar.
  for (int i = axis_order.size() - 1; i >= 0; --i) {
    const int dimension = static_cast<int>(axis_order[i]);
    strides[dimension] = step;
    step *= std::max<std::int64_t>(shape[dimension], 1);
  }
  return strides;
}

std::string Operand::to_string() const {
  const int dimensions = axis_order.size();
  bool rows = true;
  bool columns = true;
  for (int i = 0; i < dimensions; ++i) {
    rows = rows && axis_order[i] == i;
    columns = columns && axis_order[i] == dimensions - 1 - i;
  }
  const std::string order =
      !dense    ? "strided"
      : rows    ? "row-major"
      : columns ? "column-major"
                : fmt::format("axis order {}", fmt::join(axis_order.begin(), axis_order.end(), ","));
  return fmt::format("{}, {}, {}, {}{}", layout.to_string(), name(dtype), order,
                     residency == Residency::heap ? "heap" : "ordinary memory",
                     space == MemorySpace::device ? ", device" : "");
}

}  // namespace partita
