// Verification of plans with compute steps, on numbers and without execution on ranks.
#pragma once

#include <complex>
#include <partita/plan.hpp>

namespace partita {

/// The contents of an operand buffer for `verify_numbers`, as functions of global indices. They are called
/// for every element that a rank owns, in one thread.
struct OperandNumbers {
  /// The type of elements; real arrays use the real part.
  using Number = std::complex<double>;
  int buffer = 0;
  /// Initial values, by contribution (0 if the array is not partial). If unset: NaN.
  std::function<Number(const Index& at, int contribution)> given = {};
  /// Expected final values, with contributions summed. If unset: not checked.
  std::function<Number(const Index& at)> wanted = {};
  /// Number of the operand buffer with the same operand that shares this memory. -1: none.
  int in_place_of = -1;
};

/// As `verify`, on numbers, for plans with compute steps. Works are evaluated by their definitions in double
/// precision, regardless of dtypes; results may differ from the expected value by 1e-9 relative to the larger
/// of its magnitude and 1. Unwritten memory is NaN. In addition to the faults of messages, signals, waits and
/// memory accesses that `verify` finds, it finds every wrong number. Throws ArgumentError if a buffer is not
/// an operand on all ranks. Local, thread-safe; use it for arrays of about 10^4 elements.
PARTITA_API Verdict verify_numbers(const Planner& planner, const std::vector<OperandNumbers>& operands,
                                   const Parameters& parameters = {}, int schedules = 4,
                                   std::uint64_t seed = 1);

}  // namespace partita
