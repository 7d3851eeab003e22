#include "density/swarm.hpp"

#include <utility>

namespace density {
namespace pt = partita;

Swarm::Swarm(const pt::Context& context, const pt::Layout& mesh, Particles particles)
    : context_(context), mesh_(mesh), particles_(std::move(particles)) {
  density::migrate(context_, mesh_, particles_);
  if (context.device().kind != pt::Device::Kind::cuda) return;
  on_device_ = std::make_unique<DeviceSwarm>(context_, mesh_, particles_);
  particles_ = {};
}

std::span<Particle> Swarm::local() {
  return on_device_ ? on_device_->local() : std::span<Particle>(particles_);
}

Particles Swarm::on_host() const {
  return on_device_ ? on_device_->on_host() : particles_;
}

passes::Departures Swarm::watch() {
  return on_device_ ? on_device_->watch() : passes::Departures{};
}

void Swarm::migrate() {
  on_device_ ? on_device_->migrate() : density::migrate(context_, mesh_, particles_);
}

}  // namespace density
