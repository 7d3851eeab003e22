// Captures in every mode of CUDA's, by ranks that are threads: no call of the library's breaks one off,
// whichever thread makes it.
#include <cuda_runtime.h>

#include "context/context_state.hpp"
#include "cuda/rounds.hpp"
#include "device/device_memory.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;
using Number = std::int64_t;
constexpr std::int64_t count = 33;
constexpr std::int64_t bytes = count * std::int64_t{sizeof(Number)};
const Shape shape{37, 29};

constexpr cudaStreamCaptureMode every_mode[] = {cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal,
                                                cudaStreamCaptureModeRelaxed};

/// A stream and what has been captured from it. The test's own calls that CUDA refuses during a capture are
/// between barriers.
class Captured {
 public:
  explicit Captured(Context& context) : context_(context) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  ~Captured() {
    context_.barrier();
    let_go();
    cudaStreamDestroy(stream_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  Stream stream() const { return {stream_}; }
  void capture(cudaStreamCaptureMode mode, const std::function<void()>& body) {
    cudaGraph_t graph = nullptr;
    context_.barrier();
    ASSERT_EQ(cudaStreamBeginCapture(stream_, mode), cudaSuccess);
    body();
    ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess) << "mode " << mode;
    context_.barrier();
    ASSERT_EQ(cudaGraphInstantiate(&program_, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    context_.barrier();
  }
  void start() const { ASSERT_EQ(cudaGraphLaunch(program_, stream_), cudaSuccess); }
  void let_go() {
    if (program_ != nullptr) cudaGraphExecDestroy(program_);
    program_ = nullptr;
  }

 private:
  Context& context_;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t program_ = nullptr;
};

/// Numbers on the device, every `stride`-th of which is looked at.
class Numbers {
 public:
  Numbers(Context& context, std::int64_t stride)
      : context_(context), stride_(stride), memory_(*context.state()->device, stride * bytes) {}
  View view() const { return {memory_.data(), Dtype::i64, {count}, {stride_}, MemorySpace::device}; }
  void* data() const { return memory_.data(); }
  void set(Number first) {
    std::vector<Number> values(static_cast<std::size_t>(count * stride_));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<Number>(i);
    context_.state()->device->physical().copy_past(memory_.data(), values.data(), stride_ * bytes);
  }
  /// Those that are not `times` what `set` with this number writes.
  int wrong(Number first, Number times) {
    std::vector<Number> values(static_cast<std::size_t>(count * stride_));
    context_.state()->device->physical().copy_past(values.data(), memory_.data(), stride_ * bytes);
    int result = 0;
    for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(stride_)) {
      if (values[i] != times * (first + static_cast<Number>(i))) ++result;
    }
    return result;
  }

 private:
  Context& context_;
  std::int64_t stride_;
  devices::DeviceMemory memory_;
};

RedistributeOptions pushed() {
  return {.method = RedistributeMethod::pushed};
}

/// Packets and flags, a view whose dense copy is made while it is captured, and a call that has no plan yet.
void capture_and_start(Context& context, cudaStreamCaptureMode mode, int rounds) {
  Array rows = zeros(context, shape, Slab(0), Dtype::i32);
  Array columns = zeros(context, shape, Slab(1), Dtype::i32);
  Redistribute there(context, rows.operand(), columns.operand());
  Redistribute back(context, columns.operand(), rows.operand(), pushed());
  Numbers dense(context, 1), sum(context, 1), strided(context, 3), strided_sum(context, 3);
  Captured mine(context);
  all_reduce(context, dense.view(), sum.view(), {.stream = mine.stream()});
  there.execute(rows, columns, mine.stream());
  back.execute(columns, rows, mine.stream());
  context.synchronize();
  const std::size_t local_bytes = static_cast<std::size_t>(rows.local_size()) * sizeof(std::int32_t);
  mine.capture(mode, [&] {
    auto* const native = static_cast<cudaStream_t>(mine.stream().handle);
    if (local_bytes > 0) {
      EXPECT_EQ(cudaMemsetAsync(rows.local().data, 1, local_bytes, native), cudaSuccess);
    }
    there.execute(rows, columns, mine.stream());
    if (local_bytes > 0) {
      EXPECT_EQ(cudaMemsetAsync(rows.local().data, 0, local_bytes, native), cudaSuccess);
    }
    back.execute(columns, rows, mine.stream());
    all_reduce(context, dense.view(), sum.view(), {.stream = mine.stream()});
    all_reduce(context, strided.view(), strided_sum.view(), {.stream = mine.stream()});
    broadcast(context, strided.view(), 0, mine.stream());
  });
  for (int round = 0; round < rounds; ++round) {
    dense.set(round);
    strided.set(round + 5);
    mine.start();
    context.synchronize(mine.stream());
    EXPECT_EQ(sum.wrong(round, context.size()), 0) << "round " << round;
    EXPECT_EQ(strided_sum.wrong(round + 5, context.size()), 0) << "round " << round;
  }
  Array expected = zeros(context, shape, Slab(0), Dtype::i32);
  if (local_bytes > 0) {
    EXPECT_EQ(cudaMemset(expected.local().data, 1, local_bytes), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);  // which `compare` does not follow
  }
  EXPECT_TRUE(compare(rows, expected).equal);
}

TEST(CudaCapture, EveryModeOfEveryContext) {
  for (const cudaStreamCaptureMode mode : every_mode) {
    for (int repeat = 0; repeat < 5; ++repeat) {
      on_devices([&](Context& context) { capture_and_start(context, mode, 20); });
    }
  }
}

TEST(CudaCapture, AgainAndAgainInOneContext) {
  on_devices([](Context& context) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      for (const cudaStreamCaptureMode mode : every_mode) capture_and_start(context, mode, 2);
    }
  });
}

