// Random multiplies of matrices cut along k, in device memory.
#pragma once

#include <cmath>
#include <random>

#include "support/models/matmul_case.hpp"

namespace partita::testing {

/// None of the machine's rates has to do with another.
class CutAlongK {
 public:
  CutAlongK(std::uint64_t seed, int least_ranks, int most_ranks, Dtype dtype, int longest, int deepest)
      : random_(seed), dtype_(dtype) {
    ranks = any(least_ranks, most_ranks);
    test.topology = Topology::regular(ranks);
    test.m = any(1, longest), test.n = any(1, longest), test.k = any(ranks, deepest);
  }

  int any(int first, int last) { return std::uniform_int_distribution(first, last)(random_); }

  Operand operand(const Distribution& distribution, std::int64_t rows, std::int64_t columns) {
    Operand one = Operand::of(Layout(distribution, {rows, columns}, ranks), dtype_,
                              any(0, 1) == 0 ? Order::row_major : Order::column_major,
                              any(0, 1) == 0 ? Residency::heap : Residency::ordinary);
    one.space = MemorySpace::device;
    return one;
  }

  /// C, an epilogue and a machine, when there is a D.
  void finish() {
    if (any(0, 2) == 0) {
      test.operands.c = test.operands.d;
      test.in_place = any(0, 1) == 0;
      test.parameters.beta = 2;
    }
    if (!is_complex(dtype_) && any(0, 2) == 0) test.options.epilogue = Epilogue::relu;
    const auto rate = [&](double least) { return least * std::pow(10.0, any(0, 40) / 10.0); };
    test.machine.copy_latency = test.machine.signal_latency = 0;
    test.machine.peer_bandwidth = rate(1e8);
    test.machine.copy_bandwidth = rate(1e8);
    test.machine.flops = rate(1e7);
  }

  MatmulCase test;
  int ranks = 0;

 private:
  std::mt19937_64 random_;
  Dtype dtype_;
};

}  // namespace partita::testing
