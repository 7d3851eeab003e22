// Sub-groups along axes of a mesh, for collectives and arrays.
#pragma once

#include <initializer_list>
#include <partita/context.hpp>
#include <partita/mesh.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partita {

/// The context of the ranks that differ from this rank only along `axes` (`Mesh::ranks_along`), in that
/// order: `all_reduce(along(context, mesh, "x"), ...)` sums over x; arrays in it are distributed over
/// `mesh.submesh(axes)`. The first call makes the context, as `Context::subgroup`, and keeps it until the
/// parent context is closed or destroyed; later calls with the same mesh and axes return it without
/// communication. Collective over those ranks; the first call blocks. Errors: as for `Context::subgroup`;
/// ArgumentError on the calling rank only (an unknown axis, an axis listed twice, a mesh with more ranks than
/// the context or without this rank).
PARTITA_API Context along(const Context& context, const Mesh& mesh, std::span<const std::string> axes);

/// Overloads for one axis, and for a list: along(context, mesh, {"x", "y"}).
inline Context along(const Context& context, const Mesh& mesh, std::string_view axis) {
  const std::string name(axis);
  return along(context, mesh, std::span(&name, 1));
}
inline Context along(const Context& context, const Mesh& mesh, std::initializer_list<std::string_view> axes) {
  const std::vector<std::string> names(axes.begin(), axes.end());
  return along(context, mesh, std::span(names));
}

}  // namespace partita
