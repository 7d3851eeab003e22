// The bound on what GPUs can move between each other: their copy engines pushing to all peers at once.
#pragma once

#include <cuda_runtime_api.h>

#include <partita/context.hpp>
#include <partita/memory.hpp>
#include <vector>

namespace partita::benchmarks {

/// Throws std::runtime_error.
void require(cudaError_t error);

/// The same bytes to every peer, by as many streams as there are peers.
class Pushes {
 public:
  /// `piece` bytes to each. Collective.
  Pushes(const Context& context, std::int64_t piece);
  ~Pushes();
  Pushes(const Pushes&) = delete;
  Pushes& operator=(const Pushes&) = delete;

  /// Blocks until this rank's are done.
  void run(int turns);

  const void* from() const { return from_.data(); }  ///< a piece for every rank
  void* to() const { return to_.data(); }
  std::int64_t piece() const { return piece_; }

 private:
  int rank_;
  int ranks_;
  std::int64_t piece_;
  SymmetricMemory from_;
  SymmetricMemory to_;
  std::vector<cudaStream_t> streams_;
};

}  // namespace partita::benchmarks
