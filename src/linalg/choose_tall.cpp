// The methods of tall QR factorizations: which is tried first, and which next.
#include <algorithm>
#include <cmath>

#include "linalg/numbers.hpp"
#include "linalg/tall.hpp"
#include "plan/cost.hpp"

namespace partita::linear {

bool is_tall(const Operand& a) {
  if (a.layout.dimensions() != 2) return false;
  const std::int64_t m = a.layout.shape()[0], n = a.layout.shape()[1];
  return n > 0 && n <= most_tall_columns && m >= 4 * n;
}

bool suits_tsqr(const Operand& a) {
  const std::int64_t m = a.layout.shape()[0], n = a.layout.shape()[1], ranks = a.layout.ranks();
  return is_tall(a) && ranks > 1 && m / ranks >= 2 * ranks * n;
}

namespace {

/// Predicted seconds of one rank. Each part takes the longer of its operations and of its passes over the
/// rank's rows:
///
///     CholeskyQR2  twice a product of n^2 elements over all rows, which reads A, and a triangular solve,
///     which
///                  reads and writes; then two sums over all ranks, two Cholesky factors by one core each,
///                  and about 50 short steps
///     reflectors   2 m n^2 operations for R and as many for Q, at `share` of the rate of products: on hosts
///                  that of recursive panels, on devices that of panels of few columns in measurements; or
///                  five passes each; the triangles of all ranks; without TSQR one rank at a time works on a
///                  panel
class TallPrice {
 public:
  TallPrice(const Operand& a, bool forms_q, const Topology& topology, const Machine& machine)
      : a_(a),
        machine_(machine),
        n_(static_cast<double>(a.layout.shape()[1])),
        ranks_(topology.ranks()),
        rows_(std::ceil(static_cast<double>(a.layout.shape()[0]) / ranks_)),
        rate_(machine.product_flops(a.dtype) / (is_complex(a.dtype) ? 4 : 1)),
        pass_(rows_ * n_ * static_cast<double>(size_of(a.dtype)) / bandwidth(topology)),
        latency_(topology.node_count() > 1 ? machine.network_latency : machine.signal_latency),
        forms_q_(forms_q) {}

  double cholesky() const {
    const double gram = std::max(2 * rows_ * n_ * n_ / rate_, pass_);
    const double solve = std::max(rows_ * n_ * n_ / rate_, 2 * pass_);
    const double small = 2 * n_ * n_ * n_ / (rate_ / 4) + 50 * machine_.copy_latency;
    return 2 * gram + (forms_q_ ? 2 : 1) * solve + small + 2 * exchange(2 * n_ * n_);
  }

  double reflectors() const {
    const bool by_rows = suits_tsqr(a_);
    const double share = a_.space == MemorySpace::device ? 0.05 : 0.4;
    const double rows = by_rows || ranks_ == 1 ? rows_ : rows_ * ranks_;
    const double launches = a_.space == MemorySpace::device ? 8 * n_ * machine_.copy_latency : 0;
    const double row = 2 * n_ * n_ / (share * rate_);
    const double half = std::max({rows * row, 5 * pass_, launches}) + (by_rows ? ranks_ * n_ * row : 0);
    const double moved = by_rows ? exchange(ranks_ * n_ * n_) : 2 * pass_ + exchange(2 * rows_ * n_);
    return (forms_q_ ? 2 : 1) * half + moved + 10 * machine_.copy_latency;
  }

 private:
  double bandwidth(const Topology& topology) const {
    if (a_.space == MemorySpace::device) return machine_.copy_bandwidth;
    return std::min(machine_.copy_bandwidth,
                    machine_.node_copy_bandwidth / planning::ranks_on_node(topology, 0));
  }
  double exchange(double elements) const {
    if (ranks_ == 1) return 0;
    return 4 * latency_ + elements * static_cast<double>(size_of(a_.dtype)) / machine_.network_bandwidth;
  }

  const Operand& a_;
  const Machine& machine_;
  double n_, ranks_, rows_, rate_;
  double pass_;  // seconds in which the rank's rows are read
  double latency_;
  bool forms_q_;
};

/// Up to this distance from the unit matrix, another round leaves rounding errors only.
constexpr double nearly_orthonormal = 5.0 / 64;
/// The largest condition of A, relative to that of orthonormal columns, for which an inverse of R is applied:
/// the residual A - Q R grows with it.
constexpr double most_inverted = 16;

}  // namespace

TallMethod choose_tall_method(const Operand& a, bool forms_q, const Topology& topology,
                              const Machine& machine) {
  const TallPrice price(a, forms_q, topology, machine);
  if (!(price.cholesky() < price.reflectors())) return TallMethod::reflectors;
  return a.space == MemorySpace::device ? TallMethod::inverses : TallMethod::solves;
}

std::optional<TallMethod> next_tall_method(TallMethod tried, std::int64_t columns,
                                           const TallMeasures& measures) {
  const bool is_orthonormal = measures.is_definite && measures.distance <= nearly_orthonormal;
  const bool is_inverted = tried == TallMethod::inverses;
  if (is_orthonormal && !is_inverted) return std::nullopt;
  if (is_orthonormal && measures.condition <= most_inverted * static_cast<double>(columns))
    return std::nullopt;
  if (tried == TallMethod::shifted || !std::isfinite(measures.squares) || measures.squares == 0)
    return TallMethod::reflectors;
  return is_orthonormal ? TallMethod::solves : TallMethod::shifted;
}

double shift_of(const Shape& shape, Dtype dtype, double squares) {
  const auto m = static_cast<double>(shape[0]), n = static_cast<double>(shape[1]);
  return 11 * (std::sqrt(m) * n + n * (n + 1)) * (epsilon_of(dtype) / 2) * squares;
}

}  // namespace partita::linear
