// A run: how it begins, one step, and what is measured of it.
#pragma once

#include <memory>
#include <partita/partita.hpp>
#include <string>
#include <vector>

#include "density/cosmology.hpp"
#include "density/mesh.hpp"
#include "density/particles.hpp"
#include "density/swarm.hpp"

namespace density {

/// What a run is started with.
struct Settings {
  Cosmology cosmology = {};
  double box = 500;              ///< Mpc/h along each dimension
  std::int64_t cells = 128;      ///< of the mesh, along each dimension
  std::int64_t particles = 128;  ///< along each dimension
  double redshift = 49;          ///< at which it starts
  std::uint64_t seed = 1;        ///< of the field: the same on any number of ranks

  std::string text() const;  ///< all of it, for checkpoints
};

/// Particles on a lattice, displaced by Zel'dovich's approximation as the seed's Gaussian field of the linear
/// spectrum demands: position = lattice + D psi, psi(k) = i k / k^2 delta(k). Collective.
State initial_state(const partita::Context& context, const Settings& settings, const partita::Layout& mesh);

/// Particles and their mesh, from one scale factor to the next. All members are collective.
class Universe {
 public:
  Universe(const partita::Context& context, const Settings& settings);  ///< begins
  Universe(const partita::Context& context, const Settings& settings, const std::string& checkpoint);
  Universe(const partita::Context& context, const Settings& settings, State state);  ///< from anywhere

  Particles particles() const { return swarm_.on_host(); }  ///< this rank's, a copy; local
  double scale_factor() const { return a_; }
  double redshift() const { return 1 / a_ - 1; }
  std::int64_t steps() const { return step_; }  ///< that have been made
  Mesh& mesh() { return mesh_; }

  /// Kick, drift, kick, to the scale factor `to`.
  void step(double to);
  void write(const std::string& checkpoint) const;

 private:
  void feel();

  partita::Context context_;
  Settings settings_;
  Mesh mesh_;
  Swarm swarm_;
  double a_;
  std::int64_t step_;
};

/// Averages over shells of wavenumbers one fundamental mode wide.
struct Power {
  std::vector<double> k;            ///< h/Mpc, mean of the shell
  std::vector<double> power;        ///< (Mpc/h)^3
  std::vector<std::int64_t> modes;  ///< how many waves
};
/// Of the universe's density, the shape of the clouds divided out. Collective.
Power power_spectrum(const partita::Context& context, Mesh& mesh, double box);

}  // namespace density
