// Memory that a local transform reads or writes: scratch or an array, of any sets, order and strides.
#pragma once

#include <algorithm>
#include <complex>
#include <numeric>
#include <optional>
#include <partita/plan.hpp>
#include <vector>

#include "kernels/host/number_runs.hpp"
#include "support/models/indices.hpp"
#include "support/models/naive_transform.hpp"
#include "support/models/uniform.hpp"

namespace partita::testing {

/// A buffer of a plan with its memory, and a part of it.
struct TransformSide {
  Buffer buffer;
  Part part;
  Strides strides;              // of the bound view, in elements
  std::vector<Index> elements;  // of the region, row-major: index in memory's own dimensions
  std::vector<std::byte> memory;
  Dtype dtype = Dtype::f64;

  char* at(const Index& element) {
    std::int64_t offset = 0;
    for (int d = 0; d < element.size(); ++d) offset += element[d] * strides[d];
    return reinterpret_cast<char*>(memory.data()) + part.place.offset + offset * size_of(dtype);
  }

  void store(const Index& element, Number value) {
    const std::complex<double> rounded(value);
    const double real = rounded.real();
    auto* const to = reinterpret_cast<std::byte*>(at(element));
    if (is_complex(dtype)) {
      kernels::store_run(&rounded, 1, to, dtype, 0, 1);
    } else {
      kernels::store_run(&real, 1, to, dtype, 0, 1);
    }
  }
  Number load(const Index& element) {
    std::complex<double> value;
    double real = 0;
    const auto* const from = reinterpret_cast<const std::byte*>(at(element));
    if (is_complex(dtype)) {
      kernels::load_run(from, dtype, 0, 1, 1, &value);
      return value;
    }
    kernels::load_run(from, dtype, 0, 1, 1, &real);
    return static_cast<long double>(real);
  }
};

inline Extents random_order(Random& random, int dimensions) {
  Extents order = Extents::filled(dimensions, 0);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

inline Strides packed_strides(const Shape& shape, const Extents& order, std::int64_t gap) {
  Strides strides = Extents::filled(shape.size(), 1);
  std::int64_t step = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    const int d = static_cast<int>(order[i]);
    strides[d] = step;
    step = step * shape[d] + gap;
  }
  return strides;
}

/// A random subset of `size` of the indices that rank 0 owns along a dimension, in a global numbering.
inline IndexSet random_subset(Random& random, std::int64_t size, bool even) {
  switch (even ? 0 : uniform(random, 0, 3)) {
    case 0: {
      const std::int64_t first = uniform(random, 0, 3);
      return IndexSet::range(first, first + size);
    }
    case 1: {  // blocks that end in a shorter one
      const std::int64_t length = uniform(random, 1, 3), period = length + uniform(random, 1, 2);
      IndexSet blocks = IndexSet::cyclic(uniform(random, 0, 2), length, period, 100 * period);
      const std::int64_t end = blocks.at(size - 1) + 1;
      return intersect(blocks, IndexSet::range(0, end));
    }
    default: {  // anything
      std::vector<Interval> intervals;
      for (std::int64_t i = 0, at = 0; i < size; ++i, ++at) {
        at += uniform(random, 0, 1);
        intervals.push_back({at, 1, 1, 1});
      }
      return IndexSet::of(intervals);
    }
  }
}

/// Packed scratch, or the local part of an array (dense in some order, or strided) that holds more than the
/// region.
inline TransformSide random_side(Random& random, const Shape& shape, Dtype dtype, int buffer,
                                 const std::vector<bool>& transformed) {
  TransformSide side;
  side.dtype = dtype;
  const int n = shape.size();
  side.part.place.buffer = buffer;
  side.part.place.axis_order = random_order(random, n);
  for (int d = 0; d < n; ++d)
    side.part.region.sets.push_back(
        random_subset(random, shape[d], transformed[static_cast<std::size_t>(d)]));
  const auto take = [&side](const Index& element) { side.elements.push_back(element); };
  std::int64_t margin = 0;
  if (uniform(random, 0, 1) == 0) {
    side.buffer = {"scratch", BufferKind::scratch, std::nullopt, 0, dtype};
    side.part.place.offset = uniform(random, 0, 5) * size_of(dtype);
    side.strides = packed_strides(shape, side.part.place.axis_order, 0);
    Region whole;
    for (const std::int64_t extent : shape) whole.sets.push_back(IndexSet::range(0, extent));
    for_each_index(whole, take);
  } else {
    Shape local = shape;
    for (int d = 0; d < n; ++d)
      local[d] = side.part.region.sets[static_cast<std::size_t>(d)].back() + 1 + uniform(random, 0, 2);
    const bool dense = uniform(random, 0, 1) == 0;
    Operand operand = Operand::of(Layout(Slab(0), local, 1), dtype);
    operand.axis_order = side.part.place.axis_order;
    operand.dense = dense;
    side.buffer = {"array", BufferKind::operand, operand, 0, {}};
    side.strides = packed_strides(local, operand.axis_order, dense ? 0 : 1);
    for_each_index(side.part.region, take);
    margin = 2 * volume(local) + 64;
    for (int d = 0; d < n; ++d) margin += local[d] * side.strides[d];
  }
  side.memory.resize(static_cast<std::size_t>((volume(shape) + margin + 16) * size_of(dtype)));
  return side;
}

}  // namespace partita::testing
