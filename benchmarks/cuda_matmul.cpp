// D = A B on GPUs. Bound: cuBLASLt's product of what a rank multiplies, alone, in the fastest of its first
// eight ways. Peer: that, and NCCL's collective of the same bytes before or behind it.
//
// Every contender does several turns before the host looks, so that what is timed is the device.
#include "benchmarks/cuda_matmul.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <partita/astype.hpp>
#include <partita/device_report.hpp>
#include <partita/matmul.hpp>
#include <string>

#include "benchmarks/cuda_nccl.hpp"
#include "benchmarks/cuda_products.hpp"
#include "benchmarks/cuda_pushes.hpp"

namespace partita::benchmarks {
namespace {

struct Size {
  std::int64_t m = 0, n = 0, k = 0;
  int turns = 1;
  Dtype dtype = Dtype::bf16;

  std::string name() const { return fmt::format("{}x{}x{}", m, n, k); }
  bool narrow() const { return size_of(dtype) == 1; }
  Dtype result() const { return dtype == Dtype::i8 ? Dtype::i32 : narrow() ? Dtype::bf16 : dtype; }
  std::int64_t bytes() const { return (m * k + k * n) * size_of(dtype) + m * n * size_of(result()); }
};

/// The layout of the arrays, what a rank multiplies then, and what NCCL does for it.
struct Way {
  std::string name;
  std::vector<int> ranks;
  std::function<std::array<Distribution, 3>(int ranks)> lie;  // A, B, D
  std::function<LocalProduct(const Size&, int ranks)> local;
  std::optional<Collective> collective = {};
  bool before = false;  // of A; else of the products
};

Way gathered() {
  return {"all-gather",
          {2, 4, 8},
          [](int) {
            return std::array<Distribution, 3>{Slab(0), Slab(1), Slab(1)};
          },
          [](const Size& size, int ranks) {
            return LocalProduct{size.m, size.n / ranks, size.k, size.dtype, size.result()};
          },
          Collective::all_gather,
          true};
}

LocalProduct cut_along_k(const Size& size, int ranks) {
  return {size.m, size.n, size.k / ranks, size.dtype, size.result()};
}

Way scattered() {
  return {"reduce-scatter",
          {2, 4, 8},
          [](int) {
            return std::array<Distribution, 3>{Slab(1), Slab(0), Slab(0)};
          },
          cut_along_k,
          Collective::reduce_scatter};
}

Way reduced() {
  return {"all-reduce",
          {2, 4, 8},
          [](int) {
            return std::array<Distribution, 3>{Slab(1), Slab(0), Replicated()};
          },
          cut_along_k,
          Collective::all_reduce};
}

/// A and D whole on every rank, B by columns.
Way columns() {
  return {"columns",
          {2, 4, 8},
          [](int) {
            return std::array<Distribution, 3>{Replicated(), Slab(1), Replicated()};
          },
          [](const Size& size, int ranks) {
            return LocalProduct{size.m, size.n / ranks, size.k, size.dtype, size.result()};
          },
          Collective::all_gather};
}

/// block = 0: one block per rank.
Way on_grid(const std::string& name, std::int64_t block) {
  return {name,
          {4},
          [block](int) {
            const ProcessGrid grid({2, 2});
            const Distribution lies = block == 0 ? Distribution(BlockNonCyclic(grid))
                                                 : Distribution(BlockCyclic(grid, {block, block}));
            return std::array<Distribution, 3>{lies, lies, lies};
          },
          [](const Size& size, int) {
            return LocalProduct{size.m / 2, size.n / 2, size.k, size.dtype, size.result()};
          }};
}

/// All-gathers along one axis of a mesh, along the other one there are replicas.
Way replicated() {
  return {"mesh-replicated",
          {4},
          [](int) {
            const auto rows = Distribution::parse("mesh:cut=2,replicas=2:cut,-"),
                       columns = Distribution::parse("mesh:cut=2,replicas=2:-,cut");
            return std::array<Distribution, 3>{rows, columns, columns};
          },
          [](const Size& size, int) {
            return LocalProduct{size.m, size.n / 2, size.k, size.dtype, size.result()};
          }};
}

Way alone() {
  return {"alone",
          {1},
          [](int) {
            return std::array<Distribution, 3>{Slab(0), Slab(0), Slab(0)};
          },
          [](const Size& size, int) {
            return LocalProduct{size.m, size.n, size.k, size.dtype, size.result()};
          }};
}

/// The operands of a peer: what a rank has of everything after or before NCCL's turn.
class Peer {
 public:
  Peer(const Context& context, const Context& world, const Way& way, const Size& size, CublasLt& products)
      : way_(way),
        products_(products),
        nccl_(way.collective ? make_nccl(world) : nullptr),
        product_(way.local(size, context.size())),
        dtype_(size.dtype),
        a_(make(context, product_.m * product_.k, dtype_)),
        b_(make(context, product_.k * product_.n, dtype_)),
        d_(make(context, product_.m * product_.n, product_.result)),
        moved_(make(context, std::max(product_.m * product_.k, size.m * size.n), dtype_)),
        count_(way.before ? product_.m * product_.k : size.m * size.n),
        stream_(static_cast<cudaStream_t>(context.stream().handle)) {
    products_.choose(product_, data(a_), data(b_), data(d_));
  }

