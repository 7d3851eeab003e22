// Columns of a matrix in device memory that have numbers which are not finite, started by plain functions.
#pragma once

#include <cstdint>

namespace partita::kernels::cuda {

/// A column-major matrix of real numbers; complex ones are two each, in twice as many rows.
struct RealColumns {
  void* data = nullptr;
  bool single = false;  ///< f32; else f64
  std::int64_t rows = 0, columns = 0;
  std::int64_t leading = 1;
};

/// `first`: in device memory; the first column with a number that is not finite, or a number above all
/// columns. A cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_find_not_finite(const RealColumns& what, std::uint64_t* first, void* stream);
/// Columns `first` and those behind it become NaN, and a `status` that names one of them, counted from 1, is
/// 0.
int launch_spoil_columns(const RealColumns& what, const std::uint64_t* first, std::int32_t* status,
                         void* stream);

/// As load_copy_kernels.
int load_not_finite_kernels();

}  // namespace partita::kernels::cuda
