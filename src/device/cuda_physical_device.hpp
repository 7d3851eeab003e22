// One CUDA device, through the runtime's primary context.
#pragma once

#include "cuda/stream.hpp"
#include "device/ordinary_reads.hpp"
#include "device/physical_device.hpp"

namespace partita::devices {

class CudaPhysicalDevice final : public PhysicalDevice, public OrdinaryReads {
 public:
  /// Throws UnsupportedError (this build has no kernels for the device).
  explicit CudaPhysicalDevice(int index);
  /// Why there can be none for the device; empty: there can.
  static std::string why_unsuitable(int index);
  ~CudaPhysicalDevice() override { collect_all(); }
  CudaPhysicalDevice(const CudaPhysicalDevice&) = delete;
  CudaPhysicalDevice& operator=(const CudaPhysicalDevice&) = delete;

  int index() const override { return index_; }
  std::string name() const override;
  std::string model() const override;
  std::string identity() const override;
  void use() override;

  FoundMemory find_memory(const void* address) override;
  bool reads_memory_of(int device) override;
  std::string let_read(const void* address, std::span<const int> devices) override;
  std::unique_ptr<memory::NodeMemory> share_memory(runtime::Runtime& state,
                                                   const Topology& topology) override;
  std::unique_ptr<memory::NodeMemory> share_memory_of_library(runtime::Runtime& state,
                                                              const Topology& topology) override;
  void copy_past(void* to, const void* from, std::int64_t bytes) override;
  Stream stream_past() override { return {past_.get()}; }

  std::unique_ptr<Accelerator> open(const ContextOptions& options, int ranks) override;

  int multiprocessors() const { return multiprocessors_; }
  /// A launch may take its place before its turn.
  bool overlaps_launches() const { return overlaps_launches_; }

 private:
  void* new_memory(std::int64_t bytes) override;
  void* new_pinned(std::int64_t bytes) override;
  void free(void* memory) noexcept override;
  void free_pinned(void* memory) noexcept override;

  int index_;
  int multiprocessors_ = 0;
  int reaches_all_host_memory_ = 0;  ///< including memory that is not registered with the driver
  bool overlaps_launches_ = false;
  cuda::CudaStream past_;
};

}  // namespace partita::devices