/// What the library calls on a rank's own while another one captures.
void be_busy(Context& context, const std::atomic<bool>& capturing) {
  ContextState& state = *context.state();
  while (capturing) {
    const devices::DeviceMemory memory(*state.device, 1 << 20);
    void* const pinned = state.device->physical().allocate_pinned(4096);
    std::vector<Number> values(count);
    state.device->physical().copy_past(memory.data(), values.data(), bytes);
    state.device->copy_bytes(values.data(), memory.data(), bytes, state.device->stream());
    context.synchronize();
    EXPECT_TRUE(state.device->idle());
    state.device->physical().release_pinned(pinned);
  }
}

TEST(CudaCapture, OtherRanksAreBusyMeanwhile) {
  std::atomic<bool> capturing = true;
  on_devices([&](Context& context) {
    capturing = true;
    Captured mine(context);
    context.barrier();
    if (context.rank() != 0) return be_busy(context, capturing);
    auto* const stream = static_cast<cudaStream_t>(mine.stream().handle);
    const devices::DeviceMemory memory(*context.state()->device, bytes);
    for (int repeat = 0; repeat < 20; ++repeat) {
      cudaGraph_t graph = nullptr;
      EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
      EXPECT_EQ(cudaMemsetAsync(memory.data(), 0, bytes, stream), cudaSuccess);
      std::this_thread::sleep_for(10ms);
      EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
      cudaGraphDestroy(graph);
    }
    capturing = false;
  });
}

// The watchdog looks at that stream while there is work that it has not seen the end of, but not now.
TEST(CudaCapture, TheContextsOwnStreamMayBeCaptured) {
  if (devices::Accelerators::built_in().count() == 0) GTEST_SKIP() << "no GPU";
  const auto body = [](Context& context) {
    Numbers source(context, 1), sum(context, 1);
    source.set(7);
    auto* const stream = static_cast<cudaStream_t>(context.stream().handle);
    cudaGraph_t graph = nullptr;
    all_reduce(context, source.view(), sum.view());
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    all_reduce(context, source.view(), sum.view());
    EXPECT_THROW(all_reduce(context, source.view(), sum.view(), {.reduction = Reduction::max}),
                 UnsupportedError);
    EXPECT_THROW(context.synchronize(), UnsupportedError);
    std::this_thread::sleep_for(1200ms);  // twice as long as it naps
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    cudaGraphDestroy(graph);
    context.synchronize();
    EXPECT_EQ(sum.wrong(7, context.size()), 0);
  };
  for (const int ranks : {1, 2}) ThreadGroup::run(ranks, body, {.device = Device::cuda(), .deadline = 4s});
}

/// Until nothing is pinned: CUDA lets objects of graphs go when it likes.
bool comes_free(ContextState& state) {
  const auto limit = std::chrono::steady_clock::now() + 10s;
  while (std::chrono::steady_clock::now() < limit) {
    state.plans.collect();
    if (state.plans.pinned() == 0) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

TEST(CudaCapture, WhatAGraphUsesStaysAsLongAsIt) {
  if (devices::Accelerators::built_in().count() == 0) GTEST_SKIP() << "no GPU";
  const auto body = [](Context& context) {
    ContextState& state = *context.state();
    Numbers source(context, 3), sum(context, 3);
    Captured mine(context);
    mine.capture(cudaStreamCaptureModeGlobal,
                 [&] { all_reduce(context, source.view(), sum.view(), {.stream = mine.stream()}); });
    EXPECT_EQ(state.plans.pinned(), 1U);
    std::vector<std::unique_ptr<Numbers>> others;
    for (const Reduction reduction :
         {Reduction::min, Reduction::max, Reduction::product, Reduction::bit_or}) {
      others.push_back(std::make_unique<Numbers>(context, 3));
      others.back()->set(1);
      all_reduce(context, others.back()->view(), others.back()->view(), {.reduction = reduction});
    }
    context.synchronize();
    EXPECT_EQ(state.plans.pinned(), 1U);
    for (int round = 0; round < 10; ++round) {
      source.set(round);
      mine.start();
      context.synchronize(mine.stream());
      EXPECT_EQ(sum.wrong(round, context.size()), 0) << "round " << round;
    }
    mine.let_go();
    EXPECT_TRUE(comes_free(state));
  };
  for (const int ranks : {1, 2})
    ThreadGroup::run(ranks, body, {.device = Device::cuda(), .plan_cache_size = 2});
}

}  // namespace
}  // namespace partita::testing
