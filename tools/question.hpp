// An operation on arrays that the command line describes: what `plan` and `trace` ask about; and what `plan`
// is asked besides.
#pragma once

#include <partita/machine.hpp>

#include "tools/subcommand.hpp"

namespace partita::tools {

struct Question {
  Operation operation = Operation::redistribute;
  std::optional<Distribution> from, to;
  Shape shape;  ///< of the source; m, n, k of a multiply; m, n of a matrix, then right-hand sides
  std::optional<Dtype> dtype;
  std::vector<int> axes;
  std::string method = "automatic";
  MatmulOptions product;  ///< op, and the distribution of D
  FactorOptions factors;  ///< of a factorization, and of the one that a solve uses
  std::string machine;
  bool ordinary = false;
  bool on_gpu = false;
  int ranks = 0;

  Residency residency() const { return ordinary ? Residency::ordinary : Residency::heap; }
  bool factorizes() const;  ///< cholesky, lu, qr
  bool is_linear() const;   ///< these, and solve
  /// Of all ranks, on its own side of the bus.
  Operand operand(const Distribution& distribution, const Shape& shape, Dtype element, int of_ranks) const;
  /// The name that was given, else the usual one of GPUs; empty: what `Machine::here` says.
  std::string machine_name() const;
  /// As many as were asked for, else as the distributions name, else so many.
  int ranks_or(int otherwise) const;

  // Each throws UsageError where the words do not suit the operation.
  /// A transform's second may be missing, and that of a solve; a factorization has none.
  void check_distributions() const;
  RedistributeOptions redistribute_options() const;
  MatmulOptions matmul_options() const;
  FftOptions fft_options() const;       ///< into TO, or into what costs least
  Factorization factorization() const;  ///< that of a solve is its method
  Dtype dtype_or_usual() const;         ///< c128 of a transform, else f64
  Shape destination_shape() const;      ///< of a redistribution
  Shape shape_of_a() const;             ///< of a multiply
  Shape shape_of_b() const;
  Operand matrix(int ranks) const;  ///< that is factorized
  /// Of a solve: of the matrix's rows (B) or columns (X), as op(A) says.
  Operand right_hand_sides(int ranks, bool of_b) const;
};

/// The options that say all but the operation and the distributions.
void describe(Subcommand& command, Question& question);

struct PlanOptions {
  Question question;
  double memory = 0;  ///< of a rank, in shares of a multiply's operands; 0: both without limit and 1.5
  int ranks_per_node = -1;
  int rank = 0;  ///< whose steps are listed
  bool steps = false, json = false, verify = false;
};

/// Where it would run.
struct Setting {
  Topology topology;
  Machine machine;
};

/// Prints what a multiply would move, and the lower bound. No MPI.
void plan_multiply(const PlanOptions& options, const Setting& setting);

/// Of a factorization, or of a solve with its factors.
Planner planner_of_linear(const Question& question, const Topology& topology, const Machine& machine);
/// Bytes that a rank receives on average, at least, if each rank updates its own blocks of a matrix that is
/// distributed in both dimensions: the rows of L and the columns of U of its blocks. With a grid of r x c
/// ranks that is |L| / r + |U| / c without the owned parts, so 2 sqrt(|L| |U| / P) - (|L| + |U|) / P for the
/// best grid. Cholesky: U = L^H; QR: the reflectors and R.
double bytes_of_grid(const Question& question, int ranks);

}  // namespace partita::tools
