// A partition spec with its axes resolved against a mesh.
#pragma once

#include <partita/mesh.hpp>
#include <vector>

namespace partita::distribution {

struct ResolvedSpec {
  std::vector<std::vector<int>> dimensions;  ///< mesh axes per dimension, slowest first
  std::vector<int> partial;                  ///< in the order of the mesh
  std::vector<int> replicated;               ///< those that nothing names, in the order of the mesh
};

/// Throws ArgumentError where an axis is unknown, named twice, or both cut and partial.
ResolvedSpec resolve(const PartitionSpec& spec, const Mesh& mesh);

}  // namespace partita::distribution