  bool has_nccl() const { return nccl_ != nullptr; }
  void start() { products_.run(data(a_), data(b_), data(d_), stream_); }
  void multiply(int turns) {
    for (int i = 0; i < turns; ++i) start();
    require(cudaStreamSynchronize(stream_));
  }
  void move_and_multiply(int turns) {
    for (int i = 0; i < turns; ++i) {
      if (way_.before) nccl_->run(*way_.collective, data(moved_), data(a_), count_, stream_, dtype_);
      start();
      if (!way_.before) nccl_->run(*way_.collective, data(d_), data(moved_), count_, stream_, dtype_);
    }
    require(cudaStreamSynchronize(stream_));
  }

 private:
  static Array make(const Context& context, std::int64_t elements, Dtype dtype) {
    Array array = empty(context, {elements * context.size()}, Slab(0), dtype,
                        {.residency = Residency::ordinary, .space = MemorySpace::device});
    fill_random(array, 3);
    return array;
  }
  static void* data(const Array& array) { return array.local().data; }

  const Way& way_;
  CublasLt& products_;
  std::unique_ptr<Nccl> nccl_;
  LocalProduct product_;
  Dtype dtype_;
  Array a_, b_, d_, moved_;
  std::int64_t count_;
  cudaStream_t stream_;
};

/// A benchmark of wrong numbers is worth nothing. Operands are in [-1, 1); the other way sums in another
/// order.
void check_product(const Array& a, const Array& b, const Array& d, const Size& size,
                   const std::string& name) {
  MatmulOptions other;
  other.method = MatmulMethod::summa_c;
  other.distribution = d.layout().distribution();
  // Numbers of 8 bits once more as halves, which hold them.
  const bool widened = size.dtype == Dtype::f8e4m3;
  other.result = widened ? Dtype::f32 : size.result();
  const Array again =
      widened ? matmul(astype(a, Dtype::f16), astype(b, Dtype::f16), other) : matmul(a, b, other);
  const double difference = compare(widened ? astype(again, d.dtype()) : again, d).largest_difference;
  const bool is_double = size.dtype == Dtype::f64 || size.dtype == Dtype::c128;
  const double rounding = size.result() == Dtype::bf16 ? 0x1p-7
                          : size.dtype == Dtype::f16   ? 0x1p-10
                          : is_double                  ? 0x1p-48
                                                       : 0x1p-20;
  if (!(difference <= 4 * rounding * std::sqrt(static_cast<double>(size.k))))
    throw Error(name + ": the result is wrong");
}

/// Seconds of the host for one call, of which the device may do more at a time than it is given.
Contender host_time_of(std::string name, const Context& context, int turns,
                       const std::function<void()>& call) {
  return {std::move(name), {}, {}, {}, [&context, turns, call] {
            context.synchronize();
            const auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < turns; ++i) call();
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            context.synchronize();
            return spent.count();
          }};
}

/// What is compared: the time until the device has done it, or that of the calls alone.
enum class Clock { device, host };

std::optional<Result> run(const Context& world, const Options& options, const std::string& name,
                          const Way& way, const Size& size, Residency residency,
                          Clock clock = Clock::device) {
  if (report_devices().devices.empty()) return std::nullopt;
  ContextOptions on_devices;
  on_devices.device = Device::cuda();
  const Context context = initialize(on_devices);
  const auto products = make_cublas_lt();
  if (!products) return std::nullopt;
  const std::array<Distribution, 3> lie = way.lie(context.size());
  const ArrayOptions how{.residency = residency};
  Array a = empty(context, {size.m, size.k}, lie[0], size.dtype, how);
  Array b = empty(context, {size.k, size.n}, lie[1], size.dtype,
                  {.residency = residency, .order = size.narrow() ? Order::column_major : Order::row_major});
  Array d = empty(context, {size.m, size.n}, lie[2], size.result(), how);
  fill_random(a, 1);
  fill_random(b, 2);
  MatmulOptions of_ours;
  const bool halves = size.result() == Dtype::f16 || size.result() == Dtype::bf16;
  if (halves) of_ours.reduce_dtype = size.result();  // as NCCL reduces them
  Matmul plan(context, {a.operand(), b.operand(), {}, d.operand()}, of_ours);
  plan.reset(a, b, nullptr, d);
  Peer peer(context, world, way, size, *products);
  std::vector<Contender> contenders{{"ours",
                                     [&] {
                                       for (int i = 0; i < size.turns; ++i) plan.execute(Stream{});
                                       context.synchronize();
                                     }},
                                    {"cublaslt_local", [&] { peer.multiply(size.turns); }}};
  if (peer.has_nccl()) contenders.push_back({"nccl_cublaslt", [&] { peer.move_and_multiply(size.turns); }});
  if (clock == Clock::host) {
    contenders = {host_time_of("ours", context, size.turns, [&] { plan.execute(Stream{}); }),
                  host_time_of("cublaslt_local", context, size.turns, [&] { peer.start(); })};
  }
  std::vector<double> seconds = measure(world, contenders, options.runs);
  for (double& time : seconds) time /= size.turns;
  check_product(a, b, d, size, name);
  Result result{"matmul", name, context.size(), size.bytes(), seconds[0], {}, "cublaslt_local", seconds[1]};
  if (seconds.size() > 2) result.peers["nccl_cublaslt"] = seconds[2];
  return result;
}

}  // namespace

