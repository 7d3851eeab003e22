#include "benchmarks/linalg_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <partita/array_reductions.hpp>
#include <partita/elementwise.hpp>
#include <partita/error.hpp>
#include <partita/matmul.hpp>

namespace partita::benchmarks {

double factorized_element(Factorization kind, std::int64_t i, std::int64_t j, std::int64_t n) {
  if (kind == Factorization::cholesky)
    return i == j ? static_cast<double>(n) : 1 / (1 + std::abs(static_cast<double>(i - j)));
  const std::uint64_t mixed = static_cast<std::uint64_t>(i * n + j + 1) * 0x9e3779b97f4a7c15U;
  return static_cast<double>((mixed ^ (mixed >> 29U)) * 0xbf58476d1ce4e5b9U >> 11U) * 0x1p-52 - 1;
}

double symmetric_element(std::int64_t i, std::int64_t j, std::int64_t n) {
  return factorized_element(Factorization::lu, std::min(i, j), std::max(i, j), n);
}

void check_solution(const Array& a, const Array& x, const Array& b, const std::string& name) {
  const Array rest = matmul(a, x, {.distribution = b.layout().distribution()}) - b;
  const double n = static_cast<double>(a.shape()[0]);
  if (!(norm<double>(rest) <= 1e-15 * n * norm<double>(a) * norm<double>(x)))
    throw Error(name + ": the result is wrong");
}

}  // namespace partita::benchmarks
