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
Finding examine_nccl();
Finding examine_nvshmem();
Finding examine_settings();

}  // namespace partita::tools
