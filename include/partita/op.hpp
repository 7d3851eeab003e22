// op(X): a matrix, its transpose or its conjugate transpose, as in BLAS.
#pragma once

#include <cstdint>
#include <partita/names.hpp>
#include <string_view>

namespace partita {

/// op(X) of a matrix X.
enum class Op : std::uint8_t {
  none,
  transpose,
  conjugate_transpose,  ///< as transpose for a real matrix
  conjugate,            ///< without transposition
};
template <>
struct OptionWords<Op> {
  static constexpr std::string_view what = "op";
  static constexpr std::string_view words[]{"none", "transpose", "conjugate-transpose", "conjugate"};
};

}  // namespace partita
