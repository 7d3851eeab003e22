#include "runtime/groups/device_memory_query.hpp"

#include <charconv>

namespace partita::runtime {
namespace {

constexpr int success = 0;  // MPI_SUCCESS, of every MPI
constexpr int cuda = 0;     // MPIX_GPU_SUPPORT_CUDA

bool is_on(std::string_view setting) {
  int value = 0;
  std::from_chars(setting.data(), setting.data() + setting.size(), value);
  return value != 0;
}

}  // namespace

// MPICH has both functions since 3.4, but there and in what descends from it MPIX_Query_cuda_support asserts,
// and ends the process, where no GPU was built in: it is asked only where the other one is missing.
std::string why_no_device_memory(std::string_view version, const DeviceMemoryQueries& queries,
                                 const char* cray_setting) {
  // Cray's answers for what it was linked with, but accepts such addresses only if requested.
  if (version.find("CRAY MPICH") != std::string_view::npos &&
      !is_on(cray_setting == nullptr ? "" : cray_setting)) {
    return "Cray MPICH accepts device memory only if MPICH_GPU_SUPPORT_ENABLED=1 is set";
  }
  if (queries.gpu_support != nullptr) {
    int supported = 0;
    if (queries.gpu_support(cuda, &supported) == success && supported != 0) return "";
    return "the MPI reports that it was built without CUDA, or that its support is switched off";
  }
  if (queries.cuda_support == nullptr) return "the MPI does not report whether it accepts device memory";
  return queries.cuda_support() != 0 ? "" : "the MPI reports that it accepts host memory only";
}

}  // namespace partita::runtime
