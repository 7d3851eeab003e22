#include <algorithm>
#include <limits>
#include <partita/mesh.hpp>

#include "base/check.hpp"
#include "distribution/layout_state.hpp"
#include "distribution/partition_spec.hpp"

namespace partita {
namespace {

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && !digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
}

void refuse_repeated_ranks(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  check(ranks.empty() || ranks.front() >= 0, "a mesh names the negative rank {}",
        ranks.empty() ? 0 : ranks.front());
  check(ranks.empty() || ranks.back() < std::numeric_limits<int>::max(), "a mesh names rank {}: too large",
        ranks.empty() ? 0 : ranks.back());
  const auto twice = std::adjacent_find(ranks.begin(), ranks.end());
  check(twice == ranks.end(), "a mesh names rank {} twice", twice == ranks.end() ? 0 : *twice);
}

}  // namespace

Mesh::Mesh(std::vector<Axis> axes) : axes_(std::move(axes)) {
  std::int64_t ranks = 1;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    check(is_name(axis.name),
          "\"{}\" is not a valid name of a mesh axis: use letters, digits and _, not beginning with a digit",
          axis.name);
    check(axis.size >= 1, "the mesh axis {} has size {}; it must be at least 1", axis.name, axis.size);
    const bool twice = std::any_of(axes_.begin(), axes_.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const Axis& earlier) { return earlier.name == axis.name; });
    check(!twice, "the mesh has two axes named {}", axis.name);
    ranks *= axis.size;
    check(ranks <= std::numeric_limits<int>::max(), "the mesh has too many ranks");
  }
}

Mesh::Mesh(std::vector<Axis> axes, std::vector<int> ranks) : Mesh(std::move(axes)) {
  check(static_cast<int>(ranks.size()) == size(), "the mesh has {} coordinates, but {} ranks are given",
        size(), ranks.size());
  refuse_repeated_ranks(ranks);
  if (!distribution::counts_up(ranks)) ranks_ = std::move(ranks);
}

int Mesh::size() const {
  int ranks = 1;
  for (const Axis& axis : axes_) ranks *= axis.size;
  return ranks;
}

int Mesh::axis(std::string_view name) const {
  std::string known;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == name) return static_cast<int>(i);
    known += (known.empty() ? "" : ", ") + axes_[i].name;
  }
  throw ArgumentError(
      fmt::format("the mesh has no axis \"{}\"; its axes: {}", name, known.empty() ? "none" : known));
}

int Mesh::rank_bound() const {
  return ranks_.empty() ? size() : *std::max_element(ranks_.begin(), ranks_.end()) + 1;
}

int Mesh::place_of(int rank) const {
  const auto listed = std::find(ranks_.begin(), ranks_.end(), rank);
  const bool inside = ranks_.empty() ? rank >= 0 && rank < size() : listed != ranks_.end();
  check(inside, "rank {} is outside a mesh of {} ranks", rank, size());
  return ranks_.empty() ? rank : static_cast<int>(listed - ranks_.begin());
}

int Mesh::coordinate(int rank, int axis) const {
  int place = place_of(rank);
  check(axis >= 0 && axis < static_cast<int>(axes_.size()), "axis {} of a mesh with {} axes", axis,
        axes_.size());
  for (std::size_t i = axes_.size() - 1; i > static_cast<std::size_t>(axis); --i) place /= axes_[i].size;
  return place % axes_[static_cast<std::size_t>(axis)].size;
}

int Mesh::rank_at(std::span<const int> coordinates) const {
  check(coordinates.size() == axes_.size(), "{} coordinates in a mesh with {} axes", coordinates.size(),
        axes_.size());
  int place = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    check(coordinates[i] >= 0 && coordinates[i] < axes_[i].size,
          "coordinate {} is outside the mesh axis {} of size {}", coordinates[i], axes_[i].name,
          axes_[i].size);
    place = place * axes_[i].size + coordinates[i];
  }
  return ranks_.empty() ? place : ranks_[static_cast<std::size_t>(place)];
}

std::vector<int> Mesh::positions(std::span<const std::string> axes) const {
  std::vector<int> result;
  for (const std::string& name : axes) {
    const int position = axis(name);
    check(std::find(result.begin(), result.end(), position) == result.end(),
          "the mesh axis {} is named twice", name);
    result.push_back(position);
  }
  return result;
}

std::vector<int> Mesh::ranks_along(int rank, std::span<const std::string> axes) const {
  std::vector<int> at;
  for (std::size_t i = 0; i < axes_.size(); ++i) at.push_back(coordinate(rank, static_cast<int>(i)));
  if (axes_.empty()) (void)place_of(rank);
  const std::vector<int> along = positions(axes);
  std::vector<int> result;
  const std::function<void(std::size_t)> turn = [&](std::size_t i) {
    if (i == along.size()) return result.push_back(rank_at(at));
    const auto axis = static_cast<std::size_t>(along[i]);
    for (at[axis] = 0; at[axis] < axes_[axis].size; ++at[axis]) turn(i + 1);
  };
  turn(0);
  return result;
}

Mesh Mesh::submesh(std::span<const std::string> axes) const {
  std::vector<Axis> result;
  for (const int position : positions(axes)) result.push_back(axes_[static_cast<std::size_t>(position)]);
  return Mesh(std::move(result));
}

Mesh Mesh::renumbered(const std::function<int(int)>& number) const {
  std::vector<int> ranks;
  for (int place = 0; place < size(); ++place) {
    ranks.push_back(number(ranks_.empty() ? place : ranks_[static_cast<std::size_t>(place)]));
  }
  return Mesh(axes_, std::move(ranks));
}

namespace distribution {

ResolvedSpec resolve(const PartitionSpec& spec, const Mesh& mesh) {
  std::vector<bool> used(mesh.axes().size(), false);
  const auto use = [&](const std::string& name) {
    const int axis = mesh.axis(name);
    check(!used[static_cast<std::size_t>(axis)], "the partition spec names the mesh axis {} twice", name);
    used[static_cast<std::size_t>(axis)] = true;
    return axis;
  };
  ResolvedSpec resolved;
  for (const auto& names : spec.dimensions) {
    resolved.dimensions.emplace_back();
    for (const std::string& name : names) resolved.dimensions.back().push_back(use(name));
  }
  for (const std::string& name : spec.partial_axes) resolved.partial.push_back(use(name));
  std::sort(resolved.partial.begin(), resolved.partial.end());
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) resolved.replicated.push_back(static_cast<int>(i));
  }
  return resolved;
}

}  // namespace distribution
}  // namespace partita
