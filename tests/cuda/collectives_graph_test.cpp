// Small collectives captured into graphs, started many times with other inputs, by ranks that are not in
// step.
#include <cstring>
#include <partita/collectives.hpp>
#include <random>
#include <thread>
#include <vector>

#include "context/context_state.hpp"
#include "cuda/rounds.hpp"
#include "device/device_memory.hpp"

namespace partita::testing {
namespace {

using Number = std::int64_t;
constexpr std::int64_t count = 777;
constexpr std::int64_t bytes = count * std::int64_t{sizeof(Number)};

Number brought(int rank, int round, std::int64_t i) {
  return (round + 1) * 1000003 + rank * 1009 + i;
}

/// Every rank gathers what all bring, and adds up what all have gathered.
struct Chain {
  Context& context;
  devices::DeviceMemory part, whole, sum;

  explicit Chain(Context& on)
      : context(on),
        part(*on.state()->device, bytes),
        whole(*on.state()->device, bytes * on.size()),
        sum(*on.state()->device, bytes * on.size()) {}
  View view(const devices::DeviceMemory& memory, std::int64_t elements) const {
    return {memory.data(), Dtype::i64, {elements}, {1}, MemorySpace::device};
  }
  void execute(Stream stream) const {
    const std::int64_t all = count * context.size();
    all_gather(context, view(part, count), view(whole, all), stream);
    all_reduce(context, view(whole, all), view(sum, all), {.stream = stream});
    barrier(context, stream);
  }
};

void check_rounds(const Context& context, int rounds, const Rounds& results) {
  for (int round = 0; round < rounds; ++round) {
    std::vector<Number> expected;
    for (int rank = 0; rank < context.size(); ++rank) {
      for (std::int64_t i = 0; i < count; ++i) expected.push_back(context.size() * brought(rank, round, i));
    }
    ASSERT_EQ(std::memcmp(results.at(round), expected.data(), results.bytes()), 0) << "round " << round;
  }
}

void replay(Context& context, int rounds) {
  const Chain chain(context);
  const Rounds inputs(rounds, bytes);
  const Rounds results(rounds, bytes * context.size());
  for (int round = 0; round < rounds; ++round) {
    auto* const input = reinterpret_cast<Number*>(inputs.at(round));
    for (std::int64_t i = 0; i < count; ++i) input[i] = brought(context.rank(), round, i);
  }
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t program = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  chain.execute({stream});
  context.synchronize();
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  chain.execute({stream});
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&program, graph, 0));
  all_have_captured(context);
  std::mt19937 random(static_cast<unsigned>(context.rank()));
  for (int round = 0; round < rounds; ++round) {
    CUDA_OK(cudaMemcpyAsync(chain.part.data(), inputs.at(round), inputs.bytes(), cudaMemcpyDefault, stream));
    if (round % 97 == 5) {
      chain.execute({stream});  // uncaptured ones may come between
    } else {
      CUDA_OK(cudaGraphLaunch(program, stream));
    }
    CUDA_OK(cudaMemcpyAsync(results.at(round), chain.sum.data(), results.bytes(), cudaMemcpyDefault, stream));
    if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
  }
  context.synchronize({stream});
  check_rounds(context, rounds, results);
  context.barrier();
  cudaGraphExecDestroy(program);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

TEST(CudaGraph, SmallCollectivesAThousandTimes) {
  on_devices([](Context& context) { replay(context, 1000); });
}

}  // namespace
}  // namespace partita::testing
