// Below which size a call goes to the next routine.
#pragma once

#include <cstdint>

namespace partita::scalapack {

/// Multiplications (m n k, a complex one counted as four) of one process below which p?gemm is handed on, so
/// that small products are never slower than ScaLAPACK's own. Environment: PARTITA_SCALAPACK_SMALLEST, a
/// number; 0: all are computed here.
double smallest_product();

}  // namespace partita::scalapack
