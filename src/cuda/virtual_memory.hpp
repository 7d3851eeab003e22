// The driver's virtual memory: physical memory, addresses, and what is mapped where.
#pragma once

#include <cuda.h>

#include <mutex>

namespace partita::cuda {

struct CudaVirtualMemoryCalls {
  decltype(&cuDeviceTotalMem) device_bytes = nullptr;
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemAddressReserve) reserve_addresses = nullptr;
  decltype(&cuMemAddressFree) free_addresses = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuMemGetAccess) get_access = nullptr;
  decltype(&cuMemExportToShareableHandle) export_handle = nullptr;
  decltype(&cuMemImportFromShareableHandle) import_handle = nullptr;
};

/// The only way to those calls. Threads of one process that are in them at the same time, each at memory that
/// the others have mapped as well, spoil the heap of the process (docs/devices.md), so one thread has its
/// turn at a time, whatever table and device it calls. Thread-safe.
class CudaVirtualMemory {
 public:
  /// A lock on these calls: while it exists no other thread holds one; a second one in the same thread is a
  /// deadlock. No call that waits for another rank may be made under it.
  class Turn {
   public:
    const CudaVirtualMemoryCalls* operator->() const { return &calls_; }

   private:
    friend class CudaVirtualMemory;
    explicit Turn(const CudaVirtualMemoryCalls& calls) : lock_(mutex()), calls_(calls) {}
    static std::mutex& mutex();

    std::lock_guard<std::mutex> lock_;
    const CudaVirtualMemoryCalls& calls_;
  };

  explicit CudaVirtualMemory(const CudaVirtualMemoryCalls& calls) : calls_(calls) {}

  [[nodiscard]] Turn turn() const { return Turn(calls_); }

 private:
  CudaVirtualMemoryCalls calls_;
};

}  // namespace partita::cuda
