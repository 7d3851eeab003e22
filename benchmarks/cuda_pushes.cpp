#include "benchmarks/cuda_pushes.hpp"

#include <stdexcept>

namespace partita::benchmarks {

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

Pushes::Pushes(const Context& context, std::int64_t piece)
    : rank_(context.rank()),
      ranks_(context.size()),
      piece_(piece),
      from_(SymmetricMemory::allocate(context, piece * ranks_)),
      to_(SymmetricMemory::allocate(context, piece * ranks_)),
      streams_(static_cast<std::size_t>(ranks_)) {
  for (cudaStream_t& stream : streams_) require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
}

Pushes::~Pushes() {
  for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
}

void Pushes::run(int turns) {
  for (int turn = 0; turn < turns; ++turn) {
    for (int step = 1; step < ranks_; ++step) {
      const int peer = (rank_ + step) % ranks_;
      require(cudaMemcpyAsync(static_cast<char*>(to_.peer(peer)) + rank_ * piece_,
                              static_cast<const char*>(from_.data()) + peer * piece_,
                              static_cast<std::size_t>(piece_), cudaMemcpyDefault,
                              streams_[static_cast<std::size_t>(step)]));
    }
  }
  for (cudaStream_t stream : streams_) require(cudaStreamSynchronize(stream));
}

}  // namespace partita::benchmarks
