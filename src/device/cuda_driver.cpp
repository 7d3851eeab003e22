#include "device/cuda_driver.hpp"

#include "base/check.hpp"

namespace partita {
namespace {

template <class Function>
void find(const char* name, Function& function) {
  constexpr unsigned cuda_12 = 12000;
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &entry, cuda_12, cudaEnableDefault, &found);
  check<UnsupportedError>(error == cudaSuccess && found == cudaDriverEntryPointSuccess && entry != nullptr,
                          "the CUDA driver has no {}: it is absent or too old ({})", name, text_of(error));
  function = reinterpret_cast<Function>(entry);
}

CudaDriver find_all() {
  CudaDriver driver;
  find("cuMemCreate", driver.memory_create);
  find("cuMemRelease", driver.memory_release);
  find("cuMemAddressReserve", driver.address_reserve);
  find("cuMemAddressFree", driver.address_free);
  find("cuMemMap", driver.memory_map);
  find("cuMemUnmap", driver.memory_unmap);
  find("cuMemSetAccess", driver.set_access);
  find("cuMemExportToShareableHandle", driver.export_handle);
  find("cuMemImportFromShareableHandle", driver.import_handle);
  find("cuMemGetAllocationGranularity", driver.granularity);
  find("cuDeviceGetAttribute", driver.device_attribute);
  find("cuStreamGetCaptureInfo", driver.capture_info);
  find("cuGetErrorName", driver.error_name);
  find("cuGetErrorString", driver.error_string);
  return driver;
}

}  // namespace

const CudaDriver& CudaDriver::get() {
  static const CudaDriver driver = find_all();
  return driver;
}

std::string text_of(cudaError_t error) {
  return fmt::format("{}: {}", cudaGetErrorName(error), cudaGetErrorString(error));
}

std::string text_of(CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  CudaDriver::get().error_name(result, &name);
  CudaDriver::get().error_string(result, &text);
  return fmt::format("{}: {}", name == nullptr ? "unknown error" : name, text == nullptr ? "" : text);
}

void check_cuda(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();  // so that the next call does not report it again
  check<MemoryError>(error != cudaErrorMemoryAllocation, "no memory left on the device: {}: {}", what,
                     text_of(error));
  throw Error(fmt::format("{}: {}", what, text_of(error)));
}

void check_cuda(CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return;
  check<MemoryError>(result != CUDA_ERROR_OUT_OF_MEMORY, "no memory left on the device: {}: {}", what,
                     text_of(result));
  throw Error(fmt::format("{}: {}", what, text_of(result)));
}

}  // namespace partita
