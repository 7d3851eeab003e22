// Where the largest and smallest elements are.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/host/elementwise.hpp"

namespace partita::kernels {

/// to[k] = the r of the first largest a[k, r], or smallest, or of the first NaN: a number in row-major order
/// of the loops over r. `to` is of i64; its strides in these loops are 0.
struct PlacePass {
  Dtype dtype = Dtype::f64;  ///< of a; has an order
  bool smallest = false;
  std::array<void*, 2> data{};        ///< to, a
  std::vector<ElementwiseLoop> kept;  ///< over k; no count is 0
  std::vector<ElementwiseLoop> over;  ///< over r; no count is 0
};

/// With fewer loops; what is kept in the order of `to`.
PlacePass simplify(PlacePass pass);

/// `pass` is simplified. Thread-safe.
void find_places(const PlacePass& pass);

}  // namespace partita::kernels
