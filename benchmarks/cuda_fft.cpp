// Transforms of cubes and boxes of c64 on GPUs, slabs in. Bound: cuFFT's transforms of a rank's part alone
// (on one GPU of the whole). Peer: those, with NCCL's all-to-all between them and copies that pack for it.
//
// Every contender does several turns before the host looks, so that what is timed is the device.
#include "benchmarks/cuda_fft.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <partita/device_report.hpp>
#include <partita/fft.hpp>

#include "benchmarks/cuda_cufft.hpp"
#include "benchmarks/cuda_nccl.hpp"

namespace partita::benchmarks {
namespace {

struct Cube {
  Shape shape;
  int turns = 1;
  bool natural = false;
};

void succeed(cudaError_t error) {
  if (error != cudaSuccess) throw Error(std::string("CUDA: ") + cudaGetErrorString(error));
}

/// What a user would write: planes, pack, all-to-all, lines; for the natural order the same way back.
class CufftPeer {
 public:
  CufftPeer(const Context& context, const Context& world, const Cube& cube)
      : shape_(cube.shape),
        ranks_(context.size()),
        natural_(cube.natural),
        nccl_(ranks_ > 1 ? make_nccl(world) : nullptr),
        planes_(make(context, cube, 0)),
        lines_(make(context, cube, 1)),
        packed_(make(context, cube, 0)),
        stream_(static_cast<cudaStream_t>(context.stream().handle)) {
    const long long plane = shape_[1] * shape_[2];
    if (ranks_ == 1) {
      whole_ = make_cufft({3, {shape_[0], shape_[1], shape_[2]}, 1, shape_[0] * plane, 1});
      return;
    }
    const int rank = context.rank();
    const std::int64_t planes = part(planes_, rank, 0).extent, rows = part(lines_, rank, 1).extent;
    const long long side = rows * shape_[2];
    of_planes_ = make_cufft({2, {shape_[1], shape_[2], 0}, 1, plane, planes});
    of_lines_ = make_cufft({1, {shape_[0], 0, 0}, side, 1, side});
    for (int peer = 0; peer < ranks_; ++peer) {
      const Part of_lines = part(lines_, peer, 1), of_planes = part(planes_, peer, 0);
      of_plane_.push_back({of_lines.begin * row_bytes(), of_lines.extent * row_bytes()});
      in_packed_.push_back({planes * of_plane_.back().offset, planes * of_plane_.back().bytes});
      in_lines_.push_back({of_planes.begin * rows * row_bytes(), of_planes.extent * rows * row_bytes()});
    }
    plane_count_ = static_cast<std::size_t>(planes);
  }

  bool there() const { return whole_ || of_planes_; }
  bool has_nccl() const { return nccl_ != nullptr; }
  void fill() { fill_random(planes_, 1); }

  void transform_alone(int turns) {
    for (int i = 0; i < turns; ++i) {
      if (whole_) {
        whole_->run(data(planes_), stream_);
        continue;
      }
      of_planes_->run(data(planes_), stream_);
      of_lines_->run(data(lines_), stream_);
    }
    succeed(cudaStreamSynchronize(stream_));
  }

  void transform(int turns) {
    for (int i = 0; i < turns; ++i) transform();
    succeed(cudaStreamSynchronize(stream_));
  }

  const Array& result() const { return whole_ || natural_ ? planes_ : lines_; }

 private:
  static Array make(const Context& context, const Cube& cube, int cut) {
    return empty(context, cube.shape, Slab(cut), Dtype::c64,
                 {.residency = Residency::ordinary, .space = MemorySpace::device});
  }
  static char* data(const Array& array) { return static_cast<char*>(array.local().data); }

  /// Of a rank's slab along its axis: where it begins, and its extent.
  struct Part {
    std::int64_t begin = 0, extent = 0;
  };
  static Part part(const Array& slabs, int rank, int axis) {
    Part part;
    for (int other = 0; other < rank; ++other) part.begin += slabs.layout().local_shape(other)[axis];
    part.extent = slabs.layout().local_shape(rank)[axis];
    return part;
  }
  std::int64_t row_bytes() const { return shape_[2] * size_of(Dtype::c64); }

  /// Of this rank's planes what a peer has of every line.
  void pack(std::size_t peer, bool back) {
    const auto row = static_cast<std::size_t>(of_plane_[peer].bytes);
    const auto pitch = static_cast<std::size_t>(shape_[1] * row_bytes());
    char* const in_planes = data(planes_) + of_plane_[peer].offset;
    char* const packed = data(packed_) + in_packed_[peer].offset;
    if (back) {
      succeed(
          cudaMemcpy2DAsync(in_planes, pitch, packed, row, row, plane_count_, cudaMemcpyDefault, stream_));
    } else {
      succeed(
          cudaMemcpy2DAsync(packed, row, in_planes, pitch, row, plane_count_, cudaMemcpyDefault, stream_));
    }
  }

