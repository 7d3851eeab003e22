// Collectives and arrays along axes of a mesh: the ranks that differ in those only, as contexts of their own.
#pragma once

#include <initializer_list>
#include <partita/context.hpp>
#include <partita/mesh.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partita {

/// The ranks that differ from this one only along these axes of the mesh (`Mesh::ranks_along`), in that
/// order: `all_reduce(along(context, mesh, "x"), ...)` sums over x; arrays on it are distributed over
/// `mesh.submesh(axes)`. Made by the first call, as `Context::subgroup` makes one, and kept in the context
/// until that is closed or goes: later calls for the same mesh and axes give the same one without any
/// communication. Collective over those ranks; blocking where it is made. Errors: ArgumentError (an unknown
/// axis or one named twice, more ranks in the mesh than in the context, this rank not in the mesh) on the
/// rank that has asked so, which has named nobody that could be told; and as of `Context::subgroup`.
PARTITA_API Context along(const Context& context, const Mesh& mesh, std::span<const std::string> axes);

/// Of one axis, and of several as they are written: along(context, mesh, {"x", "y"}).
inline Context along(const Context& context, const Mesh& mesh, std::string_view axis) {
  const std::string name(axis);
  return along(context, mesh, std::span(&name, 1));
}
inline Context along(const Context& context, const Mesh& mesh, std::initializer_list<std::string_view> axes) {
  const std::vector<std::string> names(axes.begin(), axes.end());
  return along(context, mesh, std::span(names));
}

}  // namespace partita
