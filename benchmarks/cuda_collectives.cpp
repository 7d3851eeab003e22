// Collectives of f32 between GPUs, 1 KiB to 1 GiB per GPU, and NCCL's. Bound: every GPU pushing the bytes
// that it has to give to its peers, one stream per peer, by copy engine.
//
// What is timed is the device: many turns between two events in a stream, without a look of the host. The
// slowest GPU counts.
#include "benchmarks/cuda_collectives.hpp"

#include <algorithm>
#include <partita/device_report.hpp>

#include "benchmarks/collective_sides.hpp"
#include "benchmarks/cuda_nccl.hpp"
#include "benchmarks/cuda_pushes.hpp"

namespace partita::benchmarks {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

/// Two events in a stream.
class Stopwatch {
 public:
  explicit Stopwatch(const Context& context)
      : context_(context), stream_(static_cast<cudaStream_t>(context.stream().handle)) {
    require(cudaEventCreate(&begin_));
    require(cudaEventCreate(&end_));
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  cudaStream_t stream() const { return stream_; }
  /// Seconds that the stream takes for what `work` puts into it.
  double time(const std::function<void()>& work) {
    require(cudaEventRecord(begin_, stream_));
    work();
    require(cudaEventRecord(end_, stream_));
    context_.synchronize();
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  const Context& context_;
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

ArrayOptions on_device(Residency residency) {
  return {.residency = residency, .space = MemorySpace::device};
}

/// Sources as they are checked for afterwards.
Sides make_device_sides(const Context& context, Collective which, std::int64_t count, Residency residency) {
  Sides sides = make_sides(context, which, count, on_device(residency));
  std::vector<float> elements(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    elements[static_cast<std::size_t>(i)] = source_element(i, context.rank());
  }
  const std::size_t bytes = elements.size() * sizeof(float);
  void* const source = sides.source.local().data;
  void* const destination = sides.destination.local().data;
  require(cudaMemcpy(source, elements.data(), bytes, cudaMemcpyHostToDevice));
  require(cudaMemset(destination, 0, bytes));
  if (which == Collective::broadcast && context.rank() == 0) {
    require(cudaMemcpy(destination, source, bytes, cudaMemcpyDeviceToDevice));
  }
  require(cudaDeviceSynchronize());  // the context's stream does not wait for what has just been started
  return sides;
}

void check_device_result(const Context& context, Collective which, const Sides& sides, std::int64_t count,
                         const std::string& name) {
  std::vector<float> result(static_cast<std::size_t>(sides.to.extents[0]));
  require(cudaMemcpy(result.data(), sides.to.data, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
  check_result(context, which, result, count, name);
}

/// What a GPU has to give to each of its peers, at least, where all give the same.
std::int64_t bytes_to_a_peer(Collective which, std::int64_t bytes, int ranks) {
  if (which == Collective::broadcast) return bytes / std::max(1, ranks - 1);
  return (which == Collective::all_reduce ? 2 : 1) * bytes / ranks;
}

std::optional<Result> run(const Context& world, const Options& options, const CollectiveKind& kind,
                          const std::string& name, std::int64_t bytes, Residency residency) {
  if (report_devices().devices.empty()) return std::nullopt;
  ContextOptions on_devices;
  on_devices.device = Device::cuda();
  const Context context = initialize(on_devices);
  const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(float));
  const Sides sides = make_device_sides(context, kind.which, count, residency);
  Pushes pushes(context, bytes_to_a_peer(kind.which, bytes, context.size()));
  const auto nccl = make_nccl(world);
  Stopwatch stopwatch(context);
  const auto turns = static_cast<int>(std::clamp<std::int64_t>(gib / bytes, 12, 500));
  const auto many = [&](const std::function<void()>& one) {
    return [&, one] {
      return stopwatch.time([&] {
        for (int i = 0; i < turns; ++i) one();
      });
    };
  };
  // NCCL has separate memory, of any contents: what is checked afterwards is ours.
  const Sides of_nccl = make_sides(context, kind.which, count, on_device(residency));
  std::vector<Contender> contenders{
      {"ours", {}, {}, {}, many([&] { run_ours(context, kind.which, sides, context.stream()); })},
      {"push", [&] { pushes.run(turns); }}};
  if (nccl) {
    contenders.push_back({"nccl", {}, {}, {}, many([&] {
                            nccl->run(kind.which, of_nccl.source.local().data,
                                      of_nccl.destination.local().data, count, stopwatch.stream());
                          })});
  }
  std::vector<double> seconds = measure(world, contenders, options.runs);
  for (double& time : seconds) time /= turns;
  check_device_result(context, kind.which, sides, count, name);
  Result result{"collectives", name, context.size(), bytes, seconds[0], {}, "push", seconds[1]};
  if (nccl) result.peers["nccl"] = seconds[2];
  return result;
}

}  // namespace

std::vector<Case> cuda_collectives_cases() {
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"1KiB", kib},       {"16KiB", 16 * kib},   {"256KiB", 256 * kib}, {"1MiB", mib},
      {"16MiB", 16 * mib}, {"256MiB", 256 * mib}, {"1GiB", gib}};
  std::vector<Case> cases;
  for (const CollectiveKind& kind : collective_kinds()) {
    for (const auto& [size, bytes] : sizes) {
      for (const Residency residency : {Residency::heap, Residency::ordinary}) {
        const std::string name = std::string(kind.name) + "-" + size + "/cuda" +
                                 (residency == Residency::heap ? "/heap" : "/ordinary");
        cases.push_back({"collectives",
                         name,
                         {2, 4},
                         [=, bytes = bytes](const Context& world, const Options& options) {
                           return run(world, options, kind, name, bytes, residency);
                         },
                         Device::Kind::cuda});
      }
    }
  }
  return cases;
}

}  // namespace partita::benchmarks
