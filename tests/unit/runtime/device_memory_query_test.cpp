#include "runtime/groups/device_memory_query.hpp"

#include "support/test.hpp"

namespace partita {
namespace {

constexpr std::string_view open_mpi = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4";
constexpr std::string_view mpich = "MPICH Version: 4.2.0";
constexpr std::string_view cray = "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)";

int gpu_yes(int kind, int* supported) {
  *supported = kind == 0 ? 1 : 0;  // CUDA, not another kind
  return 0;
}
int gpu_no(int, int* supported) {
  *supported = 0;
  return 0;
}
/// As MPICH 3.4 without GPUs.
int gpu_error(int, int* supported) {
  *supported = 1;
  return 12;
}
int cuda_yes() {
  return 1;
}
int cuda_no() {
  return 0;
}
/// As MPICH 3.4, whose assertion ends the process.
int cuda_ends_the_process() {
  ADD_FAILURE() << "asked what must not be asked";
  return 1;
}

bool takes(std::string_view version, const runtime::DeviceMemoryQueries& queries,
           const char* cray_setting = nullptr) {
  return runtime::why_no_device_memory(version, queries, cray_setting).empty();
}

TEST(DeviceMemoryQuery, OpenMpiIsAskedForCuda) {
  EXPECT_TRUE(takes(open_mpi, {.cuda_support = cuda_yes}));
  EXPECT_FALSE(takes(open_mpi, {.cuda_support = cuda_no}));
}

TEST(DeviceMemoryQuery, MpichIsAskedInItsOwnWayOnly) {
  EXPECT_TRUE(takes(mpich, {gpu_yes, cuda_ends_the_process}));
  EXPECT_FALSE(takes(mpich, {gpu_no, cuda_ends_the_process}));
  EXPECT_FALSE(takes("MPICH Version: 3.4.3", {gpu_error, cuda_ends_the_process}));
}

TEST(DeviceMemoryQuery, CrayHasToBeTold) {
  const runtime::DeviceMemoryQueries queries{gpu_yes, cuda_ends_the_process};
  EXPECT_TRUE(takes(cray, queries, "1"));
  for (const char* const off : {static_cast<const char*>(nullptr), "", "0", "no"}) {
    EXPECT_FALSE(takes(cray, queries, off));
  }
  EXPECT_FALSE(takes(cray, {gpu_no, cuda_ends_the_process}, "1"));  // linked for others' GPUs
  EXPECT_TRUE(contains(runtime::why_no_device_memory(cray, queries, "0"), "MPICH_GPU_SUPPORT_ENABLED=1"));
  EXPECT_TRUE(takes(mpich, queries, "0"));  // Cray's alone
}

TEST(DeviceMemoryQuery, WhoDoesNotSayTakesNone) {
  for (const std::string_view version : {open_mpi, mpich, cray}) {
    EXPECT_TRUE(contains(runtime::why_no_device_memory(version, {}, "1"), "does not report")) << version;
  }
}

}  // namespace
}  // namespace partita
