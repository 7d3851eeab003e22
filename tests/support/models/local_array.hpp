// Rank 0's part of an array as a unit test sees it: any dtype and strides, addressed by global index.
#pragma once

#include <cstring>
#include <partita/plan.hpp>
#include <vector>

#include "base/visit_dtype.hpp"
#include "support/models/wide.hpp"

namespace partita::testing {

/// A whole array of one rank's memory: what the rank owns, with any strides.
struct Local {
  Region owned;
  Dtype dtype = Dtype::f64;
  Strides strides;
  std::vector<char> memory;

  std::int64_t offset(const Index& global) const {
    std::int64_t sum = 0;
    for (int d = 0; d < global.size(); ++d) {
      sum += owned.sets[static_cast<std::size_t>(d)].position(global[d]) * strides[d];
    }
    return sum * size_of(dtype);
  }
  Wide get(const Index& global) const {
    return visit_dtype(dtype, [&](auto tag) {
      typename decltype(tag)::type value;
      std::memcpy(&value, memory.data() + offset(global), sizeof value);
      return widened(value);
    });
  }
  void set(const Index& global, Wide wide) {
    visit_dtype(dtype, [&](auto tag) {
      const auto value = narrow_to<typename decltype(tag)::type>(wide);
      std::memcpy(memory.data() + offset(global), &value, sizeof value);
    });
  }
};

/// Adds an operand of this layout to a plan, with the memory of rank 0: row-major (kind 0), column-major (1)
/// or with gaps (2). Filled with NaN.
inline Local add_operand(Plan& plan, std::vector<Strides>& strides, const char* name, const Layout& layout,
                         Dtype dtype, int kind) {
  const Order order = kind == 1 ? Order::column_major : Order::row_major;
  Operand operand = Operand::of(layout, dtype, order);
  operand.dense = kind != 2;
  plan.buffers.push_back({name, BufferKind::operand, operand, 0});
  const Shape extents = layout.local_shape(0);
  Local local{layout.region(0), dtype, dense_strides(extents, order), {}};
  if (kind == 2) {
    for (std::int64_t& stride : local.strides) stride *= 2;
  }
  strides.push_back(local.strides);
  local.memory.resize(static_cast<std::size_t>(2 * volume(extents) * size_of(dtype) + 16), '\xff');
  return local;
}

template <class Body>
void each_index(const Region& region, const Body& body) {
  const Extents shape = region.shape();
  const std::int64_t size = volume(shape);
  for (std::int64_t number = 0; number < size; ++number) {
    Index index = shape;
    std::int64_t rest = number;
    for (int d = shape.size() - 1; d >= 0; --d) {
      index[d] = region.sets[static_cast<std::size_t>(d)].at(rest % shape[d]);
      rest /= shape[d];
    }
    body(index);
  }
}

}  // namespace partita::testing
