// One CUDA device, through the runtime's primary context.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "cuda/driver.hpp"
#include "device/accelerator.hpp"
#include "device/copy_way.hpp"
#include "device/cuda_moment.hpp"

namespace partita {

class CudaAccelerator final : public Accelerator {
 public:
  /// Throws UnsupportedError (this build has no kernels for the device).
  CudaAccelerator(int index, const ContextOptions& options);
  ~CudaAccelerator() override;

  int index() const override { return index_; }
  std::string name() const override;
  std::string identity() const override;
  void use() override;
  void share(int ranks) override { sharers_ = ranks; }

  void* allocate(std::int64_t bytes) override;
  void release(void* memory) noexcept override;
  void* allocate_pinned(std::int64_t bytes) override;
  void release_pinned(void* memory) noexcept override;
  std::unique_ptr<NodeMemory> share_memory(Runtime& state, const Topology& topology) override;
  std::unique_ptr<NodeMemory> share_memory_of_library(Runtime& state, const Topology& topology) override;
  std::unique_ptr<DeviceGroup> make_group(DeviceRuntime& state) override;

  Stream stream() override { return {main_}; }
  int lanes() const override { return lane_count_; }
  Stream lane(int number) override { return {lanes_.at(static_cast<std::size_t>(number))}; }
  void order(Stream before, Stream after) override;
  bool captures(Stream stream) override;
  std::weak_ptr<const void> graph_of(Stream stream) override;
  void mark(Stream stream) override;
  bool passed() override;
  bool idle() override;
  void follow(Stream stream) override;
  int event() override;
  void release_event(int event) noexcept override { free_events_.push_back(event); }
  void record(int event, Stream stream) override;
  bool reached(int event) override;

  void align_clock() override;
  std::unique_ptr<Moment> moment(Stream stream) override;

  void copy_bytes(const void* from, void* to, std::int64_t bytes, Stream stream) override;
  void copy(const StridedCopy& nest, const void* from, void* to, Stream stream, bool inside) override;
  void transfer(const StridedCopy& nest, const void* from, void* to, Stream stream) override;
  bool copies_at_once(std::span<const PlacedCopy> copies) const override;
  void exchange(const PeerExchange& what, Stream stream) override;
  bool offers_packets(Dtype dtype, std::optional<Reduction> joined) const override;
  void exchange_packets(const PacketExchange& what, Stream stream) override;
  void move_packets(const PacketMoves& what, Stream stream) override;
  void accumulate(const StridedCopy& nest, Dtype dtype, Reduction reduction, const void* from, void* to,
                  Stream stream) override;
  void fill(const StridedCopy& nest, const void* element, std::int64_t element_bytes, void* to,
            Stream stream) override;

  void flags(std::span<const FlagOperation> operations, Stream stream) override;
  void write_past(void* to, const void* from, std::int64_t bytes) override { move_past(to, from, bytes); }
  void read_past(void* to, const void* from, std::int64_t bytes) override { move_past(to, from, bytes); }

 private:
  void check_suitable();
  unsigned exchange_blocks() const;
  void copy_by_engine(const StridedCopy& nest, const char* from, char* to, cudaStream_t stream);
  void move_past(void* to, const void* from, std::int64_t bytes);

  int index_;
  CopyWay way_;
  int lane_count_;
  int multiprocessors_ = 0;
  int sharers_ = 1;
  bool overlaps_launches_ = false;  // a launch may take its place before its turn
  cudaStream_t main_ = nullptr;
  cudaStream_t past_ = nullptr;         // for what must not wait behind the others
  static constexpr int most_lanes = 7;  // what the option device_lanes may be
  std::array<cudaStream_t, most_lanes> lanes_{};
  unsigned* counters_ = nullptr;  // of exchanges, in the device's memory
  cudaEvent_t order_ = nullptr;
  cudaEvent_t mark_ = nullptr;
  std::shared_ptr<const CudaOrigin> origin_;  // what moments are counted from
  std::vector<cudaEvent_t> events_;
  std::vector<int> free_events_;  // of these
};

}  // namespace partita
