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
Finding examine_cufft();
Finding examine_cusolver();
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

/// What an MPI library says of itself.
struct MpiAnswer {
  std::string library;
  std::string version;  ///< empty: it cannot be opened
  std::string problem;  ///< why not
  std::string memory;   ///< "yes": it takes addresses of device memory; else why not, or empty: not asked
};

/// What is opened for ranks of that module's MPI: what PARTITA_MPI_LIBRARY names, or else what the module
/// has.
std::vector<std::string> libraries_for(const std::string& module);

/// Asks the first of the libraries that can be opened, in a separate process: two MPIs in one do not work,
/// and one that has run (`starts_it`: it answers for device memory only then) cannot be started a second
/// time.
MpiAnswer ask_mpi(const std::vector<std::string>& libraries, bool starts_it = false);

/// What that process does: `partita doctor --ask-mpi LIBRARY [--start-mpi]`.
void answer_for_mpi(const std::string& library, bool starts_it);

}  // namespace partita::tools
