// Shallow water on a rotating plane: the equations and their step, on this rank's part.
//
//   dh/dt = -div(h (u, v))
//   du/dt =  q h v - d/dx (g h + (u^2 + v^2)/2) + friction
//   dv/dt = -q h u - d/dy (g h + (u^2 + v^2)/2) + friction,   q = (f + dv/dx - du/dy) / h
//
// on a C grid (Arakawa and Lamb 1977): u on the eastern faces of cells, v on the northern ones. Periodic in
// x; walls in y, through which nothing flows. Constants, domain and time step are those of the demo of
// mpi4jax (after github.com/dionhaefner/shallow-water), so that times can be compared; but friction of v is
// by its own differences here, where that takes u's.
#pragma once

#include <cmath>
#include <cstdint>
#include <partita/partita.hpp>
#include <string>
#include <vector>

#include "device/side_stream.hpp"
#include "shallow_water/equations.hpp"

namespace shallow_water {

/// In metres and seconds.
struct Settings {
  std::int64_t rows = 1800;     ///< cells along y
  std::int64_t columns = 3600;  ///< and along x
  double spacing = 5e3;         ///< of both
  double gravity = 9.81;
  double depth = 100;      ///< mean of h
  double coriolis = 2e-4;  ///< f at y = 0
  double beta = 2e-11;     ///< df/dy
  double courant = 0.125;  ///< time step over that in which a wave crosses a cell

  double time_step() const { return courant * spacing / std::sqrt(gravity * depth); }
  double viscosity() const { return 1e-3 * coriolis * spacing * spacing; }
  std::vector<double> numbers() const;  ///< all of them, for checkpoints
};

/// Sums over all cells. The first does not change; the second does by friction, and by what the time step is
/// off.
struct Budget {
  double mass = 0;    ///< of h
  double energy = 0;  ///< of (g h^2 + h (u^2 + v^2)) / 2
};

/// The fields h, u and v as one array [3, rows, columns], of f32 or f64, in any distribution whose parts are
/// boxes and hold all three, in the memory of the context's device if it has one. All members are collective.
template <class T>
class Ocean {
 public:
  /// Begins with a jet in geostrophic balance, and a small disturbance. Throws partita::ArgumentError where
  /// that balance needs more water than there is.
  Ocean(const partita::Context& context, const Settings& settings, const partita::Distribution& distribution);

  /// Goes on from a checkpoint of the same settings, in any distribution on any number of ranks, bit for bit.
  /// Throws partita::FileError, and ArgumentError where it is of another run.
  Ocean(const partita::Context& context, const Settings& settings, const partita::Distribution& distribution,
        const std::string& checkpoint);

  /// One step of Adams and Bashforth (weights 1.6 and -0.6; the first one of Euler), then friction. What
  /// needs no neighbour is computed while the ghost cells travel. On a device it is enqueued on the context's
  /// stream, without a wait.
  void step();
  std::int64_t steps() const { return steps_; }
  Budget budget() const;
  /// HDF5, whole or not at all: a complex number a cell and field, its value and its rate of change.
  void write(const std::string& checkpoint) const;
  /// [3, rows, columns], on the memory of this object: until the next step.
  const partita::Array& state() const { return states_[parity()]; }

 private:
  void allocate();
  void begin();
  void read(const std::string& checkpoint);
  Coefficients<T> coefficients() const;
  std::size_t parity() const { return static_cast<std::size_t>(steps_ % 2); }
  bool is_on_device() const { return memory_.space() == partita::MemorySpace::device; }
  void step_on_host(const Coefficients<T>& with);
  void step_on_device(const Coefficients<T>& with);

  /// All fields where the host reaches them: in their place, or as a copy.
  struct OnHost {
    std::vector<T> copy = {};
    Part<T> part = {};
  };
  std::int64_t items() const;
  Part<T> part_in(T* memory) const;
  OnHost on_host() const;
  void put_back(const OnHost& image);

  partita::Context context_;
  Settings settings_;
  partita::Layout layout_;
  partita::Halo halo_;
  std::int64_t rows_, columns_;  // of this rank's part
  std::int64_t first_row_ = 0, first_column_ = 0;
  Workspace<T> workspace_;
  on_device::SideStream side_;           // for what neighbours wait for
  partita::SymmetricMemory memory_;      // of part_
  Part<T> part_ = {};                    // now and next change places with every step
  std::vector<partita::View> extended_;  // what is now, by parity
  std::vector<partita::Array> states_;   // and the part inside it
  std::int64_t steps_ = 0;
};

/// Parts as square as the number of ranks allows, all three fields in each.
partita::Distribution squares(int ranks);

}  // namespace shallow_water
