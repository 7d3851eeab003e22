// Ordinary memory of a device that devices of other ranks read in place.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace partita::devices {

class PhysicalDevice;

/// A place in memory that other processes can open.
struct ExportedMemory {
  using Handle = std::array<std::uint64_t, 8>;
  std::uint64_t allocation = 0;  ///< another number for each allocation of a process; 0: none
  std::uint64_t offset = 0;      ///< from its beginning, in bytes
  Handle handle{};               ///< of the allocation
};

/// What a PhysicalDevice may offer. Any thread, as for its memory.
class OrdinaryReads {
 public:
  virtual ~OrdinaryReads() = default;

  /// Whether this device reads the memory of that device of this process in place, once that one has let it.
  virtual bool reads_memory_of(int device) = 0;
  /// Lets these devices, which `reads_memory_of` this one, read this memory: whether they can.
  virtual bool let_read(const void* address, std::span<const int> devices) = 0;
  /// The same of devices of other processes.
  virtual bool let_open(const void* address, ExportedMemory& memory) = 0;
  /// An allocation that was let open and has been freed since, each once; `allocation` is 0: none is known.
  virtual ExportedMemory find_freed() = 0;

  /// Where memory of another process begins for this device; null: it cannot be opened. It stays open for all
  /// contexts of this process.
  char* find_or_open(const ExportedMemory& memory);
  /// Its owner has freed it: it is closed by the next `close_freed`.
  void forget(const ExportedMemory& memory);
  /// Drivers first wait for what the device has been given: see PhysicalDevice::collect.
  void close_freed() noexcept;

  /// Null: that device does not offer it.
  static OrdinaryReads* of(PhysicalDevice& device);

 protected:
  virtual void* open(const ExportedMemory::Handle& handle) = 0;
  virtual void close(void* memory) noexcept = 0;
  void close_all() noexcept;  ///< by derived classes, when they go

 private:
  struct Opened {
    std::uint64_t allocation;
    void* memory;
  };
  std::mutex mutex_;
  std::map<ExportedMemory::Handle, Opened> opened_;  // under the mutex, as
  std::vector<void*> freed_;                         // these
};

}  // namespace partita::devices
