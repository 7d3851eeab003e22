// What every routine of the drop-in does around its work.
#pragma once

#include <complex>
#include <exception>
#include <optional>
#include <partita/matmul.hpp>

#include "blacs.hpp"

namespace partita::scalapack {

/// A routine's name as errors say it, and as the loader knows it: "PDGEMM", "pdgemm_".
struct Routine {
  const char* name;
  const char* symbol;
};

/// Calls of this process that were computed here, and handed on.
void count_call();
void count_handed_on();

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
  count_handed_on();
  function(arguments...);
  return true;
}

/// 'N', 'T' or 'C', in either case.
inline std::optional<Op> op_of(char letter) {
  switch (letter) {
    case 'N':
    case 'n':
      return Op::none;
    case 'T':
    case 't':
      return Op::transpose;
    case 'C':
    case 'c':
      return Op::conjugate_transpose;
    default:
      return std::nullopt;
  }
}

}  // namespace partita::scalapack
