// A multiply as calls of a device's BLAS.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "device/device_math.hpp"
#include "execute/works/device_packed_multiply.hpp"

namespace partita::execution {

/// One product; for a row-major result the factors are exchanged: C^T = B^T A^T.
struct BlasCall {
  devices::DeviceGemm what;
  std::array<std::int64_t, 3> offset{};  ///< of a, b and to, in elements
  bool exchanged = false;
  bool first = false;  ///< onto its elements of `to`
  std::shared_ptr<devices::DeviceProduct> product = nullptr;
};

/// Every call is made for every batch. Evenly spaced matrices of a batch use one call.
struct BlasCalls {
  std::vector<ProductShape::Batch> batches;
  std::vector<BlasCall> calls;
};

/// Of a multiply that is not empty. Nothing is prepared yet.
BlasCalls blas_calls(const PackedMultiply& packed);

}  // namespace partita::execution
