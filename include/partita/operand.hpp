// Operands: the properties of an array that planners use.
#pragma once

#include <partita/dtype.hpp>
#include <partita/layout.hpp>
#include <partita/names.hpp>
#include <partita/view.hpp>
#include <string>

namespace partita {

/// Memory of the local parts.
enum class Residency : std::uint8_t {
  heap,      ///< symmetric heap: peers of the same node can access it in place
  ordinary,  ///< any other memory
};
template <>
struct OptionWords<Residency> {
  static constexpr std::string_view what = "residency";
  static constexpr std::string_view words[]{"heap", "ordinary"};
};

/// The description of an array, the same on all ranks (`ordinary` if it is so on any rank). Plans are made
/// for operands. A value.
struct PARTITA_API Operand {
  Layout layout;             ///< which rank owns which elements
  Dtype dtype = Dtype::f64;  ///< dtype of the elements
  /// The dimensions from slowest to fastest in memory: {0, 1, 2} is row-major, {2, 1, 0} column-major.
  Extents axis_order;
  /// Whether the local parts are dense in that order. If not, the strides may differ between ranks, are known
  /// when a plan is bound, and peers cannot access the memory in place.
  bool dense = true;
  MemorySpace space = MemorySpace::host;      ///< of all local parts
  Residency residency = Residency::ordinary;  ///< of all local parts

  /// The operand of dense host memory in the given order.
  static Operand of(Layout layout, Dtype dtype, Order order = Order::row_major,
                    Residency residency = Residency::ordinary);

  /// The operand of the transposed view: dimension i of the result is dimension axes[i] of this operand.
  Operand permuted(std::span<const int> axes) const;

  /// Strides of the dense local part of `rank`, in elements. Throws ArgumentError if the operand is not
  /// dense.
  Strides local_strides(int rank) const;

  /// Text form: "8192x8192 slab:0 over 4 ranks, f64, row-major, heap". It identifies the operand; ranks
  /// compare its hash.
  std::string to_string() const;
};

}  // namespace partita
