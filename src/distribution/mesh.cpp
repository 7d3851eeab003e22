#include <algorithm>
#include <limits>
#include <partita/mesh.hpp>

#include "base/check.hpp"
#include "distribution/partition_spec.hpp"

namespace partita {
namespace {

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && !digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
}

}  // namespace

Mesh::Mesh(std::vector<Axis> axes) : axes_(std::move(axes)) {
  std::int64_t ranks = 1;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    check(is_name(axis.name), "\"{}\" is no name of a mesh axis: letters, digits and _, no digit first",
          axis.name);
    check(axis.size >= 1, "the mesh axis {} has size {}; it must be at least 1", axis.name, axis.size);
    const bool twice = std::any_of(axes_.begin(), axes_.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const Axis& earlier) { return earlier.name == axis.name; });
    check(!twice, "the mesh has two axes named {}", axis.name);
    ranks *= axis.size;
    check(ranks <= std::numeric_limits<int>::max(), "the mesh has too many ranks");
  }
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

int Mesh::coordinate(int rank, int axis) const {
  check(rank >= 0 && rank < size(), "rank {} lies outside a mesh of {} ranks", rank, size());
  check(axis >= 0 && axis < static_cast<int>(axes_.size()), "axis {} of a mesh with {} axes", axis,
        axes_.size());
  for (std::size_t i = axes_.size() - 1; i > static_cast<std::size_t>(axis); --i) rank /= axes_[i].size;
  return rank % axes_[static_cast<std::size_t>(axis)].size;
}

int Mesh::rank_at(std::span<const int> coordinates) const {
  check(coordinates.size() == axes_.size(), "{} coordinates in a mesh with {} axes", coordinates.size(),
        axes_.size());
  int rank = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    check(coordinates[i] >= 0 && coordinates[i] < axes_[i].size,
          "coordinate {} lies outside the mesh axis {} of size {}", coordinates[i], axes_[i].name,
          axes_[i].size);
    rank = rank * axes_[i].size + coordinates[i];
  }
  return rank;
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
