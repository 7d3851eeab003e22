// Ordinary memory of a device that other devices of the process read in place.
#pragma once

#include <span>
#include <string>

namespace partita::devices {

class PhysicalDevice;

/// What a PhysicalDevice may offer. Any thread, as for its memory.
class OrdinaryReads {
 public:
  virtual ~OrdinaryReads() = default;

  /// Whether this device reads the memory of that device of this process in place, once that one has let it.
  virtual bool reads_memory_of(int device) = 0;
  /// Lets these devices, which `reads_memory_of` this one, read this memory: why they cannot; empty: they
  /// can.
  virtual std::string let_read(const void* address, std::span<const int> devices) = 0;

  /// Null: that device does not offer it.
  static OrdinaryReads* of(PhysicalDevice& device);
};

}  // namespace partita::devices
