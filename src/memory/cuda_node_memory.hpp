// Node memory on GPUs: physical memory of the driver, mapped by every peer into one reserved range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.hpp"
#include "cuda/virtual_memory.hpp"
#include "memory/node_memory.hpp"
#include "memory/node_places.hpp"
#include "memory/segment_growth.hpp"

namespace partita::memory {

/// Each rank creates physical memory on its device in chunks (cuMemCreate), and its peers map the chunks at
/// base + place * stride. Between processes a chunk travels as a file descriptor over the local socket,
/// between threads of one process as the handle itself.
///
/// Where the first chunk cannot be mapped by every peer, `segment` is null for peers and stays so.
class CudaNodeMemory final : public NodeMemory {
 public:
  /// Collective, blocking. `driver` outlives the object.
  CudaNodeMemory(runtime::Runtime& state, const Topology& topology, int device,
                 const cuda::CudaVirtualMemory& driver);
  ~CudaNodeMemory() override;
  CudaNodeMemory(const CudaNodeMemory&) = delete;
  CudaNodeMemory& operator=(const CudaNodeMemory&) = delete;

  void* control() override { return nullptr; }
  char* segment(int rank) override;
  std::int64_t stride() const override { return stride_; }
  void grow(std::int64_t bytes) override { growth_->grow(bytes); }
  void share_growth() override;

 private:
  /// A part of a rank's segment.
  struct Chunk {
    std::int64_t first = 0;
    std::int64_t bytes = 0;
    std::uint64_t handle = 0;
  };

  void reserve();
  SegmentGrowth make_growth();
  void populate(std::int64_t first, std::int64_t end);
  void unmap_after(std::size_t kept, const cuda::CudaVirtualMemory::Turn& turn) noexcept;
  void map(char* address, const Chunk& chunk);
  void import_chunks(int rank, std::vector<Chunk> chunks, std::vector<FileDescriptor>* files);
  std::vector<FileDescriptor> export_unshared() const;
  void share_with_peers();

  runtime::Runtime& state_;
  const cuda::CudaVirtualMemory& driver_;
  NodePlaces places_;
  bool alone_ = true;  // no two ranks share a node
  int device_;
  std::uintptr_t base_ = 0;
  std::int64_t stride_ = 0;
  std::optional<SegmentGrowth> growth_;
  std::vector<Chunk> chunks_;  // of this rank, by `first`
  std::size_t shared_ = 0;     // chunks_[0 .. shared_) are known to the peers
  std::vector<std::pair<char*, std::int64_t>> mapped_;
  std::string refused_;  // why peers' memory cannot be mapped
};

}  // namespace partita::memory
