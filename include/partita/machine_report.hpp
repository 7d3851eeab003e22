// What this machine gives a Partita program: for `partita doctor`, and for programs that want to know.
#pragma once

#include <cstdint>
#include <partita/export.hpp>
#include <string>

namespace partita {

/// The BLAS library that Partita opens, and how fast it is.
struct BlasReport {
  bool found = false;
  std::string path;
  std::string configuration;     ///< as the library reports it: release and build options
  std::string core_type;         ///< whose kernels it uses, as the library reports it
  std::string chosen_core_type;  ///< what Partita chose before the library loaded; empty: left alone
  std::string note;              ///< what the user should know, or why there is none; empty: nothing
  int threads = 0;               ///< used by the measurement
  double flops_per_second = 0;   ///< of a double-precision matrix product; 0: not measured
};

/// Opens the library at the first call. `measure`: times short products of 1024 x 1024 on one thread (tenths
/// of a second). Local; thread-safe, but measure from one thread at a time.
PARTITA_API BlasReport report_blas(bool measure = true);

/// The library with the FFTW3 interface that Partita opens, in one precision.
struct FftReport {
  bool found = false;
  std::string path;
  std::string version;  ///< as the library reports it
  std::string note;     ///< why there is none; empty: nothing
};

/// Opens the library at the first call: PARTITA_FFT_LIBRARY where that is set, else FFTW. Local; thread-safe.
PARTITA_API FftReport report_fft(bool single_precision = false);

/// The memory that the symmetric heap can have.
struct MemoryReport {
  std::int64_t total = 0;      ///< bytes: of the machine, or its control group's limit if that is lower
  std::int64_t available = 0;  ///< bytes that may still be touched
  std::string bound;           ///< what bounds `available`: "the machine", "the control group /jobs/7"
  bool memory_files = false;   ///< memfd_create works: the heap inside a node
  bool huge_pages = false;     ///< a test file of 4 MiB got huge pages, as the heap asks for them
  std::string note;            ///< why not; empty: nothing
  /// Why the kernel keeps ranks from reading each other's ordinary memory, as far as one process can tell;
  /// empty: it does not (`ContextOptions::cross_memory`).
  std::string no_cross_memory;
};

/// Reads limits and tries a memory file of 4 MiB. Local, thread-safe; leaves nothing behind.
PARTITA_API MemoryReport report_memory();

/// A launcher started this process (mpirun, srun with PMI, ..., `partita run --threads`): `initialize` then
/// takes its ranks.
PARTITA_API bool is_launched_rank();

}  // namespace partita
