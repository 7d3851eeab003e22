// What `partita doctor` looks at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace partita::tools {

enum class Health : std::uint8_t {
  ok,
  warning,  ///< works, but slower or less than it could
  missing,  ///< optional, and not there
  broken,   ///< essential, and does not work
};

struct Finding {
  std::string subject;  ///< "MPI", "BLAS", ...
  Health health = Health::ok;
  std::string summary;                    ///< what is there
  std::string advice = {};                ///< what to do; empty: nothing
  std::vector<std::string> details = {};  ///< more of the summary

  void warn(std::string what_to_do) {
    health = Health::warning;
    advice = std::move(what_to_do);
  }
};

// One file a group: doctor_<group>.cpp.
Finding examine_mpi();
Finding examine_launcher();
Finding examine_cores();
Finding examine_memory();
Finding examine_shared_memory();
Finding examine_blas();
Finding examine_fft();
Finding examine_cuda();
Finding examine_links();  ///< of GPUs to each other, measured
Finding examine_device_messages();
Finding examine_cublas();
Finding examine_cublas_lt();
Finding examine_nccl();
Finding examine_nvshmem();
Finding examine_settings();

/// How fast GPUs reach each other.
struct Links {
  /// Bytes a second from each device to each other one, one pair at a time; 0 to itself.
  std::vector<std::vector<double>> speed;
  std::string problem;  ///< why nothing could be measured; empty: nothing was wrong
};

/// Copies of 64 MiB by copy engine, pushed by their source, the best of a few. Some tenths of a second a
/// device. Nothing in a build without CUDA.
Links measure_links(int devices);

/// Why the MPI does not take addresses of device memory; empty: it does. Asks the MPI, which answers only
/// once it runs: starts it, and ends it again, in this process, which cannot start it a second time.
std::string ask_mpi_for_device_memory();

}  // namespace partita::tools
