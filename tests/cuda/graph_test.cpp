// Executions captured into graphs, started many times with other inputs, by ranks that are not in step.
#include <cuda_runtime.h>

#include "cuda/rounds.hpp"
#include "device/accelerator.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using Number = std::int32_t;
constexpr std::int64_t sizeof_number = sizeof(Number);

/// What a rank's part holds in a round, row-major: every number differs from those of other places and
/// rounds.
std::vector<Number> numbers(const Layout& layout, int rank, int round) {
  const Region region = layout.region(rank);
  const Shape& shape = layout.shape();
  std::vector<Number> result;
  for (std::int64_t i = 0; i < region.sets[0].size(); ++i) {
    for (std::int64_t j = 0; j < region.sets[1].size(); ++j) {
      const std::int64_t place = region.sets[0].at(i) * shape[1] + region.sets[1].at(j);
      result.push_back(static_cast<Number>((round + 1) * volume(shape) + place));
    }
  }
  return result;
}

struct Problem {
  Shape shape;
  int rounds;
};

/// source (rows) -> middle (columns) -> result (cyclic blocks), as one graph. Small ones use packets at
/// first, and are pushed then, with flags.
struct Chain {
  Array source, middle, result;
  Redistribute first, second;

  static RedistributeOptions pushed() { return {.method = RedistributeMethod::pushed}; }
  Chain(Context& context, const Shape& shape, const RedistributeOptions& way = pushed())
      : source(zeros(context, shape, Slab(0), Dtype::i32)),
        middle(zeros(context, shape, Slab(1), Dtype::i32)),
        result(zeros(context, shape, BlockCyclic({1, context.size()}, {2, 3}), Dtype::i32)),
        first(context, source.operand(), middle.operand()),
        second(context, middle.operand(), result.operand(), way) {}
  void execute(Stream stream) {
    first.execute(source, middle, stream);
    second.execute(middle, result, stream);
  }
};

cudaGraphExec_t capture(Chain& chain, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t program = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  chain.execute({stream});
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&program, graph, 0), cudaSuccess);
  cudaGraphDestroy(graph);
  return program;
}

void check_rounds(const Problem& problem, const Layout& layout, int rank, const Rounds& results) {
  for (int round = 0; round < problem.rounds; ++round) {
    const std::vector<Number> expected = numbers(layout, rank, round);
    ASSERT_EQ(std::memcmp(results.at(round), expected.data(), results.bytes()), 0) << "round " << round;
  }
}

/// The input of a round is written right behind the start of the round before.
void replay(Context& context, const Problem& problem, const RedistributeOptions& way = Chain::pushed()) {
  Chain chain(context, problem.shape, way);
  const int rank = context.rank();
  const Rounds inputs(problem.rounds, volume(chain.source.local_shape()) * sizeof_number);
  const Rounds results(problem.rounds, volume(chain.result.local_shape()) * sizeof_number);
  for (int round = 0; round < problem.rounds; ++round) {
    const std::vector<Number> input = numbers(chain.source.layout(), rank, round);
    std::memcpy(inputs.at(round), input.data(), inputs.bytes());
  }
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  chain.execute({stream});
  context.synchronize();
  cudaGraphExec_t program = capture(chain, stream);
  all_have_captured(context);
  std::mt19937 random(static_cast<unsigned>(rank));
  for (int round = 0; round < problem.rounds; ++round) {
    CUDA_OK(cudaMemcpyAsync(chain.source.local().data, inputs.at(round), inputs.bytes(), cudaMemcpyDefault,
                            stream));
    if (round % 97 == 5) {
      chain.execute({stream});  // uncaptured ones may come between
    } else {
      CUDA_OK(cudaGraphLaunch(program, stream));
    }
    CUDA_OK(cudaMemcpyAsync(results.at(round), chain.result.local().data, results.bytes(), cudaMemcpyDefault,
                            stream));
    if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
  }
  context.synchronize({stream});
  check_rounds(problem, chain.result.layout(), rank, results);
  context.barrier();
  cudaGraphExecDestroy(program);
  cudaStreamDestroy(stream);
}

TEST(CudaGraph, SmallExecutionsAThousandTimes) {
  on_devices([](Context& context) { replay(context, {{37, 29}, 1000}); });
}

TEST(CudaGraph, LargeExecutions) {
  on_devices([](Context& context) { replay(context, {{1031, 2053}, 6}); });
}

ContextOptions own_nodes(DeviceMessages messages) {
  return {.device = Device::cuda(),
          .deadline = std::chrono::seconds(30),
          .ranks_per_node = 1,
          .device_messages = messages};
}

// Messages of NCCL's.
TEST(CudaGraph, BetweenNodesAThousandTimes) {
  const int devices = devices::Accelerators::built_in().count();
  if (devices < 2) GTEST_SKIP() << "needs 2 GPUs";
  for (int ranks = 2; ranks <= std::min(4, devices); ++ranks) {
    ThreadGroup::run(
        ranks,
        [](Context& context) {
          replay(context, {{37, 29}, 1000}, {});
          replay(context, {{4099, 2053}, 6}, {});
        },
        own_nodes(DeviceMessages::automatic));
  }
}

TEST(CudaGraph, MessagesOfTheHostAreRefused) {
  if (devices::Accelerators::built_in().count() == 0) GTEST_SKIP() << "no GPU";
  ThreadGroup::run(
      2,
      [](Context& context) {
        Chain chain(context, {8, 8}, {});
        cudaStream_t stream = nullptr;
        CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
        EXPECT_THROW(chain.first.execute(chain.source, chain.middle, Stream{stream}), UnsupportedError);
        cudaGraph_t graph = nullptr;
        CUDA_OK(cudaStreamEndCapture(stream, &graph));
        cudaGraphDestroy(graph);
        EXPECT_FALSE(context.failed());
        chain.execute({stream});
        context.synchronize({stream});
        cudaStreamDestroy(stream);
      },
      own_nodes(DeviceMessages::staged));
}

}  // namespace
}  // namespace partita::testing
