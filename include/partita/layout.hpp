// Layouts: a distribution bound to a global shape and a number of ranks.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <partita/distribution.hpp>
#include <partita/index_set.hpp>
#include <partita/topology.hpp>
#include <span>
#include <string>
#include <vector>

namespace partita {

/// A product of index sets, one per dimension: the elements that a rank owns, or that it transfers to
/// another.
struct PARTITA_API Region {
  std::vector<IndexSet> sets;  ///< one per dimension

  bool empty() const;  ///< whether any set is empty. The region of a scalar has no sets and is not empty; the
                       ///< empty region of a scalar has one empty set
  std::int64_t size() const;  ///< number of elements
  Extents shape() const;      ///< number of indices along each dimension
  friend bool operator==(const Region&, const Region&) = default;
};
/// The intersection of each dimension's sets.
PARTITA_API Region intersect(const Region& a, const Region& b);
/// Text form: "[0,4) x [0,128)+512*3", "nothing".
PARTITA_API std::string to_string(const Region& region);
PARTITA_API std::ostream& operator<<(std::ostream& stream, const Region& region);

/// The state of a partial array: its value is the reduction over the ranks that own the same indices.
struct Partial {
  Reduction reduction = Reduction::sum;
  friend bool operator==(const Partial&, const Partial&) = default;
};

/// Which rank owns which elements of an array. A value, cheap to copy (shared, immutable); thread-safe. All
/// queries take the rank as an argument, so any rank of any group can be queried anywhere, without
/// communication.
///
/// The ranks that own the same region are its *holders*. They are replicas of each other or, if a mesh axis
/// is partial, hold different contributions: holders are then grouped as contribution[replica].
class PARTITA_API Layout {
 public:
  /// Throws ArgumentError if the distribution does not fit: wrong number of dimensions, more processes than
  /// ranks, boxes that overlap or leave a gap (the text names the ranks), blocks that do not reach the
  /// extent.
  Layout(Distribution distribution, Shape shape, int ranks);

  /// The rule. For an `embedded` layout that no rule describes, the rule of the inner group: see `members`.
  const Distribution& distribution() const;
  /// Empty for most layouts. Otherwise the rule applies to members().size() ranks: its rank i is rank
  /// members()[i] of this layout, and other ranks own nothing.
  std::span<const int> members() const;
  const Shape& shape() const;
  /// For a `window`: the position of its first element in the array that the rule describes, and the shape of
  /// that array. Otherwise zeros and shape().
  Index origin() const;
  const Shape& whole_shape() const;
  int ranks() const;                                 ///< number of ranks of the group
  int dimensions() const { return shape().size(); }  ///< number of dimensions of the array

  Region region(int rank) const;            ///< the elements that the rank owns; may be empty
  Shape local_shape(int rank) const;        ///< shape of the rank's local part
  std::int64_t local_size(int rank) const;  ///< number of elements of the rank's local part
  std::int64_t largest_local_size() const;  ///< maximum over all ranks; by formula if there is one

  /// The ranks that own an element, in increasing order; several if it is replicated or partial.
  std::vector<int> owners(const Index& global) const;
  int owner(const Index& global) const { return owners(global).front(); }
  std::optional<Index> to_local(int rank, const Index& global) const;  ///< empty if the rank does not own it
  Index to_global(int rank, const Index& local) const;                 ///< throws ArgumentError out of range

  bool is_replicated() const;              ///< whether several ranks hold the whole value of an element
  std::optional<Partial> partial() const;  ///< set if elements have several contributions

  /// The ranks that own the same region. `contributions[c]` are the ranks that hold contribution c (replicas
  /// of each other, increasing); without a partial axis there is one contribution.
  struct Cell {
    Region region;
    std::vector<std::vector<int>> contributions;
  };
  /// The cells that intersect `region`, with their regions restricted to it, in a fixed order: the owners of
  /// each part of `region`. Planners use only this query. Cost: for grids proportional to the cells that
  /// intersect, not to the ranks; for boxes to the ranks.
  std::vector<Cell> cells(const Region& region) const;

  /// The rank from which `reader` reads a cell's contribution: itself if it is a replica, otherwise one on
  /// its node, otherwise any. Adjacent readers, and readers a power of the number of replicas apart (a column
  /// of a mesh), use different replicas. Pure, so both sides get the same answer. Throws ArgumentError if
  /// there is no replica.
  static int choose_replica(std::span<const int> replicas, int reader, const Topology& topology);

  /// Whether both layouts place the same elements in the same state on the same ranks, even if their rules
  /// differ.
  bool equivalent(const Layout& other) const;
  /// The same layout with a rule of another kind: `Layout(Slab(0), ...)` as block_non_cyclic, for example.
  /// Throws ArgumentError with the reason if there is none. Cost: proportional to the number of ranks.
  Layout as(DistributionKind kind) const;

  /// The layout of the transposed array: dimension i of the result is dimension axes[i] of this layout.
  Layout permuted(std::span<const int> axes) const;
  /// The layout in a larger group: rank i of this layout is rank ranks[i] of the result; other ranks own
  /// nothing.
  Layout embedded(std::span<const int> ranks, int total_ranks) const;
  /// The layout in a smaller group: rank i of the result is rank ranks[i] of this layout. The inverse of
  /// `embedded`. Throws ArgumentError if other ranks own elements or are named by the rule.
  Layout restricted(std::span<const int> ranks) const;

  /// The layout of the sub-array [lower, lower + shape): every rank owns the same elements as before, at
  /// indices that count from `lower`. Along each dimension they are contiguous in the local part, so the
  /// local part of a sub-array is a strided View. The rule remains that of the whole array (see `origin`),
  /// unless a rule describes the sub-array itself: boxes are intersected, cyclic blocks begin at another
  /// process. Throws ArgumentError if the sub-array is not inside the array.
  Layout window(const Index& lower, const Shape& shape) const;

  /// Text form: "8192x8192 slab:0 over 4 ranks", "8192x8192 slab:0 over 2 ranks, on ranks 1,3 of 4", "100x90
  /// slab:0 over 4 ranks, from 3,5 of 128x128". Two layouts have the same text if and only if they are equal.
  std::string to_string() const;
  /// Hash of the text form, never 0; the same in every process. Computed once.
  std::uint64_t hash() const;
  /// Whether rule, shape, number of ranks, members and window are equal.
  friend PARTITA_API bool operator==(const Layout&, const Layout&);

 private:
  struct State;
  friend struct State;
  explicit Layout(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

/// Whether rule, shape, number of ranks, members and window are equal; `Layout::equivalent` compares
/// ownership.
PARTITA_API bool operator==(const Layout& a, const Layout& b);
/// Writes `to_string`.
PARTITA_API std::ostream& operator<<(std::ostream& stream, const Layout& layout);

/// The global indices that `rank` owns along one dimension, increasing: element i belongs to local index i.
/// Use it once before a loop over local elements: a call of `Layout::to_global` takes some hundred
/// nanoseconds, an access to this vector less than one. Pure. Throws ArgumentError: an axis or a rank out of
/// range.
PARTITA_API std::vector<std::int64_t> local_indices(const Layout& layout, int axis, int rank);

}  // namespace partita
