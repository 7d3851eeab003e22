// The mesh: the mass of the particles on it, and the force that it exerts on them.
#pragma once

#include <partita/partita.hpp>
#include <span>
#include <vector>

#include "density/formulas.hpp"
#include "density/particles.hpp"
#include "density/passes.hpp"
#include "device/queue.hpp"

namespace density {

/// A cube of cells, periodic, distributed in boxes. Cells are 1 wide; mass is spread over 8 cells (cloud in
/// cell), and force is gathered from 8, so that no particle pulls itself and momentum is conserved. Mesh and
/// particles are in the memory of the context's device, if it has one; then, unless stated otherwise, calls
/// are ordered by the context's stream.
class Mesh {
 public:
  /// `mean`: particles a cell. Collective.
  Mesh(const partita::Context& context, std::int64_t cells, const partita::Distribution& distribution,
       double mean);

  const partita::Layout& layout() const { return density_.layout(); }
  std::int64_t cells() const { return cells_; }

  /// Particles a cell, over the mean. Collective.
  void deposit(std::span<const Particle> particles);
  const partita::Array& density() const { return density_; }  ///< since then
  /// Its transform, wherever rfft leaves it cheapest. Collective.
  const partita::Array& transformed();

  /// The gradient of the u with laplacian(u) = density - 1, for `push`. Collective.
  void solve();
  /// momentum -= kick times that gradient, then position += drift times momentum. Local: particles may be
  /// beyond this rank's cells afterwards; on a device who is can be noted.
  void push(std::span<Particle> particles, double kick, double drift,
            const passes::Departures& departures = {}) const;

 private:
  bool is_on_device() const { return queue_.device.kind == partita::Device::Kind::cuda; }
  partita::Operand operand_of(partita::Dtype dtype) const;
  partita::SymmetricMemory memory_of(std::int64_t numbers) const;
  void deposit_on_host(std::span<const Particle> particles);
  void deposit_on_device(std::span<const Particle> particles);
  void solve_in_fourier_space();
  void solve_on_device() const;
  void differentiate();
  std::int64_t unit() const;
  /// On the host a particle's three are read at once, on devices those of many particles.
  template <class T>
  Gradient<T> gradient() const {
    const std::int64_t cells = partita::volume(deposited_.extended_shape());
    auto* const numbers = static_cast<T*>(gradient_.data());
    return is_on_device() ? Gradient<T>{numbers, 1, cells} : Gradient<T>{numbers, 3, 1};
  }
  passes::Corner corner() const { return {{own_.lower[0], own_.lower[1], own_.lower[2]}}; }

  partita::Context context_;
  on_device::Queue queue_;
  std::int64_t cells_;
  double mean_;
  Cells own_;
  partita::Array density_;
  partita::Array potential_;
  partita::FFT transform_;
  partita::Array spectrum_;
  partita::Halo deposited_;        // one layer behind the own cells
  partita::Halo surrounded_;       // so many that the gradient is known in all cells that deposits reach
  partita::SymmetricMemory mass_;  // with that layer; on devices in units, see passes::Deposit
  partita::SymmetricMemory surroundings_;  // of the potential
  partita::SymmetricMemory gradient_;      // three numbers a cell
  partita::SymmetricMemory waves_;         // by index: the square of the wavenumber; then two_clouds
};

/// By place in a spectrum of so many cells: sinc(k/2)^4, by which two clouds weaken a wave along a dimension,
/// and one its power.
std::vector<double> two_clouds(std::int64_t cells);

}  // namespace density
