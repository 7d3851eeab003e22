// Matrices that are hard to factorize, or cannot be solved with.
#pragma once

#include "support/models/linear_model.hpp"

namespace partita::testing {

/// Rows and columns of sizes from 1 to 1e-8.
inline DenseMatrix graded(std::int64_t n, Dtype dtype) {
  DenseMatrix a = random_numbers(n, n, dtype, 30);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i)
      a(i, j) *= std::pow(10, -4.0 * static_cast<double>(i + j) / static_cast<double>(n));
  }
  return a;
}
/// The last row is almost the sum of the others.
inline DenseMatrix nearly_singular(std::int64_t n, Dtype dtype) {
  DenseMatrix a = random_numbers(n, n, dtype, 31);
  for (std::int64_t j = 0; j < n; ++j) {
    a(n - 1, j) = j == 0 ? 1e-5 : 0;
    for (std::int64_t i = 0; i < n - 1; ++i) a(n - 1, j) += a(i, j);
  }
  return a;
}
/// Wilkinson's: pivots grow to 2^(n - 1).
inline DenseMatrix growing(std::int64_t n) {
  DenseMatrix a = identity(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) a(i, j) = -1;
    a(i, n - 1) = 1;
  }
  return a;
}

/// The text and the index of the error.
inline std::string singular_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const SingularError& error) {
    return fmt::format("{} {}", error.index(), error.what());
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
  }
  return "";
}

}  // namespace partita::testing
