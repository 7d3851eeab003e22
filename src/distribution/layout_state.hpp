#pragma once

#include <atomic>
#include <cstdint>
#include <partita/layout.hpp>

#include "distribution/arrangement.hpp"

namespace partita {

namespace distribution {

/// A number other than 0 that is computed when it is asked for first. Thread-safe: several threads compute
/// the same number.
class LazyNumber {
 public:
  LazyNumber() = default;
  LazyNumber(const LazyNumber&) noexcept {}  // a copied state is changed before it is used
  LazyNumber& operator=(const LazyNumber&) = delete;

  template <class Compute>
  std::uint64_t get(const Compute& compute) const {
    std::uint64_t value = value_.load(std::memory_order_relaxed);
    if (value == 0) {
      value = compute();
      value_.store(value, std::memory_order_relaxed);
    }
    return value;
  }

 private:
  mutable std::atomic<std::uint64_t> value_{0};  // 0: not computed yet
};

}  // namespace distribution

struct Layout::State {
  Distribution distribution;
  Shape shape;
  int ranks = 0;
  std::vector<int> members;                              ///< see Layout::members
  std::optional<distribution::Arrangement> arrangement;  ///< for every rule but Box
  /// Where the rule's array is larger than the layout's: it is [lower, lower + shape) of an array `whole`.
  struct Window {
    Index lower;
    Shape whole;
    friend bool operator==(const Window&, const Window&) = default;
  };
  std::optional<Window> window;  ///< never with Box: boxes are cut
  distribution::LazyNumber hash = {};
  distribution::LazyNumber largest_plus_1 = {};  ///< see Layout::largest_local_size

  const Box* box() const { return distribution.as<Box>(); }
  std::int64_t largest() const;  ///< local size of all ranks

  /// Checks everything that the constructor of Layout promises to check.
  static std::shared_ptr<const State> bind(Distribution distribution, Shape shape, int ranks,
                                           std::vector<int> members = {});
  /// The state without its window.
  std::shared_ptr<const State> unwindowed() const {
    return bind(distribution, window->whole, ranks, members);
  }
};

namespace distribution {

/// What no rank owns: an empty set along each dimension, and one for a scalar.
Region nothing(int dimensions);

/// The place of each of `total` ranks in `ranks`; -1: not there. Throws ArgumentError where one is named
/// twice or is outside.
std::vector<int> places_in(std::span<const int> ranks, int total);
bool counts_up(std::span<const int> ranks);  ///< 0, 1, 2, ...

}  // namespace distribution
}  // namespace partita
