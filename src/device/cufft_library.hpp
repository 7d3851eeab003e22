// cuFFT, opened on first use and not linked. What is needed of <cufft.h> stands here: a build needs neither.
#pragma once

#include <cstddef>
#include <partita/device_report.hpp>

namespace partita::devices {

using CufftHandle = int;

enum class CufftType : int { r2c = 0x2a, c2r = 0x2c, c2c = 0x29, d2z = 0x6a, z2d = 0x6c, z2z = 0x69 };

/// Its functions return a cufftResult, 0: all is well; streams are cudaStream_t. Directions: -1 and 1.
struct CufftLibrary : LibraryReport {
  int (*get_property)(int which, int* value) = nullptr;
  int (*create)(CufftHandle* made) = nullptr;
  int (*destroy)(CufftHandle plan) = nullptr;
  int (*set_auto_allocation)(CufftHandle plan, int allocates) = nullptr;
  int (*make_plan)(CufftHandle plan, int rank, long long* n, long long* from_embed, long long from_stride,
                   long long from_apart, long long* to_embed, long long to_stride, long long to_apart,
                   CufftType type, long long batches, std::size_t* work_bytes) = nullptr;
  int (*set_stream)(CufftHandle plan, void* stream) = nullptr;
  int (*set_work_area)(CufftHandle plan, void* memory) = nullptr;
  int (*execute_c2c)(CufftHandle plan, void* from, void* to, int direction) = nullptr;
  int (*execute_r2c)(CufftHandle plan, void* from, void* to) = nullptr;
  int (*execute_c2r)(CufftHandle plan, void* from, void* to) = nullptr;
  int (*execute_z2z)(CufftHandle plan, void* from, void* to, int direction) = nullptr;
  int (*execute_d2z)(CufftHandle plan, void* from, void* to) = nullptr;
  int (*execute_z2d)(CufftHandle plan, void* from, void* to) = nullptr;

  /// Opened at the first call; never an error. Thread-safe.
  static const CufftLibrary& of_process();
};

}  // namespace partita::devices
