// NVSHMEM as this process has started it.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "memory/nvshmem_library.hpp"
#include "memory/nvshmem_pool.hpp"

namespace partita::runtime {
struct Runtime;
}

namespace partita::memory {

/// The device of the rank that uses NVSHMEM.
struct NvshmemDevice {
  std::uint64_t identity = 0;                ///< another one for each device
  std::function<void()> use;                 ///< the calling thread works on it from here on; any thread
  std::function<std::int64_t()> free_bytes;  ///< that it has left
};

/// A process starts NVSHMEM once, as one PE on one device, until it exits: finalisation is collective and
/// waits for peers that may have ended. The processes that started it together allocate memory once; contexts
/// of any of these processes take ranges of it. Thread-safe.
class NvshmemWorld {
 public:
  static NvshmemWorld& of_process();
  /// Nothing has been started, as far as we know: for tests of starts that fail. No context may use it.
  static void forget();

  /// Starts NVSHMEM among the context's ranks, unless it is running on all of them; returns each rank's PE.
  /// Collective, blocking for at most half of the deadline and some messages. UnsupportedError, the same on
  /// all ranks: it is not installed, a rank is not a process or has no private device, it was started with
  /// other processes, by another component or without success, or it does not start now.
  std::vector<int> join(runtime::Runtime& state, const NvshmemDevice& device, const NvshmemLibrary& library);

  /// A range that is free on all these PEs, which are those of the context's ranks. Collective; throws
  /// UnsupportedError: nothing is left.
  OffsetRange take(runtime::Runtime& state, std::vector<int> pes);
  /// Of this process. Local.
  void release(std::int64_t first) noexcept;

  /// The first byte of that PE's memory; null: it is not mapped here.
  char* memory_of(int pe) const;

 private:
  NvshmemCapabilities offer(const runtime::Runtime& state, const NvshmemDevice& device,
                            const NvshmemLibrary& library);
  void start(runtime::Runtime& state, const NvshmemDevice& device,
             std::span<const NvshmemCapabilities> offers, const NvshmemLibrary& library);
  void refuse_for_good(const std::string& why);

  mutable std::mutex mutex_;  // of all that follows
  const NvshmemLibrary* library_ = nullptr;
  bool starting_ = false;
  std::string why_failed_;      // no second attempt: NVSHMEM is left in some state between
  std::uint64_t identity_ = 0;  // 0: not running
  int pe_ = 0;
  std::uint64_t device_ = 0;
  char* memory_ = nullptr;  // this PE's
  NvshmemPool pool_;
};

}  // namespace partita::memory
