// What every routine of the drop-in does around its work.
#pragma once

#include <array>
#include <atomic>
#include <complex>
#include <exception>
#include <optional>
#include <partita/error.hpp>
#include <partita/export.hpp>
#include <partita/matmul.hpp>
#include <string_view>

#include "blacs.hpp"

namespace partita::scalapack {

/// A routine's name as errors say it, and as the loader knows it: "PDGEMM", "pdgemm_".
struct Routine {
  const char* name;
  const char* symbol;
};

/// Of this process.
struct Calls {
  std::atomic<long> computed{0};  ///< here
  std::atomic<long> handed_on{0};
  std::atomic<long> on_devices{0};  ///< of those that are computed here
};
extern Calls calls;

/// No exception passes into Fortran.
template <class Body>
void run(int blacs_context, const Routine& routine, Body&& body) noexcept {
  try {
    body();
  } catch (const std::exception& error) {
    stop(blacs_context, routine.name, error.what());
  }
}

/// The next routine of this name, called with the same arguments. False: there is none.
template <class... Arguments>
bool hand_on(const Routine& routine, Arguments... arguments) {
  auto* const function = next<void(Arguments...)>(routine.symbol);
  if (function == nullptr) return false;
  ++calls.handed_on;
  function(arguments...);
  return true;
}

/// Computes here; where there is no memory for that, the next routine takes the call. `ours` runs out of
/// memory on all processes alike, and before it has written anything that the next routine reads.
template <class Ours, class HandOn>
void compute_or_hand_on(const Ours& ours, const HandOn& next) {
  try {
    ours();
    ++calls.computed;
    return;
  } catch (const MemoryError&) {
    if (next()) return;
    throw;
  }
}

/// 'N', 'T' or 'C', in either case.
inline std::optional<Op> op_of(char letter) {
  constexpr std::array ops{Op::none, Op::transpose, Op::conjugate_transpose};
  const std::size_t at = std::string_view("NTCntc").find(letter);
  return at == std::string_view::npos ? std::nullopt : std::optional(ops[at % ops.size()]);
}

/// `define` for each of ScaLAPACK's four dtypes: the letter in a routine's name, and the type.
// NOLINTNEXTLINE(bugprone-macro-parentheses): a macro's name
#define PARTITA_EACH_DTYPE(define)                                           \
  define(s, S, float) define(d, D, double) define(c, C, std::complex<float>) \
      define(z, Z, std::complex<double>)

}  // namespace partita::scalapack
