// NCCL, as a peer: opened where it is installed.
#pragma once

#include <memory>
#include <partita/context.hpp>
#include <vector>

#include "benchmarks/mpi_collectives.hpp"

namespace partita::benchmarks {

/// What one rank exchanges with another: bytes, and where they begin.
struct NcclPiece {
  std::int64_t offset = 0, bytes = 0;
};

class Nccl {
 public:
  virtual ~Nccl() = default;
  /// `bytes` from every rank to every rank, this one's own too. Puts it into the stream (a cudaStream_t).
  virtual void all_to_all(const void* from, void* to, std::int64_t bytes, void* stream) = 0;
  /// The same of unequal pieces, one a rank on either side.
  virtual void all_to_all_v(const void* from, const std::vector<NcclPiece>& sent, void* to,
                            const std::vector<NcclPiece>& received, void* stream) = 0;
  /// `count` elements (of f16, bf16, f32 or f64): of the whole, as in `make_mpi_collective`; sums. A
  /// broadcast is of `to`, from rank 0.
  virtual void run(Collective which, const void* from, void* to, std::int64_t count, void* stream,
                   Dtype dtype = Dtype::f32) = 0;
};

/// Collective over `world`, whose ranks have chosen their devices. Null: no NCCL here.
std::unique_ptr<Nccl> make_nccl(const Context& world);

}  // namespace partita::benchmarks
