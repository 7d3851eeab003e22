// Which calls go to the next routine because they are small.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "arguments.hpp"

namespace partita::scalapack {

/// Sizes of one process's share of a call. Below `smallest`, ScaLAPACK's own is faster. Below
/// `worth_planning` it is, too, where a call of this kind comes once only (as in a factorisation, whose
/// shapes differ at every step): the first such call is forwarded to ScaLAPACK, the next use the plan that is
/// made then.
struct Threshold {
  double smallest;
  double worth_planning;
};

/// Multiplications m n k, a complex one counted as four.
inline constexpr Threshold product_threshold{1.5e6, 1e8};
/// From product_threshold.smallest up to here, which way is faster depends on the machine: calls of a kind
/// try both (see trial.hpp) where there is a next routine.
inline constexpr double largest_tried_product = 5e7;
/// Bytes of p?geadd and p?tran.
inline constexpr Threshold sum_threshold{128.0 * 1024, 8.0 * 1024 * 1024};
/// Bytes of p?gemr2d.
inline constexpr Threshold copy_threshold{64.0 * 1024, 8.0 * 1024 * 1024};

/// Multiplications of factorizations: m n min(m, n), a complex one counted as four.
inline constexpr double lu_threshold = 4e6;
inline constexpr double cholesky_threshold = 2e8;
inline constexpr double qr_threshold = 4e6;
/// Of solves with given factors: n n r. For fewer right-hand sides ScaLAPACK is faster at every size: it
/// reads the factors where they are stored.
constexpr double solve_threshold(int right_sides) {
  constexpr int fewest = 32;
  return right_sides < fewest ? 1e300 : 8e6;
}
/// Of p?trsm, and of p?syrk and p?herk.
inline constexpr Threshold triangular_threshold{5e7, 2e8};
inline constexpr Threshold rank_k_threshold{1e9, 1e9};

/// Whether a call of this size is computed here.
bool is_large(double size, double smallest);
/// Whether products of this size are to be tried both ways.
bool is_tried_product(double size);

/// What tells calls apart, as far as all processes of the grid know it alike: neither LLD nor handles.
class CallKey {
 public:
  CallKey& add(std::int64_t number);
  CallKey& add(const SubMatrix& matrix);
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

/// The calls that a grid has seen, the same on all its processes, since all make the same calls.
class SeenCalls {
 public:
  /// Whether a call of this size is to be computed here; notes it.
  bool worth(double size, const Threshold& threshold, const CallKey& key);

 private:
  static constexpr std::size_t most = 1024;
  std::unordered_map<std::uint64_t, int> times_;
};

}  // namespace partita::scalapack
