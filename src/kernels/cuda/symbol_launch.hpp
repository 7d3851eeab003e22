// Spectra in device memory multiplied by symbols, started by a plain function.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>

#include "base/element_functions.hpp"

namespace partita::kernels::cuda {

/// See partita::kernels::SymbolPass: to, from; terms are in device memory.
struct SymbolProduct {
  static constexpr int most_loops = 16;
  Symbol symbol = Symbol::inverse_laplacian;
  Dtype dtype = Dtype::c128;
  void* data[2] = {};
  int loops = 0;
  std::int64_t counts[most_loops] = {};  // outermost first
  std::int64_t strides[most_loops][2] = {};
  const double* terms[most_loops] = {};
};

/// A cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_symbol(const SymbolProduct& what, void* stream);

/// As load_copy_kernels.
int load_symbol_kernels();

}  // namespace partita::kernels::cuda
