#include "tools/mpi_device_memory.hpp"

#include <dlfcn.h>
#include <mpi.h>

namespace partita::tools {

// No MPI standard has the question; Open MPI and MPICH have one of the same name, and MPICH a newer one.
std::optional<bool> ask_mpi_for_device_memory() {
  if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) return std::nullopt;
  std::optional<bool> answer;
  if (void* const query = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"); query != nullptr) {
    answer = reinterpret_cast<int (*)()>(query)() != 0;
  } else if (void* const newer = dlsym(RTLD_DEFAULT, "MPIX_GPU_query_support"); newer != nullptr) {
    constexpr int cuda = 0;  // MPIX_GPU_SUPPORT_CUDA
    int supported = 0;
    if (reinterpret_cast<int (*)(int, int*)>(newer)(cuda, &supported) == MPI_SUCCESS) answer = supported != 0;
  }
  MPI_Finalize();
  return answer;
}

}  // namespace partita::tools
