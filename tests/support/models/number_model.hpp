// Whole arrays as numbers on every rank, for brute force.
#pragma once

#include <complex>
#include <functional>
#include <partita/redistribute.hpp>
#include <vector>

#include "support/models/array_model.hpp"

namespace partita::testing {

using Number = std::complex<double>;

template <class T>
Number number_of(const T& element) {
  if constexpr (is_small_float_type<T>) {
    return static_cast<double>(to_float(element));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(element);
  } else {
    return Number(element);
  }
}

/// In row-major order, on every rank. Collective.
inline std::vector<Number> whole_numbers(const Array& array) {
  std::vector<Number> numbers(static_cast<std::size_t>(volume(array.shape())));
  const Array all = redistribute(array, Replicated{});
  each_element(all, [&](std::int64_t number, auto& element) {
    numbers[static_cast<std::size_t>(number)] = number_of(element);
  });
  return numbers;
}

inline Index index_of(std::int64_t number, const Shape& shape) {
  Index index = Extents::filled(shape.size(), 0);
  for (int d = shape.size() - 1; d >= 0; --d) {
    index[d] = number % shape[d];
    number /= shape[d];
  }
  return index;
}

/// Every element becomes `value(row-major number)`; of complex dtypes with the imaginary part -value / 2.
inline void write_numbers(Array& array, const std::function<double(std::int64_t)>& value) {
  each_element(array, [&](std::int64_t number, auto& element) {
    using T = std::decay_t<decltype(element)>;
    element = make_value<T>(value(number));
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      element.imag(element.imag() / 2);
    }
  });
}

/// That is computed with.
inline constexpr Dtype every_dtype[] = {Dtype::boolean, Dtype::i8,  Dtype::u8,  Dtype::i16, Dtype::u16,
                                        Dtype::i32,     Dtype::u32, Dtype::i64, Dtype::u64, Dtype::f16,
                                        Dtype::bf16,    Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};

/// Even and uneven, cyclic, replicated and partly so, boxes of odd sizes: of an array of three dimensions.
inline std::vector<Distribution> three_dimensional(const Shape& shape, int ranks) {
  std::vector<Box::Bounds> boxes;
  for (int rank = 0; rank < ranks; ++rank) {  // the first one has all but a column each of the others
    const std::int64_t others = std::min<std::int64_t>(ranks - 1, shape[2]);
    Box::Bounds box{{0, 0, shape[2] - others + rank - 1}, {shape[0], shape[1], shape[2] - others + rank}};
    if (rank == 0) box = {{0, 0, 0}, {shape[0], shape[1], shape[2] - others}};
    if (rank > others || box.lower[2] == box.upper[2]) box = {{0, 0, 0}, {0, 0, 0}};
    boxes.push_back(box);
  }
  const std::string count = std::to_string(ranks);
  std::vector<Distribution> result{Slab(0),
                                   Slab(2),
                                   BlockCyclic(ProcessGrid({1, ranks, 1}), {2, 1, 3}),
                                   BlockCyclic(ProcessGrid({ranks, 1, 1}), {2, 2, 2}),
                                   BlockNonCyclic(ProcessGrid({1, 1, ranks})),
                                   Replicated{},
                                   Box(boxes),
                                   Distribution::parse("mesh:r=" + count + ":-,-,-"),
                                   Distribution::parse("mesh:r=" + count + ":-,r,-;uneven=balanced")};
  if (ranks % 2 == 0) {
    const std::string half = std::to_string(ranks / 2);
    result.push_back(Distribution::parse("mesh:x=2,y=" + half + ":x,-,y"));
    result.push_back(Distribution::parse("mesh:x=2,y=" + half + ":-,y,-"));
    result.push_back(BlockCyclic(ProcessGrid({2, ranks / 2, 1}), {1, 1, 2}));
  }
  return result;
}

}  // namespace partita::testing
