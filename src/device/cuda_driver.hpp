// The parts of CUDA's driver that the runtime does not offer, found at run time: the library starts on
// machines without a driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

namespace partita {

struct CudaDriver {
  decltype(&cuMemCreate) memory_create = nullptr;
  decltype(&cuMemRelease) memory_release = nullptr;
  decltype(&cuMemAddressReserve) address_reserve = nullptr;
  decltype(&cuMemAddressFree) address_free = nullptr;
  decltype(&cuMemMap) memory_map = nullptr;
  decltype(&cuMemUnmap) memory_unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuMemExportToShareableHandle) export_handle = nullptr;
  decltype(&cuMemImportFromShareableHandle) import_handle = nullptr;
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuDeviceGetAttribute) device_attribute = nullptr;
  /// As of CUDA 11.3; headers know it by other signatures.
  CUresult(CUDAAPI* capture_info)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                  const CUgraphNode**, std::size_t*) = nullptr;
  decltype(&cuGetErrorName) error_name = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;

  /// Throws UnsupportedError: no driver, or one that is too old.
  static const CudaDriver& get();
};

/// "cudaErrorMemoryAllocation: out of memory"
std::string text_of(cudaError_t error);
std::string text_of(CUresult result);

/// Throw MemoryError where memory is the matter, else Error: "what: text".
void check_cuda(cudaError_t error, std::string_view what);
void check_cuda(CUresult result, std::string_view what);

}  // namespace partita
