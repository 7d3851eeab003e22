// A device (a GPU) as all contexts of a process share it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <partita/context.hpp>
#include <partita/topology.hpp>
#include <string>
#include <thread>
#include <vector>

#include "memory/node_memory.hpp"

namespace partita::runtime {
struct Runtime;
}

namespace partita::devices {

class Accelerator;

/// The location of memory as reported by the driver.
struct FoundMemory {
  bool of_host = false;    ///< the host may use the address
  bool of_device = false;  ///< this device may
  int owner = -1;          ///< index of the device whose memory it is; -1: the host's, or of both
};

/// Memory, and what is known of the device. Any thread, at any time; but `use` comes first in each. Errors of
/// the device are Errors here.
class PhysicalDevice : public std::enable_shared_from_this<PhysicalDevice> {
 public:
  virtual ~PhysicalDevice() = default;

  virtual int index() const = 0;
  virtual std::string name() const = 0;
  /// Of its kind: devices of one model do the same in the same way, on any host and under any index.
  virtual std::string model() const = 0;
  /// The same for the same device, whatever number a process knows it by; another one for each of a host.
  virtual std::string identity() const { return std::to_string(index()); }
  /// The calling thread drives this device from here on. Cheap.
  virtual void use() = 0;

  // --- memory
  void* allocate(std::int64_t bytes);  ///< throws MemoryError
  /// Host memory that the device reads and writes in place.
  void* allocate_pinned(std::int64_t bytes);
  /// Gives back what nothing uses any more; never throws. Drivers first wait for all that the device has been
  /// given, and where ranks that are threads share it, one's kernels may wait for what another has yet to
  /// start, perhaps the caller: while contexts of several threads have it open, memory stays until one comes
  /// to `collect`, or none is left.
  void release(void* memory) noexcept;
  void release_pinned(void* memory) noexcept;
  /// As above, for handles of libraries, whose destruction frees memory.
  void release(std::shared_ptr<void> thing) noexcept;
  /// Frees what has stayed. For calls that all ranks of a context make together, before they agree: all that
  /// the kernels of one wait for has then been started by the others. `ranks` of that context use the device:
  /// where there are more threads that do, of which one may wait for what these start later, all stays.
  void collect(int ranks) noexcept;
  /// A context that this thread uses has the device open, until `close_for` is called for that thread.
  void open_for(std::thread::id user);
  void close_for(std::thread::id user) noexcept;
  /// Contexts of that thread that have it open.
  int contexts_of(std::thread::id user) const;
  virtual FoundMemory find_memory(const void* address) = 0;
  /// `allocate` gives host memory: any transport takes its addresses.
  virtual bool is_host_memory() const { return false; }
  /// Backing of the symmetric heap in this device's memory, for the ranks that `topology` puts on one node.
  /// Collective over the context's ranks; Errors are the same on every rank.
  virtual std::unique_ptr<memory::NodeMemory> share_memory(runtime::Runtime& state,
                                                           const Topology& topology) = 0;
  /// The same in the memory of a vendor's library (NVSHMEM), which is started for it. UnsupportedError where
  /// there is none or it cannot be used, the same on every rank.
  virtual std::unique_ptr<memory::NodeMemory> share_memory_of_library(runtime::Runtime& state,
                                                                      const Topology& topology);
  /// Whole words between host and this device's memory past the streams of all contexts, also while those
  /// wait; blocks until done.
  virtual void copy_past(void* to, const void* from, std::int64_t bytes) = 0;
  /// The stream in which that is done: in order, and nothing in it may wait.
  virtual Stream stream_past() = 0;

  /// This device for one more context, `ranks` of which use it: kernels that wait for one another must all
  /// find room on it. `options`: how it copies, and in how many streams.
  virtual std::unique_ptr<Accelerator> open(const ContextOptions& options, int ranks) = 0;

 protected:
  virtual void* new_memory(std::int64_t bytes) = 0;
  virtual void* new_pinned(std::int64_t bytes) = 0;
  /// At once. Derived classes `collect_all` when they go.
  virtual void free(void* memory) noexcept = 0;
  virtual void free_pinned(void* memory) noexcept = 0;
  /// Whatever waits; whether there was something.
  bool collect_all() noexcept;

 private:
  template <class New>
  void* allocated(std::int64_t bytes, const New& take);
  int threads() const;
  bool is_shared() const noexcept;

  mutable std::mutex mutex_;
  std::vector<std::thread::id> users_;           // one a context; under the mutex, as
  std::vector<std::shared_ptr<void>> released_;  // these
};

/// The same number on all ranks of a host that use the device, another number everywhere else.
std::uint64_t device_identity(const runtime::Runtime& state, const PhysicalDevice& device);

}  // namespace partita::devices
