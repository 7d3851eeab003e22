// The matrices that are factorized, and the check of what is solved with the factors.
#pragma once

#include <cstdint>
#include <partita/array.hpp>
#include <partita/work.hpp>
#include <string>

namespace partita::benchmarks {

/// Rows and columns of the peer's blocks.
inline constexpr int block_of_scalapack = 64;

/// Element (i, j) of an n x n matrix: for Cholesky positive definite, otherwise random numbers in [-1, 1).
double factorized_element(Factorization kind, std::int64_t i, std::int64_t j, std::int64_t n);

/// Element (i, j) of a symmetric n x n matrix of numbers in [-1, 1).
double symmetric_element(std::int64_t i, std::int64_t j, std::int64_t n);

/// Throws Error unless A X = B up to rounding: a benchmark of wrong numbers is worth nothing. Collective.
void check_solution(const Array& a, const Array& x, const Array& b, const std::string& name);

}  // namespace partita::benchmarks
