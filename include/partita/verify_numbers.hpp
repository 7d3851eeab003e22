// Plans that compute, checked on numbers before they meet a machine.
#pragma once

#include <complex>
#include <partita/plan.hpp>

namespace partita {

/// What stands in an operand buffer of the plans that `verify_numbers` runs, by global index. The functions
/// are asked for every element that some rank holds, in one thread.
struct OperandNumbers {
  /// Of real arrays the real part.
  using Number = std::complex<double>;
  int buffer = 0;
  /// What the caller puts there, by contribution (0 where the array is not partial). None: NaN.
  std::function<Number(const Index& at, int contribution)> given = {};
  /// What must stand there in the end, contributions summed up. None: anything.
  std::function<Number(const Index& at)> wanted = {};
  /// Another operand buffer, of a like operand, whose memory this is, too. -1: none.
  int in_place_of = -1;
};

/// As `verify`, on numbers: for plans that compute. The works are carried out by their definitions, in double
/// precision, whatever the dtypes; what is compared may differ by 1e-9 of the wanted number and 1. Memory
/// that nobody has written is NaN. Beside what `verify` finds of messages, signals, waits, and of who may
/// touch which memory when, it finds every wrong number. Throws ArgumentError where a buffer is no operand of
/// all ranks. Local, thread-safe; meant for arrays of some 10^4 elements.
PARTITA_API Verdict verify_numbers(const Planner& planner, const std::vector<OperandNumbers>& operands,
                                   const Parameters& parameters = {}, int schedules = 4,
                                   std::uint64_t seed = 1);

}  // namespace partita
