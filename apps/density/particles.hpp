// Particles, who has them, and their file.
#pragma once

#include <array>
#include <partita/partita.hpp>
#include <span>
#include <string>
#include <vector>

namespace density {

/// All have the same mass. Where: in cells of the mesh, from 0 to below their number. The momentum is a^2
/// dx/dt, in cells and units of 1/H0.
struct Particle {
  std::array<double, 3> position{};
  std::array<double, 3> momentum{};
};

/// A rank has the particles that are in the cells which it owns of the mesh.
using Particles = std::vector<Particle>;

/// This rank's part of an array, a box: the particles in it are its own.
struct Cells {
  std::array<std::int64_t, 3> lower{};
  std::array<std::int64_t, 3> upper{};

  Cells(const partita::Layout& mesh, int rank);
  bool contain(const std::array<double, 3>& position) const {
    for (std::size_t d = 0; d < 3; ++d) {
      if (position[d] < static_cast<double>(lower[d]) || position[d] >= static_cast<double>(upper[d]))
        return false;
    }
    return true;
  }
};

/// Each particle to the rank that owns its cell. Who comes takes the place of one who left, so that those
/// near each other stay so: both in the order of the other ranks; what is left over of those that come is
/// behind the particles, and into places that are left go the last ones. Collective.
void migrate(const partita::Context& context, const partita::Layout& mesh, Particles& particles);

/// Of all ranks. Collective.
std::int64_t count(const partita::Context& context, std::span<const Particle> particles);
std::array<double, 3> momentum(const partita::Context& context, std::span<const Particle> particles);

/// Where a run stands.
struct State {
  Particles particles;
  double a = 0;           ///< the scale factor
  std::int64_t step = 0;  ///< how many have been made
};

/// An HDF5 file with one dataset, which is written whole or not at all. On as many ranks as have written it,
/// each reads what it had, in its order, so that the run continues bit for bit; on others particles migrate.
/// `run`: what the run was started with, compared where it is read (ArgumentError). Collective.
void write_checkpoint(const partita::Context& context, const std::string& path, const State& state,
                      const std::string& run);
State read_checkpoint(const partita::Context& context, const std::string& path, const partita::Layout& mesh,
                      const std::string& run);

}  // namespace density
