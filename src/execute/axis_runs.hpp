// One dimension that several parts share, as common arithmetic progressions of addresses.
#pragma once

#include <array>
#include <optional>
#include <partita/plan.hpp>
#include <span>
#include <vector>

#include "execute/works/bound_work.hpp"

namespace partita::execution {

inline constexpr int max_parts = 7;  ///< that one work has and that have dimensions in common

/// The addresses of a part's elements along one dimension: element p of `set` is at the set's p-th position
/// in `owned`, times `stride`. Without sets: the part does not have the dimension, and all p have the same
/// address.
struct PartAxis {
  const IndexSet* set = nullptr;
  const IndexSet* owned = nullptr;
  std::int64_t stride = 0;

  std::int64_t offset(std::int64_t p) const;
};

/// Elements first to first + count - 1: in part x, element first + i is at offset[x] + i * step[x].
struct AxisRun {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::array<std::int64_t, max_parts> offset{};
  std::array<std::int64_t, max_parts> step{};
};

/// The fewest runs, in order, that a walk from the front finds. All sets must have `size` elements. The work
/// is proportional to the runs (times a logarithm), not to the elements, where positions are adjacent.
std::vector<AxisRun> axis_runs(std::span<const PartAxis> parts, std::int64_t size);

/// A part of a work bound to memory: what its place's rank owns, and its strides in elements.
class BoundPart {
 public:
  /// `dtype`: of its elements; nothing: what its place says.
  BoundPart(const Part& part, const WorkBinding& binding, std::optional<Dtype> dtype = {});

  /// Exchanges the last two dimensions.
  BoundPart& transpose();

  int dimensions() const { return static_cast<int>(region_.sets.size()); }
  std::int64_t extent(int dimension) const;
  /// Refers to this object.
  PartAxis axis(int dimension) const;
  /// The run of all elements along the dimension, if their addresses are evenly spaced.
  std::optional<AxisRun> even_axis(int dimension) const;
  Dtype dtype() const { return dtype_; }
  /// The first byte of the part's array (or of the packed scratch) in this execution.
  char* base(const AddressOf& address) const { return address(place_) + place_.offset; }

 private:
  Place place_;
  Region region_;
  Region owned_;
  Strides strides_;
  Dtype dtype_;
};

}  // namespace partita::execution
