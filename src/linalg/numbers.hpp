// Numbers that all ranks know, from and to small replicated arrays.
#pragma once

#include <complex>
#include <partita/array.hpp>
#include <vector>

namespace partita::linear {

/// The distance from 1 to the next number of f32 (of f32 and c64) or f64.
double epsilon_of(Dtype dtype);

using Numbers = std::vector<std::complex<double>>;

/// Element i of a dense array in f32, f64, c64 or c128.
std::complex<double> number_at(Dtype dtype, const std::vector<char>& bytes, std::size_t i);

/// The elements of a replicated array, in row-major order. Blocking; what one rank throws, all throw.
Numbers numbers_of(const Array& array);

/// Writes the elements of a replicated array, in row-major order, rounded to its dtype. Done when it
/// returns; what one rank throws, all throw.
void write_numbers(const Numbers& numbers, Array& array);

/// A new replicated array in the dtype and the memory space of `like`. Collective, blocking.
Array replicated_numbers(const Array& like, const Shape& shape, const Numbers& numbers);

}  // namespace partita::linear
