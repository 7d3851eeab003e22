// Selection and search among the elements of one rank, and counts of them. Local; on devices stream-ordered,
// unless it says that it blocks.
#pragma once

#include <optional>
#include <partita/array.hpp>
#include <partita/names.hpp>
#include <partita/stream.hpp>

namespace partita {

/// The positions of what is true in this rank's part of an array of booleans, as one sequence in row-major
/// order: an array [how many] of i64, as `empty_beside` makes it. The part must be dense and row-major.
/// Blocks on devices, which count first. Local.
PARTITA_API Array true_positions(const Array& mask, std::optional<Stream> stream = {});

/// Row i of the destination's part, along its first dimension, is row rows[i] of the source's; `rows` is of
/// i64. Positions that the source does not have are undefined behaviour: check them first. All parts must be
/// dense and row-major, and the destination must not overlap the others. ArgumentError for other dtypes and
/// extents. Local.
PARTITA_API void gather_part(const Array& source, const Array& rows, Array& destination,
                             std::optional<Stream> stream = {});

/// What becomes of an index that an axis does not have.
enum class OutOfRange : std::uint8_t {
  refuse,  ///< below 0 it counts from the end; of others the call reports that there is one
  wrap,    ///< it is taken modulo the extent
  clip,    ///< the nearest index
};
template <>
struct OptionWords<OutOfRange> {
  static constexpr std::string_view what = "rule for indices out of range";
  static constexpr std::string_view words[]{"refuse", "wrap", "clip"};
};

/// The elements of these indices along an axis of the source's part. `indices`, of i64, have either one
/// dimension, for all lines along the axis alike, or the extents of the destination's part: an index for each
/// element. Along other axes source and destination have the same extents, and all parts must be dense and
/// row-major. False if indices are refused, when the destination has undefined contents; blocks on devices
/// for that rule. ArgumentError for other dtypes and extents, and for elements of an empty axis. Local.
PARTITA_API bool take_part(const Array& source, const Array& indices, Array& destination, int axis,
                           OutOfRange rule = OutOfRange::refuse, std::optional<Stream> stream = {});

/// Where each of the values belongs in the source's part, which is sorted as by `sort_part`: before equal
/// elements, or with `after` behind them, as positions of i64; or, if the destination is an array of
/// booleans, whether the part contains it (NaN equals nothing). Values have the dtype of the source, or any
/// other one if that is f64, and any of integers but u64, and booleans, if it is i64: they are compared in
/// the dtype of the source. Values and destination have as many elements; all parts must be dense and
/// row-major, and the destination must not overlap the others. Not for complex numbers and FP8
/// (UnsupportedError). Local.
PARTITA_API void search_part(const Array& source, const Array& values, Array& destination, bool after = false,
                             std::optional<Stream> stream = {});

/// How many elements of the source's part are in each bin, `counts`, of i64 in one dimension: from one of the
/// edges on and below the next one, which the last bin contains. Edges have one element more than `counts`
/// and do not decrease; of f64, or for booleans and integers but u64 of i64. An empty Array as edges: the
/// elements are integers, and the numbers of their bins. Other elements, and NaN, are in no bin. With
/// weights, of f64 and as many as there are elements, `counts` is of f64 and has their sums, on devices in
/// any order. All parts must be dense and row-major; edges and bins are on every rank, in the memory space of
/// the source. Not for complex numbers and FP8 (UnsupportedError). Local.
PARTITA_API void count_part(const Array& source, const Array& edges, Array& counts,
                            std::optional<Stream> stream = {});
PARTITA_API void count_part(const Array& source, const Array& edges, const Array& weights, Array& counts,
                            std::optional<Stream> stream = {});

}  // namespace partita
