// The particles of a rank, where its context computes.
#pragma once

#include <memory>
#include <partita/partita.hpp>
#include <span>

#include "density/device_swarm.hpp"
#include "density/particles.hpp"

namespace density {

/// They are this rank's: those in its cells.
class Swarm {
 public:
  /// Any rank may give any particles. Collective.
  Swarm(const partita::Context& context, const partita::Layout& mesh, Particles particles);

  std::span<Particle> local();  ///< in the memory of the context's device, if it has one; until `migrate`
  Particles on_host() const;    ///< a copy
  passes::Departures watch();   ///< for the push before a `migrate`; nothing on the CPU. Collective
  /// Each particle to the rank that owns its cell. Collective.
  void migrate();

 private:
  partita::Context context_;
  partita::Layout mesh_;
  Particles particles_;                     // on the CPU
  std::unique_ptr<DeviceSwarm> on_device_;  // null on the CPU
};

}  // namespace density
