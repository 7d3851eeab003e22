// QR factorizations of panels in device memory: a few columns by a cluster of thread blocks, and the small
// steps between the products that apply their reflectors; started by plain functions. See
// device/cuda_qr_panel.hpp.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>

namespace partita::kernels::cuda {

/// Columns first, .., first + columns - 1 of a column-major matrix: `data` is at row and column `first`.
/// Dtypes: f32, f64, c64, c128.
struct QrColumns {
  Dtype dtype = Dtype::f64;
  void* data = nullptr;
  std::int64_t leading = 1;
  std::int64_t rows = 0;  ///< from `first` on
  int columns = 0;
  void* factors = nullptr;  ///< tau of these columns
};

/// What launch_qr_columns factorizes at most; 0: it cannot, as there are too many rows.
int most_qr_columns(Dtype dtype, std::int64_t rows);
/// Whether the current device runs it: compute capability 9.0 or later, and a large part of the device.
bool has_qr_columns();
/// LAPACK's geqr2: columns <= rows. A cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_qr_columns(const QrColumns& what, void* stream);

/// k reflectors (`of`), and `columns` columns behind them. `sums`: [k, k + columns], V^H [V C] of the rows
/// below the first k on entry.
struct QrApplication {
  QrColumns of;
  int columns = 0;
  void* sums = nullptr;
  void* top = nullptr;  ///< [k, k + columns]
};

/// Most reflectors and most columns of launch_qr_application.
int most_in_qr_application(Dtype dtype);
/// Completes the sums by the first k rows, replaces those of C by Y = T^H V^H C, and updates C's first k
/// rows.
int launch_qr_application(const QrApplication& what, void* stream);
/// For more of them: `top` = [V C] of the first k rows, with V's ones and zeros.
int launch_qr_top(const QrApplication& what, void* stream);
/// The diagonal of the triangle T^-1, which has V^H V above it: 1 / tau.
int launch_qr_diagonal(const QrApplication& what, void* stream);

/// As load_copy_kernels.
int load_qr_kernels();
int load_qr_application_kernels();  ///< of these, those of qr_application.cu

}  // namespace partita::kernels::cuda
