// The driver's virtual memory without a driver: it keeps account of what is made, mapped and released, and
// sees threads that are in it together.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "cuda/virtual_memory.hpp"

namespace partita::testing {

/// One a process, as the calls are plain functions.
class FakeDriver {
 public:
  static FakeDriver& get() {
    static FakeDriver driver;
    return driver;
  }
  cuda::CudaVirtualMemoryCalls calls();

  void reset() {
    handles_.clear();
    mapped_.clear();
    next_ = 0;
    met_ = 0;
    bytes_ = 0;
    refused_device_ = -1;
  }
  /// The next access that this device wants is refused.
  void refuse_access(int device) { refused_device_ = device; }

  std::size_t handles() const { return handles_.size(); }
  std::size_t mappings() const { return mapped_.size(); }
  /// That have been created.
  std::size_t bytes() const { return bytes_; }
  /// How often a thread found another one in the driver.
  int met() const { return met_; }

 private:
  /// One thread's way through a call: long enough for others to come.
  class Visit {
   public:
    explicit Visit(FakeDriver& driver) : driver_(driver) {
      if (driver_.inside_++ > 0) ++driver_.met_;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      driver_.mutex_.lock();
    }
    ~Visit() {
      driver_.mutex_.unlock();
      --driver_.inside_;
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    FakeDriver& driver_;
  };
  template <class Action>
  static CUresult visit(Action&& action) {
    FakeDriver& driver = get();
    const Visit visit(driver);
    return action(driver) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }

  std::atomic<int> inside_ = 0, met_ = 0, refused_device_ = -1;
  std::mutex mutex_;                                // of what follows
  std::set<CUmemGenericAllocationHandle> handles_;  // not released
  std::map<CUdeviceptr, CUmemGenericAllocationHandle> mapped_;
  std::uint64_t next_ = 0;
  std::size_t bytes_ = 0;
};

inline cuda::CudaVirtualMemoryCalls FakeDriver::calls() {
  static constexpr std::size_t device_bytes = std::size_t{1} << 30;
  cuda::CudaVirtualMemoryCalls calls;
  calls.device_bytes = [](std::size_t* bytes, CUdevice) {
    return visit([&](FakeDriver&) { return *bytes = device_bytes; });
  };
  calls.granularity = [](std::size_t* bytes, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
    return visit([&](FakeDriver&) { return *bytes = std::size_t{2} << 20; });
  };
  calls.reserve_addresses = [](CUdeviceptr* base, std::size_t bytes, std::size_t, CUdeviceptr,
                               unsigned long long) {
    return visit([&](FakeDriver& driver) { return *base = (driver.next_ += bytes) << 8; });
  };
  calls.free_addresses = [](CUdeviceptr, std::size_t) { return visit([](FakeDriver&) { return true; }); };
  calls.create = [](CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp*,
                    unsigned long long) {
    return visit([&](FakeDriver& driver) {
      driver.bytes_ += bytes;
      return driver.handles_.insert(*handle = ++driver.next_).second;
    });
  };
  calls.release = [](CUmemGenericAllocationHandle handle) {
    return visit([&](FakeDriver& driver) { return driver.handles_.erase(handle) == 1; });
  };
  calls.map = [](CUdeviceptr address, std::size_t, std::size_t, CUmemGenericAllocationHandle handle,
                 unsigned long long) {
    return visit([&](FakeDriver& driver) {
      return driver.handles_.contains(handle) && driver.mapped_.emplace(address, handle).second;
    });
  };
  calls.unmap = [](CUdeviceptr address, std::size_t) {
    return visit([&](FakeDriver& driver) { return driver.mapped_.erase(address) == 1; });
  };
  calls.set_access = [](CUdeviceptr address, std::size_t, const CUmemAccessDesc* access, std::size_t) {
    return visit([&](FakeDriver& driver) {
      int device = access->location.id;
      const bool refused = driver.refused_device_.compare_exchange_strong(device, -1);
      return !refused && driver.mapped_.contains(address);
    });
  };
  return calls;
}

}  // namespace partita::testing
