// Distributions: rules that say which rank owns which indices, not bound to a shape.
#pragma once

#include <iosfwd>
#include <partita/extents.hpp>
#include <partita/mesh.hpp>
#include <partita/process_grid.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace partita {

/// Cut along one axis into as many contiguous parts as there are ranks; of an extent S over P ranks the first
/// S mod P ranks get one more.
struct Slab {
  int axis = 0;  ///< the dimension that is cut
  /// Checked where it is bound to a shape, as all rules.
  explicit Slab(int axis_) : axis(axis_) {}
  friend bool operator==(const Slab&, const Slab&) = default;
};

/// One box a rank: rank r owns lower[r] <= index < upper[r]. Ranks beyond the list own nothing, and a box may
/// be empty. The boxes must cover the array without overlap (checked when bound to a shape).
struct Box {
  /// lower <= index < upper, along each dimension.
  struct Bounds {
    Extents lower;
    Extents upper;
    friend bool operator==(const Bounds&, const Bounds&) = default;
  };
  std::vector<Bounds> boxes;  ///< by rank
  /// By rank.
  explicit Box(std::vector<Bounds> boxes_) : boxes(std::move(boxes_)) {}
  /// The boxes between cut points, one list a dimension, both ends of the array among them; ranks in
  /// row-major order. {{0, 3, 10}, {0, 4, 4, 9}}: 2 x 3 boxes of a 10 x 9 array, two of them empty. Throws
  /// ArgumentError: a list of fewer than two points, one that does not begin with 0, a point below the one
  /// before it.
  PARTITA_API static Box from_cuts(const std::vector<std::vector<std::int64_t>>& cuts);
  friend bool operator==(const Box&, const Box&) = default;
};

/// Blocks distributed cyclically over a grid, dimension by dimension (ScaLAPACK's distribution in N
/// dimensions; its counts are those of NUMROC).
struct BlockCyclic {
  ProcessGrid grid;  ///< of the ranks, as many dimensions as the array
  Extents block;     ///< block extent along each dimension, at least 1
  /// A grid and blocks of as many dimensions as the array has.
  BlockCyclic(ProcessGrid grid_, Extents block_) : grid(std::move(grid_)), block(block_) {}
  friend bool operator==(const BlockCyclic&, const BlockCyclic&) = default;
};

/// One block a process and dimension. Without block extents: ceil(S / P) each (the last may be short or
/// empty). With them, grid extent times block must reach the array's extent.
struct BlockNonCyclic {
  ProcessGrid grid;  ///< of the ranks, as many dimensions as the array
  Extents block;     ///< empty: ceil
  /// Likewise.
  explicit BlockNonCyclic(ProcessGrid grid_, Extents block_ = {}) : grid(std::move(grid_)), block(block_) {}
  friend bool operator==(const BlockNonCyclic&, const BlockNonCyclic&) = default;
};

/// Every rank holds the whole array.
struct Replicated {
  friend bool operator==(const Replicated&, const Replicated&) = default;
};

/// Laid over a named mesh.
struct Partitioned {
  Mesh mesh;
  PartitionSpec spec;
  friend bool operator==(const Partitioned&, const Partitioned&) = default;
};

/// Which of the rules.
enum class DistributionKind : std::uint8_t {
  slab,
  box,
  block_cyclic,
  block_non_cyclic,
  replicated,
  partitioned
};

/// "slab", "box", "block-cyclic", "block-noncyclic", "replicated", "mesh": how the text form begins.
PARTITA_API std::string_view name(DistributionKind kind);

/// Any rule: Slab, Box, BlockCyclic, BlockNonCyclic, Replicated or Partitioned. A value; cheap to copy;
/// nothing in it communicates. Thread-safe for reading.
class PARTITA_API Distribution {
 public:
  /// One of the rules.
  using Rule = std::variant<Slab, Box, BlockCyclic, BlockNonCyclic, Replicated, Partitioned>;

  /// Made implicitly of any rule.
  template <class T>
  requires std::is_constructible_v<Rule, T> &&
      (!std::is_same_v<std::decay_t<T>, Distribution>)Distribution(T&& rule)
      : rule_(std::forward<T>(rule)) {}  // NOLINT: implicit by design

  /// Reads the text form. Throws ArgumentError that points at what it does not understand:
  ///   slab:AXIS
  ///   box:LOWER-UPPER;LOWER-UPPER;...            box:0,0-4,3;4,0-8,3   one a rank; equal corners: empty
  ///   block-cyclic:GRID:BLOCK[:OPTION...]        block-cyclic:2x2:128x128:column:first=0,1
  ///   block-noncyclic:GRID[:BLOCK][:OPTION...]   options: column | ranks=R,R,... | first=C,C,...
  ///   replicated
  ///   mesh:NAME=SIZE,...:SPEC[;partial=OP:AXES][;uneven=balanced][;ranks=R,R,...]
  ///                                               mesh:x=2,y=2,z=2:(x,y),-;partial=sum:z
  /// A grid without dimensions (that of a scalar) is written "scalar".
  static Distribution parse(std::string_view text);
  std::string to_string() const;  ///< the text form; `parse(to_string())` is equal to this

  /// Which rule it is.
  DistributionKind kind() const { return static_cast<DistributionKind>(rule_.index()); }
  const Rule& rule() const { return rule_; }  ///< for `std::visit`
  /// The rule as a T, `as<Slab>()`; null if it is another one.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&rule_);
  }
  /// The rule of the permuted array: dimension i of the result is dimension axes[i] of this one. Throws
  /// ArgumentError where `axes` is no permutation of the rule's dimensions.
  Distribution permuted(std::span<const int> axes) const;

  /// The same rule; two different rules may still describe the same layout of a shape: see `Layout`.
  friend bool operator==(const Distribution&, const Distribution&) = default;

 private:
  Rule rule_;
};

/// Writes the text form.
PARTITA_API std::ostream& operator<<(std::ostream& stream, const Distribution& distribution);

}  // namespace partita
