// Named process meshes, and how an array's dimensions are laid over their axes.
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
/// two meshes are equal where their axes are and every rank sits at the same coordinates.
class PARTITA_API Mesh {
 public:
  /// A name and the number of ranks along it.
  struct Axis {
    std::string name;  ///< letters, digits and '_', not starting with a digit
    int size = 1;
    friend bool operator==(const Axis&, const Axis&) = default;
  };

  Mesh() = default;
  explicit Mesh(std::vector<Axis> axes);  ///< throws ArgumentError: a name twice or malformed, a size below 1
  /// An explicit list: ranks[i] sits at the i-th coordinates, the last axis fastest. Throws ArgumentError,
  /// too, if a rank is negative or named twice or their number is not the number of coordinates.
  Mesh(std::vector<Axis> axes, std::vector<int> ranks);

  const std::vector<Axis>& axes() const { return axes_; }   ///< slowest first
  const std::vector<int>& ranks() const { return ranks_; }  ///< as listed; empty: rank i sits at the i-th
  int size() const;                                         ///< number of ranks
  int rank_bound() const;                                   ///< one more than the largest rank named
  int axis(std::string_view name) const;     ///< its position; throws ArgumentError naming the known axes
  int coordinate(int rank, int axis) const;  ///< where the rank sits along the axis; throws out of range
  int rank_at(std::span<const int> coordinates) const;  ///< throws ArgumentError out of range

  /// The ranks that differ from `rank` along these axes only, itself among them; the first axis named is the
  /// slowest. Throws ArgumentError: an unknown axis or one named twice, a rank that is not in the mesh.
  std::vector<int> ranks_along(int rank, std::span<const std::string> axes) const;
  /// These axes alone, of ranks 0, 1, ...: a mesh of the ranks that `ranks_along` gives, in its order.
  Mesh submesh(std::span<const std::string> axes) const;
  /// The mesh of other ranks: rank `number(rank)` sits where `rank` sits in this one.
  Mesh renumbered(const std::function<int(int)>& number) const;
  friend bool operator==(const Mesh&, const Mesh&) = default;

 private:
  int place_of(int rank) const;  // which of the coordinates
  std::vector<int> positions(std::span<const std::string> axes) const;

  std::vector<Axis> axes_;
  std::vector<int> ranks_;  // empty where they count up
};

/// How an extent that does not divide is cut along mesh axes.
enum class Uneven : std::uint8_t {
  ceil,      ///< blocks of ceil(n / p); the last ones may be short or empty (the rule of JAX and DTensor)
  balanced,  ///< the first n mod p parts get one more (Slab's rule)
};
template <>
struct OptionWords<Uneven> {
  static constexpr std::string_view what = "uneven";
  static constexpr std::string_view words[]{"ceil", "balanced"};
};

/// For each dimension of an array the mesh axes that it is cut over (several: the first named is the
/// slowest), none for a dimension that is whole everywhere. A mesh axis that no dimension names holds
/// replicas, or, where `partial` names it, contributions that are still to be joined (a partial sum, min or
/// max). Naming an axis twice, or as both, is an error where the spec meets its mesh.
struct PARTITA_API PartitionSpec {
  std::vector<std::vector<std::string>> dimensions = {};  ///< the mesh axes of each, by name
  std::vector<std::string> partial_axes = {};             ///< mesh axes with contributions
  Reduction partial_reduction = Reduction::sum;           ///< used only where `partial_axes` is not empty
  Uneven uneven = Uneven::ceil;                           ///< what does not divide

  /// The reduction counts only where something is partial.
  friend bool operator==(const PartitionSpec& a, const PartitionSpec& b) {
    return a.dimensions == b.dimensions && a.partial_axes == b.partial_axes && a.uneven == b.uneven &&
           (a.partial_axes.empty() || a.partial_reduction == b.partial_reduction);
  }
};

}  // namespace partita
