// A context's queues on a CUDA device.
#pragma once

#include <array>
#include <memory>

#include "device/accelerator.hpp"
#include "device/copy_way.hpp"
#include "device/cuda_factorizations.hpp"
#include "device/cuda_math.hpp"
#include "device/cuda_physical_device.hpp"
#include "device/cuda_timed_event.hpp"
#include "device/cuda_transforms.hpp"
#include "device/device_memory.hpp"
#include "device/device_sorting.hpp"
#include "device/launch_room.hpp"

namespace partita::devices {

class CudaAccelerator final : public Accelerator, public DeviceSorting {
 public:
  CudaAccelerator(const std::shared_ptr<CudaPhysicalDevice>& physical, const ContextOptions& options,
                  int ranks);

  std::unique_ptr<DeviceGroup> make_group(DeviceRuntime& state) override;
  DeviceMath* math() override;
  std::string why_no_math() const override { return CublasLibrary::of_process().why_none; }
  DeviceTransforms* transforms() override;
  std::string why_no_transforms() const override { return CufftLibrary::of_process().why_none; }
  DeviceFactorizations* factorizations() override;
  std::string why_no_factorizations() const override { return CudaFactorizations::why_none(); }

  Stream stream() override { return made(0); }
  bool has_stream() const override { return streams_[0].get() != nullptr; }
  int lanes() const override { return lane_count_; }
  Stream lane(int number) override { return made(static_cast<std::size_t>(number) + 1); }
  std::unique_ptr<DeviceEvent> event() override;
  bool idle() override;
  bool captures(Stream stream) override;
  std::weak_ptr<const void> graph_of(Stream stream) override;
  void align_clock() override;
  std::unique_ptr<TimedEvent> timed_event(Stream stream) override;

  void copy_bytes(const void* from, void* to, std::int64_t bytes, Stream stream) override;
  void copy(const kernels::StridedCopy& nest, const void* from, void* to, Stream stream,
            CopyScope scope) override;
  void transfer(const kernels::StridedCopy& nest, const void* from, void* to, Stream stream) override;
  bool copies_at_once(std::span<const PlacedCopy> copies) const override;
  void copy_all(std::span<const PlacedCopy> copies, Stream stream) override;
  void exchange(const PeerExchange& what, Stream stream) override;
  bool offers_packets(Dtype dtype, std::optional<Reduction> joined) const override;
  void exchange_packets(const PacketExchange& what, Stream stream) override;
  void move_packets(const PacketMoves& what, Stream stream) override;
  void accumulate(const kernels::StridedCopy& nest, Dtype dtype, Reduction reduction, const void* from,
                  void* to, Stream stream) override;
  void convert(const kernels::StridedCopy& nest, Dtype from_dtype, Dtype to_dtype, const void* from, void* to,
               Stream stream) override;
  void fill(const kernels::StridedCopy& nest, const void* element, std::int64_t element_bytes, void* to,
            Stream stream) override;
  void compute(const kernels::ElementwisePass& pass, Stream stream) override;
  void generate(const kernels::RandomPass& pass, Stream stream) override;
  std::int64_t sort_scratch_bytes(const kernels::SortPass& pass) override;
  void sort(const kernels::SortPass& pass, void* scratch, Stream stream) override;
  std::int64_t scan_scratch_bytes(const kernels::ScanPass& pass) override;
  void scan(const kernels::ScanPass& pass, void* scratch, Stream stream) override;
  void gather(const GatherPass& pass, Stream stream) override;
  std::int64_t true_scratch_bytes(const TruePass& pass) override;
  void find_true(const TruePass& pass, void* scratch, Stream stream) override;
  void search(const SearchPass& pass, Stream stream) override;
  void count(const CountPass& pass, Stream stream) override;
  void find_places(const kernels::PlacePass& pass, void* scratch, Stream stream) override;
  void multiply(const kernels::SymbolPass& pass, Stream stream) override;
  void fold(const kernels::FoldPass& pass, void* scratch, Stream stream) override;
  void finish(const kernels::FinishPass& pass, Stream stream) override;
  void flags(std::span<const FlagOperation> operations, Stream stream) override;

 private:
  Stream made(std::size_t number);
  /// The stream of the runtime, which is given so many launches next.
  cudaStream_t in_turn(Stream stream, int launches = 1) {
    launching(stream, launches);
    return cuda::native(stream);
  }
  LaunchRoom room() const;
  unsigned* counters() const { return static_cast<unsigned*>(counters_.data()); }
  void copy_by_engine(const kernels::StridedCopy& nest, const char* from, char* to, Stream stream);

  const CudaPhysicalDevice& device_;
  CopyWay way_;
  int lane_count_;
  int sharers_;
  static constexpr int most_lanes = 7;                      // what the option device_lanes may be
  std::array<cuda::CudaStream, 1 + most_lanes> streams_{};  // the context's own, and the lanes; null: not yet
  DeviceMemory counters_;                                   // three numbers, of exchanges
  std::shared_ptr<const CudaOrigin> origin_;                // what moments are counted from
  std::unique_ptr<CudaMath> math_;                          // null: not requested yet, or not available
  std::unique_ptr<CudaTransforms> transforms_;              // null: not requested yet, or not available
  std::unique_ptr<CudaFactorizations> factorizations_;      // as above
};

}  // namespace partita::devices
