// NCCL's all-to-all, as a peer: opened where it is installed.
#pragma once

#include <memory>
#include <partita/context.hpp>

namespace partita::benchmarks {

class NcclAllToAll {
 public:
  virtual ~NcclAllToAll() = default;
  /// `bytes` from every rank to every rank, this one's own too. Puts it into the stream (a cudaStream_t).
  virtual void run(const void* from, void* to, std::int64_t bytes, void* stream) = 0;
};

/// Collective over `world`, whose ranks have chosen their devices. Null: no NCCL here.
std::unique_ptr<NcclAllToAll> make_nccl_all_to_all(const Context& world);

}  // namespace partita::benchmarks
