// A distribution bound to a global shape and a number of ranks.
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

/// A product of index sets, one a dimension: what a rank owns, or what one rank has to give another.
struct PARTITA_API Region {
  std::vector<IndexSet> sets;  ///< by dimension

  bool empty() const;  ///< some set is empty (the region of a scalar, without sets, is not; nothing of a
                       ///< scalar is one empty set)
  std::int64_t size() const;  ///< elements
  Extents shape() const;      ///< as many indices along each dimension
  friend bool operator==(const Region&, const Region&) = default;
};
/// What both have, dimension by dimension.
PARTITA_API Region intersect(const Region& a, const Region& b);
/// "[0,4) x [0,128)+512*3", "nothing".
PARTITA_API std::string to_string(const Region& region);
PARTITA_API std::ostream& operator<<(std::ostream& stream, const Region& region);

/// The state of an array whose true value is the reduction over the ranks that hold the same indices.
struct Partial {
  Reduction reduction = Reduction::sum;
  friend bool operator==(const Partial&, const Partial&) = default;
};

/// Which rank owns which elements of one array. A value, cheap to copy (shared, immutable); thread-safe.
/// Every question takes the rank as an argument, so that any rank of any number can be asked anywhere.
///
/// The ranks that own the same region form its *holders*. They are replicas of each other, or, where a mesh
/// axis is partial, some of them hold contributions: holders are then grouped as contribution[replica].
class PARTITA_API Layout {
 public:
  /// Throws ArgumentError where the distribution does not fit: wrong number of dimensions, more processes
  /// than ranks, boxes that overlap or leave a hole (the text names the ranks), blocks that do not reach the
  /// extent.
  Layout(Distribution distribution, Shape shape, int ranks);

  /// The rule. Where a layout was `embedded` and no rule says so by itself, the rule of the inner group: see
  /// `members`.
  const Distribution& distribution() const;
  /// Empty for most layouts. Otherwise the rule is one of members().size() ranks, its rank i being rank
  /// members()[i] here; the others own nothing.
  std::span<const int> members() const;
  const Shape& shape() const;
  /// Where the layout is a `window`: its index 0 in the array that the rule speaks of, and that array's
  /// shape. Zeros and shape() otherwise.
  Index origin() const;
  const Shape& whole_shape() const;
  int ranks() const;                                 ///< of the group that it is bound to
  int dimensions() const { return shape().size(); }  ///< of the array

  Region region(int rank) const;            ///< what the rank owns; empty where it owns nothing
  Shape local_shape(int rank) const;        ///< of that
  std::int64_t local_size(int rank) const;  ///< elements
  std::int64_t largest_local_size()
      const;  ///< over all ranks; does not loop over all ranks where a formula does

  /// The ranks that own an element, in increasing order; more than one where it is replicated or partial.
  std::vector<int> owners(const Index& global) const;
  int owner(const Index& global) const { return owners(global).front(); }
  std::optional<Index> to_local(int rank,
                                const Index& global) const;  ///< nothing where the rank does not own it
  Index to_global(int rank, const Index& local) const;       ///< throws ArgumentError out of range

  bool is_replicated() const;              ///< some element has several owners that hold its whole value
  std::optional<Partial> partial() const;  ///< set where there are several contributions to an element

  /// One group of ranks that own the same region. `contributions[c]` are the ranks that hold the c-th
  /// contribution (replicas of each other, increasing); without a partial axis there is one contribution.
  struct Cell {
    Region region;
    std::vector<std::vector<int>> contributions;
  };
  /// The cells that meet `region`, their regions cut to it, in a fixed order. This is the one question that
  /// planners ask: what of `region` is where. Cost: proportional to the cells that meet, not to the ranks,
  /// for grids; to the ranks for boxes.
  std::vector<Cell> cells(const Region& region) const;

  /// The rank that `reader` reads a cell's contribution from: itself if it is one, else one of its own node,
  /// else any. Neighbouring readers, and readers a power of the number of replicas apart (a column of a
  /// mesh), share the replicas evenly. A pure function, so that both sides know. Throws ArgumentError where
  /// there is no replica.
  static int choose_replica(std::span<const int> replicas, int reader, const Topology& topology);

  /// The same elements on the same ranks in the same state, however the distributions are written.
  bool equivalent(const Layout& other) const;
  /// The same layout written as another kind; throws ArgumentError that says why where it cannot be:
  /// `Layout(Slab(0), ...)` as block_non_cyclic, say. Asks all ranks: cost proportional to their number.
  Layout as(DistributionKind kind) const;

  /// The layout of the transposed array: dimension i of the result is dimension axes[i] of this one.
  Layout permuted(std::span<const int> axes) const;
  /// The layout seen from a larger group: rank i of this one is rank ranks[i] there; the others own nothing.
  Layout embedded(std::span<const int> ranks, int total_ranks) const;
  /// The layout seen from a smaller group: rank i of the result is rank ranks[i] of this one. Throws
  /// ArgumentError where a rank outside owns elements or the rule speaks of it. The inverse of `embedded`.
  Layout restricted(std::span<const int> ranks) const;

  /// The layout of the sub-array [lower, lower + shape): every rank owns what it owns of it, at indices that
  /// count from `lower`. Along each dimension that is a contiguous part of the rank's own, so a sub-array of
  /// a local part is a strided View of it. The rule stays that of the whole array (see `origin`), but where a
  /// rule says the same by itself: boxes are cut, blocks distributed cyclically begin at another process.
  /// Throws ArgumentError where the sub-array does not lie inside.
  Layout window(const Index& lower, const Shape& shape) const;

  /// "8192x8192 slab:0 over 4 ranks", "8192x8192 slab:0 over 2 ranks, on ranks 1,3 of 4", "100x90 slab:0 over
  /// 4 ranks, from 3,5 of 128x128": equal layouts and no others have the same text.
  std::string to_string() const;
  /// Of the text, never 0: equal layouts have equal hashes, on every rank and process. Computed once.
  std::uint64_t hash() const;
  /// The same rule, shape, number of ranks, members and window.
  friend PARTITA_API bool operator==(const Layout&, const Layout&);

 private:
  struct State;
  friend struct State;
  explicit Layout(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

/// As above: `Layout::equivalent` asks whether two rules say the same.
PARTITA_API bool operator==(const Layout& a, const Layout& b);
/// Writes `to_string`.
PARTITA_API std::ostream& operator<<(std::ostream& stream, const Layout& layout);

/// The global indices that `rank` owns along one dimension, increasing: local index i is the i-th. What a
/// loop over local elements takes once before it begins: `Layout::to_global` for each element costs some
/// hundred nanoseconds, a look into this vector less than one. Pure. Throws ArgumentError: no such axis or
/// rank.
PARTITA_API std::vector<std::int64_t> local_indices(const Layout& layout, int axis, int rank);

}  // namespace partita
