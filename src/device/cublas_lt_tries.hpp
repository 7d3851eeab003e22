// Times the candidate algorithms of a product on a device, concurrently with its other work.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "cuda/stream.hpp"
#include "device/device_memory.hpp"

namespace partita::devices {

/// A stream for tries, and how long they take there. Waits for the device.
class Tries {
 public:
  using Take = std::function<bool(std::size_t way)>;  ///< it is run from here on; false: it cannot be
  using Run = std::function<int(Stream stream)>;      ///< gives a cublasStatus_t

  /// Random numbers.
  DeviceMemory memory(Accelerator& device, std::int64_t bytes, Dtype dtype) const;
  /// Of so many ways, in the order in which the library prefers them; nothing: none can be run.
  std::optional<std::size_t> fastest(std::size_t ways, const Take& take, const Run& run);
  double spent() const { return spent_; }  ///< seconds so far

 private:
  /// How long it took at first, and in all of its turns, or at first where it has had none.
  struct Tried {
    std::size_t way = 0;
    double first = 0, in_turns = 0;
  };

  std::optional<double> time(int runs, const Run& run);
  std::optional<double> seconds_of_one(const Run& run);
  void try_in_turn(std::vector<Tried>& tried, const Take& take, const Run& run);
  static void keep_nearly_fastest(std::vector<Tried>& tried);
  static std::optional<std::size_t> fastest_of(const std::vector<Tried>& tried);

  cuda::CudaStream stream_ = cuda::new_cuda_stream();
  cuda::CudaEvent before_ = cuda::new_cuda_event(cudaEventDefault);
  cuda::CudaEvent after_ = cuda::new_cuda_event(cudaEventDefault);
  double spent_ = 0;
};

}  // namespace partita::devices
