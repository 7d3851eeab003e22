// Which dtypes multiply, into what, and how that is computed.
#pragma once

#include <partita/matmul.hpp>

namespace partita::multiplication {

/// In which the products of factors of this dtype are summed up, whatever their compute type.
Dtype sum_dtype(Dtype factors);

/// Operations on real numbers of a multiply-add.
inline double operations_of(Dtype compute) {
  return is_complex(compute) ? 8 : 2;
}

/// Throws ArgumentError where the dtypes are not supported together, UnsupportedError where they are not
/// computed so; the texts list what is supported. The same for every rank.
void check_dtypes(Dtype a, Dtype b, Dtype d, const MatmulOptions& options);

}  // namespace partita::multiplication
