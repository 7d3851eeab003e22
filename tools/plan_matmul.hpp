// partita plan --operation matmul: what a multiply would move on any number of ranks, beside the lower bound.
#pragma once

#include <partita/matmul.hpp>
#include <string>

namespace partita::tools {

/// What is multiplied, and on what.
struct MatmulQuestion {
  std::string a, b, d;  ///< distributions; d may be empty: the cheapest
  std::int64_t m = 0, n = 0, k = 0;
  Dtype dtype = Dtype::f64;
  Residency residency = Residency::heap;
  MatmulOptions options;
  double memory = 0;  ///< of a rank, in shares of the operands; 0: both without limit and 1.5
  Topology topology;
  Machine machine;
  int rank = 0;  ///< whose steps are listed
  bool steps = false;
  bool json = false;
};

/// Prints the answer. No MPI.
void answer(const MatmulQuestion& question);

}  // namespace partita::tools
