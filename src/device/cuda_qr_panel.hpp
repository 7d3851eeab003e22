// QR factorizations of panels on CUDA devices by kernels of the library and by products, where cuSOLVER's
// geqrf, a kernel or two per column, is several times slower.
#pragma once

#include "device/cuda_factor_handles.hpp"

namespace partita::devices {

/// Whether factor_qr_panel factorizes it on the current device: not wider than it is high, neither very high
/// nor very wide, compute capability 9.0 or later.
bool has_qr_panel(const DeviceFactorization& what);
std::int64_t qr_panel_workspace_bytes(const DeviceFactorization& what);

struct QrPanelPlaces {
  void* panel = nullptr;
  void* factors = nullptr;  ///< tau
  void* status = nullptr;
  void* workspace = nullptr;
};

/// In LAPACK's form. Recursive (Elmroth and Gustavson 2000): the left half of the columns is factorized, its
/// reflectors are applied to the right half, which then is factorized. Few columns are factorized by one
/// kernel. Reflectors are applied as I - V T V^H, where T^-1 has V^H V above its diagonal and 1 / tau on it
/// (Joffrin, Low, Quintana-Orti, van de Geijn 2006: Accumulating Householder transformations, revisited).
void factor_qr_panel(const CudaFactorHandles& handles, const DeviceFactorization& what,
                     const QrPanelPlaces& places, Stream stream);

}  // namespace partita::devices