std::vector<Case> cuda_matmul_cases() {
  std::vector<Case> cases;
  const auto add = [&](const Way& way, const Size& size, Residency residency = Residency::heap) {
    const std::string name = fmt::format("{}-{}/cuda/{}/{}", way.name, size.name(), partita::name(size.dtype),
                                         residency == Residency::heap ? "heap" : "ordinary");
    cases.push_back({"matmul", name, way.ranks,
                     [=](const Context& world, const Options& options) {
                       return run(world, options, name, way, size, residency);
                     },
                     Device::Kind::cuda});
  };
  for (const Way& way : {gathered(), scattered()}) {
    for (const Residency residency : {Residency::heap, Residency::ordinary}) {
      add(way, {8192, 8192, 8192, 20}, residency);
      add(way, {16384, 28672, 8192, 5}, residency);
      add(way, {4096, 4096, 4096, 50}, residency);
    }
  }
  // Uneven slabs; 8191, 8179 and 8171 are prime.
  add(gathered(), {8191, 8192, 8192, 20});
  add(gathered(), {8193, 8192, 8192, 20});
  add(gathered(), {8191, 8179, 8171, 20});
  add(scattered(), {8191, 8179, 8171, 20});
  add(replicated(), {8192, 8192, 8192, 20});
  for (const Dtype dtype : {Dtype::f16, Dtype::f32}) add(gathered(), {8192, 8192, 8192, 10, dtype});
  add(reduced(), {8192, 8192, 8192, 20});
  for (const std::int64_t m : {1, 16, 64, 256}) {
    add(columns(), {m, 8192, 8192, 100});
    add(reduced(), {m, 8192, 8192, 100});
  }
  add(on_grid("cyclic-256", 256), {8192, 8192, 8192, 20});
  add(on_grid("blocks", 0), {32768, 32768, 32768, 1, Dtype::f64});
  add(on_grid("cyclic-512", 512), {32768, 32768, 32768, 1, Dtype::f64});
  add(on_grid("blocks", 0), {16384, 16384, 16384, 1, Dtype::c128});
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16, Dtype::f32, Dtype::f64, Dtype::c64}) {
    for (const std::int64_t n : {512, 2048, 8192}) add(alone(), {n, n, n, n > 4096 ? 5 : 50, dtype});
    if (dtype != Dtype::c64) add(alone(), {16384, 16384, 16384, 1, dtype});
  }
  add(alone(), {8192, 8192, 8192, 5, Dtype::f64}, Residency::ordinary);
  for (const Dtype dtype : {Dtype::f8e4m3, Dtype::i8}) {
    for (const std::int64_t n : {2048, 8192}) add(alone(), {n, n, n, n > 4096 ? 10 : 50, dtype});
  }
  add(gathered(), {8192, 8192, 8192, 20, Dtype::f8e4m3});
  for (Way way : {alone(), gathered()}) {
    const Size size{256, 256, 256, 50};
    const std::string name = fmt::format("{}-{}/cuda/bf16/host-time", way.name, size.name());
    cases.push_back({"matmul", name, way.ranks,
                     [=](const Context& world, const Options& options) {
                       return run(world, options, name, way, size, Residency::heap, Clock::host);
                     },
                     Device::Kind::cuda});
  }
  for (Case& one : cuda_epilogue_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace partita::benchmarks
