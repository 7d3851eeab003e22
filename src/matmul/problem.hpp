// One multiply, checked and written in op-space: what every part of the planner reads.
#pragma once

#include <partita/matmul.hpp>

#include "matmul/owned_regions.hpp"

namespace partita::multiplication {

/// What an epilogue asks for, in the terms of work.hpp.
struct EpilogueParts {
  Activation activation = Activation::identity;
  bool bias = false;
  bool auxiliary = false;         ///< there is an auxiliary array, which is
  bool writes_auxiliary = false;  ///< written (relu, gelu) or else read (drelu, dgelu)
  bool gradient = false;          ///< there is a gradient: the sums, into a vector,
  bool gradient_of_d = false;     ///< of D along its rows [m],
  bool gradient_of_a = false;     ///< or of op(A) over k [m],
  bool gradient_of_b = false;     ///< or of op(B) over k [n]
  bool everywhere = false;        ///< all_reduce: D must be replicated
};
EpilogueParts parts_of(Epilogue epilogue);

/// Operands are those of op-space: a is [.., m, k] and b [.., k, n], whatever the ops were (a transposing op
/// is a permuted Operand on the same memory). Leading dimensions are batch: those of D, and of A and B those
/// of D or none (the matrix is then used by every batch).
struct Problem {
  HeldOperand a;
  HeldOperand b;
  std::optional<Operand> c;
  HeldOperand d;
  std::optional<Operand> bias;
  std::optional<Operand> auxiliary;
  std::optional<Operand> gradient;
  Topology topology;
  int rank = 0;
  MatmulOptions options;
  Machine machine;
  bool in_place = false;  ///< c and d are the same memory
  bool conjugate_a = false;
  bool conjugate_b = false;
  Dtype compute = Dtype::f64;
  EpilogueParts epilogue = {};
  /// Bytes of scratch that the plan needs beside the multiply itself, the same on every rank: what is
  /// redistributed before and after it. Where every rank multiplies what it holds of D, and elsewhere.
  std::int64_t beside_stationary = 0;
  std::int64_t beside_moving = 0;

  const HeldOperand& input(bool of_a) const { return of_a ? a : b; }
  HeldOperand& input(bool of_a) { return of_a ? a : b; }
  int ranks() const { return topology.ranks(); }
  int batches() const { return d.layout.dimensions() - 2; }  ///< leading dimensions of D
  std::int64_t m() const { return d.layout.shape()[batches()]; }
  std::int64_t n() const { return d.layout.shape()[batches() + 1]; }
  std::int64_t k() const { return a.layout.shape()[a.layout.dimensions() - 1]; }
  /// All operands lie in device memory; otherwise all in the host's.
  bool on_device() const { return d.space == MemorySpace::device; }
  /// D = F(beta C), and neither A nor B is read.
  bool multiplies_nothing() const { return k() == 0 || options.alpha == std::complex<double>(0); }
};

/// Throws ArgumentError (the same text for every valid rank) where the operands do not fit each other.
Problem make_problem(const MatmulOperands& operands, const Topology& topology, int rank,
                     const MatmulOptions& options, const Machine& machine, bool in_place);

/// The operand as op(X) sees it: the last two dimensions exchanged where the op transposes.
Operand op_space(const Operand& operand, Op op);
/// The order of axes in which it sees them.
std::vector<int> axes_of(Op op, int dimensions);
bool transposes(Op op);
bool conjugates(Op op);

/// In what is summed where nobody says, of operands of this dtype.
Dtype compute_dtype(Dtype operands);

}  // namespace partita::multiplication
