// One multiply, checked and written in op-space: what every part of the planner reads.
#pragma once

#include <memory>
#include <optional>
#include <partita/fact.hpp>
#include <partita/matmul.hpp>
#include <string>
#include <vector>

#include "matmul/emit/groups.hpp"

namespace partita::multiplication {

/// What every rank holds of an operand, worked out once for all that look at all ranks. A value, cheap to
/// copy (shared, immutable); thread-safe. Making it takes time and memory in proportion to the ranks.
class OwnedRegions {
 public:
  explicit OwnedRegions(const Layout& layout);

  const Region& by(int rank) const { return state_->regions[static_cast<std::size_t>(rank)]; }
  /// The first of the ranks that hold the same region as this one, which holds something.
  int first_holder(int rank) const {
    return state_->first.empty() ? rank : state_->first[static_cast<std::size_t>(rank)];
  }
  std::int64_t elements() const { return state_->elements; }  ///< over all ranks, replicas counted

 private:
  struct State {
    std::vector<Region> regions;  // by rank
    std::vector<int> first;       // by rank; empty: each holds what no other rank does
    std::int64_t elements = 0;
  };
  std::shared_ptr<const State> state_;
};

/// A, B or D. A value.
struct HeldOperand : Operand {
  HeldOperand(Operand operand) : Operand(std::move(operand)), held(layout) {}  // NOLINT: the same thing
  bool batched() const { return layout.dimensions() > 2; }                     ///< has leading dimensions

  OwnedRegions held;
};

/// Whether a rank that holds the one has all of the other.
bool covers(const Region& held, const Region& wanted);

/// Elements that both regions hold.
std::int64_t common_size(const Region& a, const Region& b);

/// Smallest index along each dimension; the region must not be empty.
Index front(const Region& region);

/// Whether the first element of a piece is in `held`: all of it then, where a piece has one owner. Neither is
/// empty.
bool holds_front(const Region& held, const Region& piece);

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
  std::optional<Operand> scale_a, scale_b, scale_d, amax_d;
  Topology topology;
  int rank = 0;
  MatmulOptions options;
  Machine machine;
  bool in_place = false;  ///< c and d are the same memory
  /// Messages are sent in groups (Plan::grouped). Then each rank counts as a separate node, as `topology`
  /// so. Nothing: as the host's MessageExchange carries them.
  std::optional<Groups> groups = {};
  bool conjugate_a = false;
  bool conjugate_b = false;
  Dtype compute = Dtype::f64;  ///< of sums
  Dtype reduced = Dtype::f64;  ///< of those that ranks send each other
  EpilogueParts epilogue = {};
  /// Bytes of scratch that the plan needs in addition to the multiply itself, the same on every rank: what is
  /// redistributed before and after it. Where every rank multiplies what it holds of D, and elsewhere.
  std::int64_t beside_stationary = 0;
  std::int64_t beside_moving = 0;

  const HeldOperand& input(bool of_a) const { return of_a ? a : b; }
  HeldOperand& input(bool of_a) { return of_a ? a : b; }
  int ranks() const { return topology.ranks(); }
  bool grouped() const { return groups.has_value(); }
  int batches() const { return d.layout.dimensions() - 2; }  ///< leading dimensions of D
  std::int64_t m() const { return d.layout.shape()[batches()]; }
  std::int64_t n() const { return d.layout.shape()[batches() + 1]; }
  std::int64_t k() const { return a.layout.shape()[a.layout.dimensions() - 1]; }
  /// The product is not D but for what is added to it.
  bool scales_product() const { return scale_a || scale_b; }
  /// Whether all operands are in device memory; otherwise all are in host memory.
  bool on_device() const { return d.space == MemorySpace::device; }
  /// D = F(beta C), and neither A nor B is read.
  bool multiplies_nothing() const { return k() == 0 || options.alpha == std::complex<double>(0); }
};

/// Throws ArgumentError (the same text for every valid rank) where the operands do not fit each other.
Problem make_problem(const MatmulOperands& operands, const Topology& topology, int rank,
                     const MatmulOptions& options, const Machine& machine, bool in_place);

/// Throws ArgumentError if the requested distribution differs from D's.
void check_distribution(const Distribution& wanted, const Layout& d);

/// Calls `visit(name, value)` with each option that a plan depends on.
template <class Visit>
void for_each_option(const MatmulOptions& options, bool in_place, Visit&& visit) {
  visit("op_a", options.op_a);
  visit("op_b", options.op_b);
  visit("epilogue", options.epilogue);
  visit("result", options.result);
  visit("compute", options.compute);
  visit("scale", options.scale);
  visit("scale_mode", options.scale_mode);
  visit("reduce", options.reduce_dtype);
  visit("method", options.method);
  visit("memory", options.memory_limit);
  visit("in_place", in_place);
  visit("multiplies", options.alpha != std::complex<double>(0));
}

/// Operands and options, one by one: the plan's identity. alpha and beta are no part of a plan but for
/// whether alpha is 0.
std::vector<Fact> facts(const MatmulOperands& operands, const MatmulOptions& options, bool in_place);

/// The operand as op(X) sees it: the last two dimensions exchanged where the op transposes.
Operand op_space(const Operand& operand, Op op);
/// The order of axes in which it sees them.
std::vector<int> axes_of(Op op, int dimensions);
bool transposes(Op op);
bool conjugates(Op op);

}  // namespace partita::multiplication
