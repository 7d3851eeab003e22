// Devices and device libraries of this machine, for `partita doctor` and for programs.
#pragma once

#include <cstdint>
#include <partita/export.hpp>
#include <string>
#include <vector>

namespace partita {

/// The devices of this machine and what this build can use.
struct DeviceReport {
  bool built_in = false;    ///< whether this build has a device backend
  int driver_version = 0;   ///< 13000: CUDA 13.0; 0: no driver
  int runtime_version = 0;  ///< version of the CUDA runtime that Partita was built with
  std::string note;         ///< why a device cannot be used; empty if all can
  /// One device.
  struct One {
    std::string name;
    std::int64_t memory_bytes = 0;
    std::string architecture;       ///< "9.0"
    bool shareable_memory = false;  ///< its memory can be mapped by peers (virtual-memory API, descriptors)
    std::vector<int> peers;         ///< devices whose memory it can access
  };
  std::vector<One> devices;  ///< by index
};

/// Queries the driver, which is initialised if necessary. Never throws. Local, thread-safe.
PARTITA_API DeviceReport report_devices();

/// A library that is opened at run time.
struct LibraryReport {
  int version = 0;       ///< 30800: 3.8.0; 0: not found
  std::string path;      ///< path of its file
  std::string why_none;  ///< why it cannot be used; empty if it can
};

/// Opens the library if it is found; starts nothing. Never throws. Local, thread-safe.
PARTITA_API LibraryReport report_nccl();
PARTITA_API LibraryReport report_cublas();
PARTITA_API LibraryReport report_cublas_lt();
PARTITA_API LibraryReport report_cufft();
PARTITA_API LibraryReport report_cusolver();
PARTITA_API LibraryReport report_nvshmem();

/// Whether the MPI of this process accepts addresses of CUDA device memory.
struct MpiMemoryReport {
  bool takes_device_memory = false;
  std::string why_host_only;  ///< why messages pass through host memory; empty if they need not
};

/// Queries MPI, which answers only while it is initialised. Never throws. Local; as thread-safe as the MPI.
PARTITA_API MpiMemoryReport report_mpi_memory();

}  // namespace partita
