#include "cuda/driver.hpp"

#include "base/check.hpp"

namespace partita::cuda {
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

CudaVirtualMemoryCalls find_virtual_memory() {
  CudaVirtualMemoryCalls calls;
  find("cuDeviceTotalMem", calls.device_bytes);
  find("cuMemGetAllocationGranularity", calls.granularity);
  find("cuMemCreate", calls.create);
  find("cuMemRelease", calls.release);
  find("cuMemAddressReserve", calls.reserve_addresses);
  find("cuMemAddressFree", calls.free_addresses);
  find("cuMemMap", calls.map);
  find("cuMemUnmap", calls.unmap);
  find("cuMemSetAccess", calls.set_access);
  find("cuMemGetAccess", calls.get_access);
  find("cuMemExportToShareableHandle", calls.export_handle);
  find("cuMemImportFromShareableHandle", calls.import_handle);
  return calls;
}

CudaDriver find_all() {
  CudaDriver driver{CudaVirtualMemory(find_virtual_memory())};
  find("cuDeviceGetAttribute", driver.device_attribute);
  find("cuPointerGetAttribute", driver.pointer_attribute);
  find("cuStreamGetCaptureInfo", driver.capture_info);
  return driver;
}

}  // namespace

std::mutex& CudaVirtualMemory::Turn::mutex() {
  static auto* const mutex = new std::mutex;  // never destroyed: contexts may go in static destructors
  return *mutex;
}

const CudaDriver& CudaDriver::get() {
  static const CudaDriver driver = find_all();
  return driver;
}

std::string text_of(cudaError_t error) {
  return fmt::format("{}: {}", cudaGetErrorName(error), cudaGetErrorString(error));
}

void check_cuda(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();  // so that the next call does not report it again
  check<MemoryError>(error != cudaErrorMemoryAllocation, "out of device memory: {}: {}", what,
                     text_of(error));
  throw Error(fmt::format("{}: {}", what, text_of(error)));
}

// The numbers of the driver's errors are the runtime's.
void check_cuda(CUresult result, std::string_view what) {
  check_cuda(static_cast<cudaError_t>(result), what);
}

}  // namespace partita::cuda