  void transform() {
    if (whole_) return whole_->run(data(planes_), stream_);
    of_planes_->run(data(planes_), stream_);
    for (std::size_t peer = 0; peer < in_packed_.size(); ++peer) pack(peer, false);
    nccl_->all_to_all_v(data(packed_), in_packed_, data(lines_), in_lines_, stream_);
    of_lines_->run(data(lines_), stream_);
    if (!natural_) return;
    nccl_->all_to_all_v(data(lines_), in_lines_, data(packed_), in_packed_, stream_);
    for (std::size_t peer = 0; peer < in_packed_.size(); ++peer) pack(peer, true);
  }

  Shape shape_;
  int ranks_;
  bool natural_;
  std::unique_ptr<Nccl> nccl_;
  Array planes_, lines_, packed_;
  cudaStream_t stream_;
  std::unique_ptr<Cufft> whole_, of_planes_, of_lines_;
  /// By peer, in bytes: of every plane, and what all of them make here and there. Worked out once: turns are
  /// timed.
  std::vector<NcclPiece> of_plane_, in_packed_, in_lines_;
  std::size_t plane_count_ = 0;
};

/// A benchmark of wrong numbers is worth nothing. Inputs are in [-1, 1).
void check_transform(const Array& ours, CufftPeer& peer, const Cube& cube, const std::string& name) {
  peer.fill();
  peer.transform(1);
  const double tolerance = 1e-5 * std::sqrt(static_cast<double>(volume(cube.shape)));
  if (!(compare(ours, peer.result()).largest_difference <= tolerance))
    throw Error(name + ": the result is wrong");
}

/// Seconds of the host for one call.
Contender host_time(const Context& context, FFT& plan, int turns) {
  return {"ours", {}, {}, {}, [&context, &plan, turns] {
            context.synchronize();
            const auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < turns; ++i) plan.execute(Stream{});
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            context.synchronize();
            return spent.count();
          }};
}

std::optional<Result> run(const Context& world, const Options& options, const std::string& name,
                          const Cube& cube, Residency residency, bool times_host) {
  if (report_devices().devices.empty()) return std::nullopt;
  ContextOptions on_devices;
  on_devices.device = Device::cuda();
  const Context context = initialize(on_devices);
  CufftPeer peer(context, world, cube);
  if (!peer.there() || (context.size() > 1 && !peer.has_nccl())) return std::nullopt;
  Array input = empty(context, cube.shape, Slab(0), Dtype::c64, {.residency = residency});
  fill_random(input, 1);
  FftOptions how;
  how.distribution = cube.natural || context.size() == 1 ? Slab(0) : Slab(1);
  how.output = Output::given;
  how.residency = residency;
  FFT plan(context, input.operand(), how);
  Array output = empty(context, plan.output().layout, Dtype::c64, {.residency = residency});
  plan.reset(input, output);
  std::vector<Contender> contenders{{"ours",
                                     [&] {
                                       for (int i = 0; i < cube.turns; ++i) plan.execute(Stream{});
                                       context.synchronize();
                                     }},
                                    {"cufft_local", [&] { peer.transform_alone(cube.turns); }}};
  if (times_host) contenders.front() = host_time(context, plan, cube.turns);
  if (peer.has_nccl()) contenders.push_back({"nccl_cufft", [&] { peer.transform(cube.turns); }});
  std::vector<double> seconds = measure(world, contenders, options.runs);
  for (double& time : seconds) time /= cube.turns;
  check_transform(output, peer, cube, name);
  Result result{"fft",      name, context.size(), volume(cube.shape) * size_of(Dtype::c64),
                seconds[0], {},   "cufft_local",  seconds[1]};
  if (seconds.size() > 2) result.peers["nccl_cufft"] = seconds[2];
  return result;
}

}  // namespace

std::vector<Case> cuda_fft_cases() {
  std::vector<Case> cases;
  const auto add = [&](const Cube& cube, Residency residency, bool times_host = false) {
    const Shape& n = cube.shape;
    const bool even = n[0] == n[1] && n[1] == n[2];
    const std::string name = fmt::format("cube-{}/cuda/{}/{}", even ? fmt::to_string(n[0]) : to_string(n),
                                         cube.natural ? "natural" : "transposed",
                                         times_host                     ? "host-time"
                                         : residency == Residency::heap ? "heap"
                                                                        : "ordinary");
    cases.push_back({"fft",
                     name,
                     {1, 2, 4},
                     [=](const Context& world, const Options& options) {
                       return run(world, options, name, cube, residency, times_host);
                     },
                     Device::Kind::cuda});
  };
  const auto cube = [](std::int64_t n, int turns, bool natural = false) {
    return Cube{{n, n, n}, turns, natural};
  };
  for (const bool natural : {false, true}) {
    add(cube(64, 50, natural), Residency::heap);
    add(cube(256, 50, natural), Residency::heap);
    add(cube(512, 10, natural), Residency::heap);
    add(cube(1024, 3, natural), Residency::heap);
  }
  add(cube(512, 10), Residency::ordinary);
  add(cube(1024, 3), Residency::ordinary);
  add(cube(720, 5), Residency::heap);
  add(cube(500, 10), Residency::heap);
  add(cube(509, 5), Residency::heap);
  add({{181, 217, 181}, 20}, Residency::heap);
  add(cube(64, 50), Residency::heap, true);
  return cases;
}

}  // namespace partita::benchmarks
