// Distributions: rules that assign indices to ranks, independent of a shape.
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

/// Divides one axis into one contiguous part per rank; for an extent S over P ranks the first S mod P ranks
/// get one index more.
struct Slab {
  int axis = 0;  ///< the dimension that is divided
  /// The axis is checked when the rule is bound to a shape, as for all rules.
  explicit Slab(int axis_) : axis(axis_) {}
  friend bool operator==(const Slab&, const Slab&) = default;
};

/// One box per rank: rank r owns lower[r] <= index < upper[r]. Ranks beyond the list own nothing, and a box
/// may be empty. The boxes must cover the array without overlap (checked when bound to a shape).
struct Box {
  /// lower <= index < upper, along each dimension.
  struct Bounds {
    Extents lower;
    Extents upper;
    friend bool operator==(const Bounds&, const Bounds&) = default;
  };
  std::vector<Bounds> boxes;  ///< by rank
  /// The boxes, by rank.
  explicit Box(std::vector<Bounds> boxes_) : boxes(std::move(boxes_)) {}
  /// The boxes between cut points: one list per dimension, including both ends of the array; ranks in
  /// row-major order. {{0, 3, 10}, {0, 4, 4, 9}}: 2 x 3 boxes of a 10 x 9 array, two of them empty. Throws
  /// ArgumentError if a list has fewer than two points, does not begin with 0, or decreases.
  PARTITA_API static Box from_cuts(const std::vector<std::vector<std::int64_t>>& cuts);
  friend bool operator==(const Box&, const Box&) = default;
};

/// Blocks distributed cyclically over a grid, in each dimension: ScaLAPACK's distribution for N dimensions,
/// with the counts of NUMROC.
struct BlockCyclic {
  ProcessGrid grid;  ///< as many dimensions as the array
  Extents block;     ///< block extent along each dimension, at least 1
  /// Grid and block extents, each with as many dimensions as the array.
  BlockCyclic(ProcessGrid grid_, Extents block_) : grid(std::move(grid_)), block(block_) {}
  /// The same block extent along all dimensions.
  template <std::integral T>
  BlockCyclic(ProcessGrid grid_, T block_)
      : grid(std::move(grid_)), block(Extents::filled(grid.dimensions(), detail::Extent(block_).value)) {}
  friend bool operator==(const BlockCyclic&, const BlockCyclic&) = default;
};

/// One block per process along each dimension. Without block extents: ceil(S / P) indices each (the last
/// block may be short or empty). With them, grid extent times block extent must reach the array's extent.
struct BlockNonCyclic {
  ProcessGrid grid;  ///< as many dimensions as the array
  Extents block;     ///< empty: ceil(S / P)
  /// Grid and block extents, each with as many dimensions as the array.
  explicit BlockNonCyclic(ProcessGrid grid_, Extents block_ = {}) : grid(std::move(grid_)), block(block_) {}
  friend bool operator==(const BlockNonCyclic&, const BlockNonCyclic&) = default;
};

/// Every rank holds the whole array.
struct Replicated {
  friend bool operator==(const Replicated&, const Replicated&) = default;
};

/// Array dimensions distributed over the axes of a named mesh.
struct Partitioned {
  Mesh mesh;
  PartitionSpec spec;
  friend bool operator==(const Partitioned&, const Partitioned&) = default;
};

/// The kinds of rules.
enum class DistributionKind : std::uint8_t {
  slab,
  box,
  block_cyclic,
  block_non_cyclic,
  replicated,
  partitioned
};

/// The first word of the text form: "slab", "box", "block-cyclic", "block-noncyclic", "replicated", "mesh".
PARTITA_API std::string_view name(DistributionKind kind);

/// Any rule: Slab, Box, BlockCyclic, BlockNonCyclic, Replicated or Partitioned. A value, cheap to copy;
/// nothing in it communicates. Thread-safe for reading.
class PARTITA_API Distribution {
 public:
  /// The rules.
  using Rule = std::variant<Slab, Box, BlockCyclic, BlockNonCyclic, Replicated, Partitioned>;

  /// Converted implicitly from any rule.
  template <class T>
  requires std::is_constructible_v<Rule, T> &&
      (!std::is_same_v<std::decay_t<T>, Distribution>)Distribution(T&& rule)
      : rule_(std::forward<T>(rule)) {}  // NOLINT: implicit by design
  /// Converted implicitly from the text form, as `parse`: `redistribute(array, "slab:1")`.
  template <class Text>
  requires std::is_convertible_v<const Text&, std::string_view> Distribution(const Text& text)
      : Distribution(parse(text)) {}  // NOLINT: implicit by design

  /// Parses the text form. Throws ArgumentError that points to the first invalid character.
  ///   slab:AXIS
  ///   box:LOWER-UPPER;LOWER-UPPER;...            box:0,0-4,3;4,0-8,3   one per rank; equal corners: empty
  ///   block-cyclic:GRID:BLOCK[:OPTION...]        block-cyclic:2x2:128x128:column:first=0,1
  ///   block-noncyclic:GRID[:BLOCK][:OPTION...]   options: column | ranks=R,R,... | first=C,C,...
  ///   replicated
  ///   mesh:NAME=SIZE,...:SPEC[;partial=OP:AXES][;uneven=balanced][;ranks=R,R,...]
  ///                                               mesh:x=2,y=2,z=2:(x,y),-;partial=sum:z
  /// The grid of a scalar, which has no dimensions, is written "scalar".
  static Distribution parse(std::string_view text);
  std::string to_string() const;  ///< the text form; `parse(to_string())` is equal to this

  /// The kind of the rule.
  DistributionKind kind() const { return static_cast<DistributionKind>(rule_.index()); }
  const Rule& rule() const { return rule_; }  ///< the rule, for `std::visit`
  /// The rule as a T, `as<Slab>()`; null if it is of another kind.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&rule_);
  }
  /// The rule of the transposed array: dimension i of the result is dimension axes[i] of this rule. Throws
  /// ArgumentError if `axes` is not a permutation of the rule's dimensions.
  Distribution permuted(std::span<const int> axes) const;

  /// Whether the rules are the same. Different rules may describe the same layout of a shape: see
  /// `Layout::equivalent`.
  friend bool operator==(const Distribution&, const Distribution&) = default;

 private:
  Rule rule_;
};

/// Writes the text form.
PARTITA_API std::ostream& operator<<(std::ostream& stream, const Distribution& distribution);

}  // namespace partita
