// Libraries and memory of this machine, for `partita doctor` and for programs.
#pragma once

#include <cstdint>
#include <partita/export.hpp>
#include <string>

namespace partita {

/// The BLAS library that Partita opens, and its speed.
struct BlasReport {
  bool found = false;
  std::string path;
  std::string configuration;     ///< as the library reports it: release and build options
  std::string core_type;         ///< the processor type of its kernels, as the library reports it
  std::string chosen_core_type;  ///< the processor type that Partita requested; empty: none
  std::string note;              ///< a hint, or why no library was found; may be empty
  int threads = 0;               ///< number of threads in the measurement
  double flops_per_second = 0;   ///< double-precision matrix product; 0: not measured
};

/// Opens the library at the first call. `measure`: time products of 1024 x 1024 on one thread (tenths of a
/// second). Local; thread-safe, but measure from one thread at a time.
PARTITA_API BlasReport report_blas(bool measure = true);

/// The library with the FFTW3 interface that Partita opens, in one precision.
struct FftReport {
  bool found = false;
  std::string path;
  std::string version;  ///< as the library reports it
  std::string note;     ///< why no library was found; may be empty
};

/// Opens the library at the first call: that of PARTITA_FFT_LIBRARY if set, otherwise FFTW. Local;
/// thread-safe.
PARTITA_API FftReport report_fft(bool single_precision = false);

/// Memory available to the symmetric heap.
struct MemoryReport {
  std::int64_t total = 0;      ///< bytes of the machine, or the limit of the control group if lower
  std::int64_t available = 0;  ///< bytes that may still be used
  std::string bound;           ///< what limits `available`: "the machine", "the control group /jobs/7"
  bool memory_files = false;   ///< whether memfd_create works, which the heap inside a node requires
  bool huge_pages = false;     ///< whether a test file of 4 MiB got huge pages
  std::string note;            ///< why not; may be empty
  /// Why the kernel prevents ranks from reading each other's ordinary memory, as far as one process can tell;
  /// empty if it does not (`ContextOptions::cross_memory`).
  std::string no_cross_memory;
};

/// Reads limits and tries a memory file of 4 MiB, which is removed. Local, thread-safe.
PARTITA_API MemoryReport report_memory();

/// Whether a launcher started this process (mpirun, srun with PMI, ..., `partita run --threads`):
/// `initialize` then uses its ranks.
PARTITA_API bool is_launched_rank();

}  // namespace partita
