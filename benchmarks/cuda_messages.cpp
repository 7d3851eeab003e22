// Every rank is a separate node; messages are sent in groups of NCCL, whose own all-to-all is the bound; or
// through pinned memory and MPI. Bound of those: the bytes that leave and arrive copied to and from pinned
// memory, both at once and on all ranks at once. Peer: MPI's own all-to-all of as many bytes in pinned host
// memory, which says what of the time is MPI's.
#include "benchmarks/cuda_messages.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <partita/device_report.hpp>

#include "benchmarks/cuda_matrix.hpp"
#include "benchmarks/cuda_nccl.hpp"
#include "benchmarks/cuda_pushes.hpp"
#include "benchmarks/mpi_collectives.hpp"

namespace partita::benchmarks {
namespace {

/// The same bytes out of the device and into it, by its copy engines.
class PinnedCopies {
 public:
  explicit PinnedCopies(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    for (cudaStream_t& stream : streams_) require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (void*& part : host_) require(cudaHostAlloc(&part, bytes_, cudaHostAllocPortable));
    for (void*& part : device_) require(cudaMalloc(&part, bytes_));
  }
  ~PinnedCopies() {
    for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
    for (void* const part : host_) cudaFreeHost(part);
    for (void* const part : device_) cudaFree(part);
  }
  PinnedCopies(const PinnedCopies&) = delete;
  PinnedCopies& operator=(const PinnedCopies&) = delete;

  void run(int turns) {
    for (int turn = 0; turn < turns; ++turn) {
      require(cudaMemcpyAsync(host_[0], device_[0], bytes_, cudaMemcpyDeviceToHost, streams_[0]));
      require(cudaMemcpyAsync(device_[1], host_[1], bytes_, cudaMemcpyHostToDevice, streams_[1]));
    }
    for (cudaStream_t stream : streams_) require(cudaStreamSynchronize(stream));
  }
  float* from() const { return static_cast<float*>(host_[0]); }
  float* to() const { return static_cast<float*>(host_[1]); }
  const void* on_device() const { return device_[0]; }
  void* into_device() const { return device_[1]; }
  cudaStream_t stream() const { return streams_[0]; }

 private:
  std::size_t bytes_;
  std::array<cudaStream_t, 2> streams_{};
  std::array<void*, 2> host_{};
  std::array<void*, 2> device_{};
};

std::optional<Result> run(const Context& world, const Options& options, const std::string& name,
                          std::int64_t bytes_per_rank, DeviceMessages way) {
  if (report_devices().devices.empty()) return std::nullopt;
  constexpr int turns = 5;
  ContextOptions own_nodes;
  own_nodes.device = Device::cuda();
  own_nodes.ranks_per_node = 1;
  own_nodes.device_messages = way;
  const Context context = initialize(own_nodes);
  const int ranks = context.size();
  const Shape shape = matrix_of(bytes_per_rank * ranks / size_of(Dtype::f32));
  Array source = empty(context, shape, Slab(0), Dtype::f32);
  Array destination = empty(context, shape, Slab(1), Dtype::f32);
  fill_random(source, 1);
  Redistribute plan(context, source.operand(), destination.operand());
  PinnedCopies copies(bytes_per_rank);
  PinnedCopies leaving(bytes_per_rank / ranks * (ranks - 1));

  std::vector<Contender> contenders{{"ours", [&] {
                                       for (int i = 0; i < turns; ++i) {
                                         plan.execute(source, destination, Stream{});
                                       }
                                       context.synchronize();
                                     }}};
  const std::unique_ptr<Nccl> nccl = way == DeviceMessages::automatic ? make_nccl(world) : nullptr;
  if (nccl) {
    contenders.push_back({"nccl_all_to_all", [&] {
                            for (int i = 0; i < turns; ++i) {
                              nccl->all_to_all(copies.on_device(), copies.into_device(),
                                               bytes_per_rank / ranks, copies.stream());
                            }
                            require(cudaStreamSynchronize(copies.stream()));
                          }});
  } else {
    contenders.push_back({"pinned_copies", [&] { leaving.run(turns); }});
  }
  const auto mpi =
      make_mpi_collective(world, Collective::all_to_all, copies.from(), copies.to(), bytes_per_rank);
  if (mpi && !nccl) {
    contenders.push_back({"mpi_alltoall_of_host_memory", [&] {
                            for (int i = 0; i < turns; ++i) mpi();
                          }});
  }
  std::vector<double> seconds = measure(world, contenders, options.runs);
  for (double& time : seconds) time /= turns;
  check_matrix(destination, name);
  Result result{"redistribute",     name,      ranks, bytes_per_rank * ranks, seconds[0], {},
                contenders[1].name, seconds[1]};
  if (contenders.size() > 2) result.peers[contenders[2].name] = seconds[2];
  return result;
}

}  // namespace

std::vector<Case> cuda_messages_cases() {
  std::vector<Case> cases;
  for (const DeviceMessages way : {DeviceMessages::automatic, DeviceMessages::staged}) {
    const std::string name = way == DeviceMessages::automatic ? "row-to-column/nodes/cuda/f32/256MiB"
                                                              : "row-to-column/messages/cuda/f32/256MiB";
    cases.push_back({"redistribute",
                     name,
                     {2, 4},
                     [=](const Context& world, const Options& options) {
                       return run(world, options, name, std::int64_t{256} << 20, way);
                     },
                     Device::Kind::cuda});
  }
  return cases;
}

}  // namespace partita::benchmarks
