// What a planner needs to know of an array.
#pragma once

#include <partita/dtype.hpp>
#include <partita/layout.hpp>
#include <partita/names.hpp>
#include <partita/view.hpp>
#include <string>

namespace partita {

/// Where the local parts live.
enum class Residency : std::uint8_t {
  heap,      ///< on the symmetric heap: peers of the same node can read them in place
  ordinary,  ///< any other memory
};
template <>
struct OptionWords<Residency> {
  static constexpr std::string_view what = "residency";
  static constexpr std::string_view words[]{"heap", "ordinary"};
};

/// A value, the same on all ranks (the worst residency of any rank counts); another Operand means another
/// plan.
struct PARTITA_API Operand {
  Layout layout;             ///< who has what
  Dtype dtype = Dtype::f64;  ///< of the elements
  /// The dimensions from slowest to fastest in memory: {0, 1, 2} is row-major, {2, 1, 0} column-major.
  Extents axis_order;
  /// The local parts are dense in that order. Otherwise the strides are each rank's own business, known when
  /// a plan is bound, and peers cannot read the memory in place.
  bool dense = true;
  MemorySpace space = MemorySpace::host;      ///< of all local parts
  Residency residency = Residency::ordinary;  ///< likewise

  /// Dense, in the given order.
  static Operand of(Layout layout, Dtype dtype, Order order = Order::row_major,
                    Residency residency = Residency::ordinary);

  /// The transposed operand on the same memory: dimension i of the result is dimension axes[i] of this one.
  Operand permuted(std::span<const int> axes) const;

  /// Strides of rank's dense local part, in elements. Throws ArgumentError if the operand is not dense.
  Strides local_strides(int rank) const;

  /// "8192x8192 slab:0 over 4 ranks, f64, row-major, heap": identifies the operand; ranks compare its hash.
  std::string to_string() const;
};

}  // namespace partita
