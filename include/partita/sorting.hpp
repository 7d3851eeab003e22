// Sorted arrays, and the indices that sort them: all elements, or those of each line along an axis.
//
// Order: NaNs are the largest elements, and 0 and -0 are equal; complex numbers are ordered by their real
// parts, then by their imaginary parts, those with NaN last (as by NumPy). All dtypes.
//
// Algorithm. An axis that each rank has completely is sorted without communication. Otherwise, if there are
// fewer lines than ranks, each rank sorts its elements of a line (numbers by a radix sort), the ranks
// find the exact positions at which the sorted parts are cut (a histogram sort: E. Solomonik, L. V. Kale,
// Highly scalable parallel sorting, IPDPS 2010; the candidates are digits, so that the number of exchanges is
// bounded), each element is exchanged once, and the runs that arrive are merged. With more lines the array is
// redistributed so that each rank has whole lines. In device memory one sequence of real numbers is sorted on
// the devices (`argsort`: in a context of one rank); all else is copied to the host and back. Elements of
// FP8 are sorted as f32.
//
// Memory, besides the result: that of the result once more for a sequence (of i64 for `argsort`, and if keys
// have 64 bits twice that), on the symmetric heap; for an array that is redistributed, that of the array.
//
// Collective over the array's context, and blocking, also on devices, where the functions run after the work
// on the context's own stream. The result is the same for every distribution of the array. Errors, the same
// on every rank: ArgumentError (an axis that does not exist, an axis given for a flat sort, a partial array:
// redistribute it first), DisagreementError, MemoryError, UnsupportedError (a stream that is being captured).
#pragma once

#include <cstdint>
#include <optional>
#include <partita/array.hpp>
#include <partita/source_place.hpp>
#include <span>
#include <vector>

namespace partita {

/// Options of `sort` and `argsort`.
struct SortOptions {
  bool descending = false;  ///< the largest element first; NaNs before all others
  /// All elements in row-major order as one sequence, in a result of one dimension. No axis may be given.
  bool flat = false;
  /// Distribution of the result. If unset: the layout of the array; of a flat sort `Slab(0)`.
  std::optional<Distribution> distribution = {};
  Residency residency = Residency::heap;  ///< memory of the result
};

/// A sorted copy along `axis`, counted from 0; if unset, the last one. An array without dimensions is copied.
PARTITA_API Array sort(const Array& array, std::optional<int> axis = {}, const SortOptions& options = {},
                       SourcePlace where = SourcePlace::current());

/// The indices along `axis`, or in the flat sequence, of i64, of the elements in order. Stable: equal
/// elements are in the order of their indices, also in descending order.
PARTITA_API Array argsort(const Array& array, std::optional<int> axis = {}, const SortOptions& options = {},
                          SourcePlace where = SourcePlace::current());

/// The second half of `sort`, for programs whose ranks sort their elements themselves: all elements in order,
/// of which each rank gets as many as its destination has, those of lower ranks first. `sorted`: this rank's
/// elements, any number, sorted in the order given; it may have the memory of the destination, and is kept
/// otherwise. Both are dense views of one dimension in host memory, of one dtype but FP8. Scratch as for
/// `sort`. Collective, blocking. Errors, the same on every rank: ArgumentError (other views and dtypes,
/// destinations that have not as many elements together), DisagreementError, MemoryError.
PARTITA_API void exchange_sorted(const Context& context, const View& sorted, const View& destination,
                                 bool descending = false);

/// Where the ranks' sorted elements are cut so that the parts between the cuts follow one another in the
/// order of all elements.
struct SortedCuts {
  int positions = 0;  ///< how many were asked for
  /// cuts[rank * positions + i]: how many elements of the rank are before position i of all elements. Equal
  /// elements are divided in the order of the ranks.
  std::vector<std::int64_t> cuts;
  /// below[rank * positions + i]: how many elements of the rank are smaller (in descending order: larger)
  /// than the element at position i; for positions at or behind the end, all.
  std::vector<std::int64_t> below;
};

/// `sorted`: this rank's elements, sorted, any number; a dense view of one dimension in host memory, of any
/// dtype but FP8. `positions`: among the elements of all ranks, none negative, the same on all ranks; those
/// beyond the last element are the end. For programs that exchange elements by themselves. Collective,
/// blocking; an exchange of 2 KiB per position for each byte of an element at most. Errors, the same on every
/// rank: ArgumentError (other views, dtypes and positions), DisagreementError.
PARTITA_API SortedCuts cut_sorted(const Context& context, const View& sorted,
                                  std::span<const std::int64_t> positions, bool descending = false);

}  // namespace partita
