// The diagonal of factors, on the ranks that own it.
#pragma once

#include <complex>
#include <cstdint>
#include <partita/array.hpp>
#include <vector>

#include "linalg/panels.hpp"

namespace partita::linear {

/// Consecutive columns of a rank that belong to one panel; on a grid with the rank's rows of it.
struct LocalPanel {
  int panel = 0;
  std::int64_t first_local = 0;  ///< column of the local part
  std::int64_t columns = 0;
};
/// Those of a rank, in order, also behind the last panel that is factorized.
std::vector<LocalPanel> local_panels(const Panels& panels, int rank);

/// One element of the diagonal.
struct DiagonalElement {
  std::int64_t index = 0;
  std::complex<double> value = 0;
};
/// This rank's. Local, blocking.
std::vector<DiagonalElement> local_diagonal(const Array& factor, const Panels& panels);

/// Zeros on the diagonal of a square array like factors. Local, blocking.
void clear_diagonal(const Array& array, const Panels& panels);

/// Zeros above the diagonal (`lower`), or below it, in an array like factors. Local, blocking.
void clear_other_triangle(const Array& array, const Panels& panels, bool lower);

}  // namespace partita::linear
