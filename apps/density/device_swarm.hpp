// The particles of a rank in the memory of its device.
#pragma once

#include <partita/partita.hpp>
#include <span>
#include <vector>

#include "density/particles.hpp"
#include "density/passes.hpp"
#include "device/queue.hpp"

namespace density {

/// They are this rank's: those in its cells. The mesh is cut along dimension 0 alone. All members but `local`
/// and `on_host` are collective.
class DeviceSwarm {
 public:
  /// Throws UnsupportedError on all ranks where the mesh is cut otherwise.
  DeviceSwarm(const partita::Context& context, const partita::Layout& mesh, const Particles& particles);

  std::span<Particle> local() const;  ///< on the device, until the next migration
  Particles on_host() const;
  /// For a pass that gives all particles new positions: what it is to note, so that the `migrate` that comes
  /// next needs no separate pass over them.
  passes::Departures watch();
  /// Each particle to the rank that owns its cell: the host waits for the numbers of those that leave, and
  /// the particles go from device to device. Who arrives takes the place of one who left.
  void migrate();

 private:
  /// Memory that only grows, on all ranks together.
  struct Buffer {
    partita::SymmetricMemory memory = {};
    std::int64_t bytes = 0;
    template <class T>
    T* at() const {
      return static_cast<T*>(memory.data());
    }
  };
  void reserve(Buffer& buffer, std::int64_t bytes) const;
  void reserve_for(std::int64_t most_leaving, std::int64_t most_arriving);
  void scan(std::int64_t* numbers, std::int64_t count) const;
  std::vector<std::int64_t> count_places();
  void leave() const;
  void arrive(std::int64_t leaving, std::int64_t arriving);
  void close_holes(std::int64_t filled, std::int64_t left) const;
  std::int64_t chunks() const;
  int place_of(int rank) const;
  static partita::View view_of(Particle* particles, std::int64_t count);

  partita::Context context_;
  on_device::Queue queue_;
  std::int64_t count_ = 0;
  std::int64_t most_ = 0;  // of all ranks
  bool watched_ = false;
  Buffer particles_, leaving_, arriving_;
  Buffer place_of_row_, places_, starts_, sums_, holes_, tail_;
};

}  // namespace density
