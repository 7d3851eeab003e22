// A spectrum multiplied by a symbol: the number that an operator of derivatives has for each mode.
#pragma once

#include <array>
#include <cstdint>
#include <partita/dtype.hpp>
#include <vector>

#include "base/element_functions.hpp"

namespace partita::kernels {

using partita::Symbol;

/// One loop of a nest; strides are in elements of the parts. `terms`: one for each iteration; null: all are
/// 0.
struct SymbolLoop {
  std::int64_t count = 1;
  std::array<std::int64_t, 2> strides{};
  const double* terms = nullptr;
};

/// to = factor from, where s is the sum of an element's terms and the factor -1/s, or 0 where s is 0
/// (inverse_laplacian, whose terms are squares of wavenumbers), or i s (derivative). c64 or c128; of c64 the
/// sum alone is in f64. `from` may be `to` itself, element by element.
struct SymbolPass {
  enum Part : std::size_t { to, from };
  Symbol symbol = Symbol::inverse_laplacian;
  Dtype dtype = Dtype::c128;
  std::array<void*, 2> data{};
  std::vector<SymbolLoop> loops;  ///< outermost first; no count is 0
};

/// Thread-safe.
void multiply(const SymbolPass& pass);

}  // namespace partita::kernels
