// NVSHMEM's host library, opened on first use and not linked. What is needed of its headers stands here: a
// build needs neither. Nothing here is CUDA, so it is built everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/device_report.hpp>
#include <span>
#include <string>

namespace partita::memory {

/// Names the processes that belong together; made by one of them (nvshmemx_uniqueid_v1).
struct NvshmemId {
  int version = (1 << 16) + 128;  // NVSHMEM's rule for all of these: the structure's version, and its size
  char bytes[124] = {};
};
static_assert(sizeof(NvshmemId) == 128);

/// How a process starts (nvshmemx_init_attr_v1, which later releases take too: the device is then the
/// calling thread's).
struct NvshmemAttributes {
  int version = (1 << 16) + 144;
  void* mpi_communicator = nullptr;
  struct Arguments {
    int version = (1 << 16) + 128;
    struct OfId {
      int version = (1 << 16) + 24;
      NvshmemId* id = nullptr;
      int rank = -1;
      int ranks = -1;
    } of_id;
    char rest[96] = {};
  } arguments;
};
static_assert(sizeof(NvshmemAttributes::Arguments::OfId) == 24);
static_assert(sizeof(NvshmemAttributes::Arguments) == 128);
static_assert(sizeof(NvshmemAttributes) == 144);

inline constexpr unsigned nvshmem_init_with_id = 1U << 3U;

/// Functions that return an int return 0 when all is well, where nothing else is said. "PE" is NVSHMEM's word
/// for a rank.
struct NvshmemLibrary : LibraryReport {
  int (*init_status)() = nullptr;  ///< 0: this process has not started it
  int (*get_unique_id)(NvshmemId* id) = nullptr;
  int (*set_id)(int rank, int ranks, const NvshmemId* id, NvshmemAttributes* attributes) = nullptr;
  int (*init)(unsigned flags, NvshmemAttributes* attributes) = nullptr;
  int (*my_pe)() = nullptr;
  int (*pe_count)() = nullptr;
  void* (*allocate)(std::size_t bytes) = nullptr;           ///< collective over all PEs, blocking
  void* (*address_of)(const void* mine, int pe) = nullptr;  ///< null: that PE's memory is not mapped here
  void (*get_version)(int* major, int* minor, int* patch) = nullptr;

  /// `libnvshmem_host.so.3` of the loader's folders, else the one among Python's packages. Opened at the
  /// first call and never closed; never an error. Thread-safe.
  static const NvshmemLibrary& of_process();
};

struct NvshmemCapabilities {
  int version = 0;
  std::uint64_t device = 0;  ///< another number for each device; NVSHMEM wants one for each process
  std::int64_t bytes = 0;    ///< of memory that this rank could give, if NVSHMEM is to be started
  std::uint64_t world = 0;   ///< which start this process belongs to; 0: none yet
  int pe = 0;                ///< in that world
};

/// Why these ranks cannot use it together; empty: nothing speaks against it. The same on all ranks.
std::string obstacle(std::span<const NvshmemCapabilities> offers);

/// NVSHMEM_SYMMETRIC_SIZE: "1.5G" and the like in bytes; unset: `otherwise`. Throws ArgumentError.
std::int64_t symmetric_size_of_environment(std::int64_t otherwise);

}  // namespace partita::memory
