#include <cuda_runtime_api.h>

#include <algorithm>
#include <list>
#include <stdexcept>

#include "tools/doctor.hpp"

namespace partita::tools {
namespace {

constexpr std::size_t bytes = std::size_t{64} << 20;
constexpr int repeats = 4;  // the first warms up

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// What a device takes part with; given back in the end.
class Place {
 public:
  explicit Place(int device) : device_(device) {
    require(cudaSetDevice(device_));
    require(cudaMalloc(&memory_, bytes));
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    require(cudaEventCreate(&begin_));
    require(cudaEventCreate(&end_));
  }
  ~Place() {
    cudaSetDevice(device_);
    cudaFree(memory_);
    cudaStreamDestroy(stream_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// Bytes a second of the fastest copy.
  double push_to(const Place& peer) const {
    require(cudaSetDevice(device_));
    reach(peer.device_);
    float least = 0;
    for (int i = 0; i < repeats; ++i) {
      require(cudaEventRecord(begin_, stream_));
      require(cudaMemcpyPeerAsync(peer.memory_, peer.device_, memory_, device_, bytes, stream_));
      require(cudaEventRecord(end_, stream_));
      require(cudaStreamSynchronize(stream_));
      float milliseconds = 0;
      require(cudaEventElapsedTime(&milliseconds, begin_, end_));
      if (i > 0) least = i == 1 ? milliseconds : std::min(least, milliseconds);
    }
    return least > 0 ? static_cast<double>(bytes) / (static_cast<double>(least) * 1e-3) : 0;
  }

 private:
  /// Where it cannot, copies go through the host.
  static void reach(int peer) {
    const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
    if (error != cudaSuccess) (void)cudaGetLastError();
  }

  int device_;
  void* memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

Links measure_links(int devices) {
  Links links;
  try {
    std::list<Place> places;
    for (int device = 0; device < devices; ++device) places.emplace_back(device);
    for (const Place& from : places) {
      std::vector<double>& row = links.speed.emplace_back();
      for (const Place& to : places) row.push_back(&from == &to ? 0 : from.push_to(to));
    }
  } catch (const std::exception& error) {
    links.speed.clear();
    links.problem = error.what();
  }
  return links;
}

}  // namespace partita::tools
