// What the tests of graphs share: ranks on GPUs, and memory for the inputs and outputs of many rounds.
#pragma once

#include <cuda_runtime.h>

#include "device/accelerator.hpp"
#include "support/test.hpp"

namespace partita::testing {

#define CUDA_OK(call) ASSERT_EQ(call, cudaSuccess)

/// One piece of pinned memory a round.
class Rounds {
 public:
  Rounds(int rounds, std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    EXPECT_EQ(cudaHostAlloc(&memory_, static_cast<std::size_t>(rounds) * bytes_ + 1, cudaHostAllocPortable),
              cudaSuccess);
  }
  ~Rounds() { cudaFreeHost(memory_); }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;
  char* at(int round) const { return static_cast<char*>(memory_) + static_cast<std::size_t>(round) * bytes_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_;
};

/// Before the first launch of a graph: one that finds the driver's queue full waits inside the driver, where
/// no other thread can begin its capture until the queue has room; and it has none before that thread has
/// launched, too.
inline void all_have_captured(const Context& context) {
  context.barrier();
}

/// On 1 to 4 ranks, as threads; two ranks share the GPU if there is only one.
inline void on_devices(const std::function<void(Context&)>& body) {
  const int devices = devices::Accelerators::built_in().count();
  if (devices == 0) GTEST_SKIP() << "no GPU: " << devices::Accelerators::built_in().why_none();
  for (const int ranks : {1, 2, 3, 4}) {
    if (ranks <= std::max(2, devices))
      ThreadGroup::run(ranks, body, {.device = Device::cuda(), .deadline = std::chrono::seconds(30)});
  }
}

}  // namespace partita::testing
