// How an MPI is asked whether it takes addresses of device memory: no standard has the question, and families
// and releases differ in what may be asked.
#pragma once

#include <string>
#include <string_view>

namespace partita::runtime {

/// What the MPI library has; null: not there.
struct DeviceMemoryQueries {
  int (*gpu_support)(int kind, int* supported) = nullptr;  ///< MPIX_GPU_query_support, of MPICH
  int (*cuda_support)() = nullptr;                         ///< MPIX_Query_cuda_support
};

/// Why messages must be in host memory; empty: the MPI accepts addresses of CUDA memory. `version`: the text
/// of MPI_Get_library_version. `cray_setting`: MPICH_GPU_SUPPORT_ENABLED of the environment; null: not set.
/// MPI must be initialised, with an error handler that returns errors.
std::string why_no_device_memory(std::string_view version, const DeviceMemoryQueries& queries,
                                 const char* cray_setting);

}  // namespace partita::runtime
