// The devices of this machine, for `partita doctor` and for programs that want to know.
#pragma once

#include <cstdint>
#include <partita/export.hpp>
#include <string>
#include <vector>

namespace partita {

/// What there is, and what this build can use of it.
struct DeviceReport {
  bool built_in = false;    ///< this build has a device backend
  int driver_version = 0;   ///< 13000: CUDA 13.0; 0: no driver
  int runtime_version = 0;  ///< that Partita was built with
  std::string note;         ///< why a device cannot be used; empty: all can
  /// A device.
  struct One {
    std::string name;
    std::int64_t memory_bytes = 0;
    std::string architecture;       ///< "9.0"
    bool shareable_memory = false;  ///< its memory can be mapped by peers (virtual-memory API, descriptors)
    std::vector<int> peers;         ///< devices whose memory it can reach
  };
  std::vector<One> devices;  ///< by index
};

/// Starts the driver where there is one; never an error. Local, thread-safe.
PARTITA_API DeviceReport report_devices();

/// Of a library that is opened at run time.
struct LibraryReport {
  int version = 0;       ///< 30800: 3.8.0; 0: not there
  std::string path;      ///< of its file
  std::string why_none;  ///< why it cannot be used; empty: it can
};

/// Open the library where it is found and start nothing; never an error. Local, thread-safe.
PARTITA_API LibraryReport report_nccl();
PARTITA_API LibraryReport report_cublas();
PARTITA_API LibraryReport report_cublas_lt();
PARTITA_API LibraryReport report_cufft();
PARTITA_API LibraryReport report_nvshmem();

/// Whether the MPI of this process takes addresses of CUDA's device memory, or messages go through the host.
struct MpiMemoryReport {
  bool takes_device_memory = false;
  std::string why_host_only;  ///< empty: it takes device memory
};

/// Asks the MPI, which answers only while it runs; starts nothing, never an error. Local, thread-safe as far
/// as the MPI is.
PARTITA_API MpiMemoryReport report_mpi_memory();

}  // namespace partita
