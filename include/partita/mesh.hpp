// Named process meshes, and the distribution of array dimensions over their axes.
#pragma once

#include <functional>
#include <optional>
#include <partita/extents.hpp>
#include <partita/names.hpp>
#include <partita/reduction.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partita {

/// Ranks arranged along named axes, the last axis fastest: Mesh({{"x", 2}, {"y", 4}}) has 8 ranks. A value;
/// two meshes are equal if their axes and the coordinates of every rank are equal.
class PARTITA_API Mesh {
 public:
  /// An axis: its name and its number of ranks.
  struct Axis {
    std::string name;  ///< letters, digits and '_', not starting with a digit
    int size = 1;
    friend bool operator==(const Axis&, const Axis&) = default;
  };

  Mesh() = default;
  explicit Mesh(std::vector<Axis> axes);  ///< throws ArgumentError: a name twice or malformed, a size below 1
  /// An explicit list: ranks[i] has the i-th coordinates, the last axis fastest. Throws ArgumentError also if
  /// a rank is negative or listed twice, or if their number does not match the axes.
  Mesh(std::vector<Axis> axes, std::vector<int> ranks);

  const std::vector<Axis>& axes() const { return axes_; }   ///< slowest first
  const std::vector<int>& ranks() const { return ranks_; }  ///< as listed; empty: 0, 1, ...
  int size() const;                                         ///< number of ranks
  int rank_bound() const;                                   ///< largest rank plus one
  int axis(std::string_view name) const;     ///< position of an axis; throws ArgumentError listing the axes
  int coordinate(int rank, int axis) const;  ///< throws ArgumentError out of range
  int rank_at(std::span<const int> coordinates) const;  ///< throws ArgumentError out of range

  /// The ranks that differ from `rank` only along these axes, including itself; the first axis listed is the
  /// slowest. Throws ArgumentError: an unknown axis, an axis listed twice, a rank that is not in the mesh.
  std::vector<int> ranks_along(int rank, std::span<const std::string> axes) const;
  /// The mesh of these axes only, with ranks 0, 1, ...: the ranks of `ranks_along` in that order.
  Mesh submesh(std::span<const std::string> axes) const;
  /// The mesh with every rank replaced by `number(rank)`.
  Mesh renumbered(const std::function<int(int)>& number) const;
  friend bool operator==(const Mesh&, const Mesh&) = default;

 private:
  int place_of(int rank) const;  // index of its coordinates
  std::vector<int> positions(std::span<const std::string> axes) const;

  std::vector<Axis> axes_;
  std::vector<int> ranks_;  // empty: 0, 1, ...
};

/// Division of an extent that is not a multiple of the number of ranks.
enum class Uneven : std::uint8_t {
  ceil,      ///< blocks of ceil(n / p); the last ones may be short or empty, as in JAX and DTensor
  balanced,  ///< the first n mod p parts get one index more, as in Slab
};
template <>
struct OptionWords<Uneven> {
  static constexpr std::string_view what = "uneven";
  static constexpr std::string_view words[]{"ceil", "balanced"};
};

/// The mesh axes over which each dimension of an array is distributed (the first listed is the slowest); an
/// empty list: the dimension is whole on every rank. Mesh axes that no dimension lists hold replicas or, if
/// listed in `partial_axes`, contributions that have to be reduced (a partial sum, min or max). Listing an
/// axis twice is an ArgumentError when the spec is bound to its mesh.
struct PARTITA_API PartitionSpec {
  std::vector<std::vector<std::string>> dimensions = {};  ///< names of mesh axes, by dimension
  std::vector<std::string> partial_axes = {};             ///< mesh axes with contributions
  Reduction partial_reduction = Reduction::sum;           ///< ignored if `partial_axes` is empty
  Uneven uneven = Uneven::ceil;                           ///< for extents that do not divide

  /// `partial_reduction` is compared only if there are partial axes.
  friend bool operator==(const PartitionSpec& a, const PartitionSpec& b) {
    return a.dimensions == b.dimensions && a.partial_axes == b.partial_axes && a.uneven == b.uneven &&
           (a.partial_axes.empty() || a.partial_reduction == b.partial_reduction);
  }
};

}  // namespace partita
