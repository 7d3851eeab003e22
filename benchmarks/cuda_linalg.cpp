// Factorizations on GPUs, in place, in the library's own distribution. Bound: cuSOLVER's on one GPU, of the
// whole matrix, while the other GPUs wait.
#include "benchmarks/cuda_linalg.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <partita/device_report.hpp>
#include <partita/linalg.hpp>

#include "benchmarks/cuda_pushes.hpp"
#include "benchmarks/linalg_matrices.hpp"
#include "benchmarks/peer_symbol.hpp"

namespace partita::benchmarks {
namespace {

constexpr int f64_of_cuda = 1, lower_of_cublas = 0;

/// The functions of <cusolverDn.h>, which a build does not need.
struct CusolverFunctions {
  void* handle = nullptr;
  int (*create)(void**) = nullptr;
  int (*create_params)(void**) = nullptr;
  int (*set_stream)(void*, void*) = nullptr;
  int (*getrf_bytes)(void*, void*, std::int64_t, std::int64_t, int, const void*, std::int64_t, int,
                     std::size_t*, std::size_t*) = nullptr;
  int (*getrf)(void*, void*, std::int64_t, std::int64_t, int, void*, std::int64_t, std::int64_t*, int, void*,
               std::size_t, void*, std::size_t, int*) = nullptr;
  int (*potrf_bytes)(void*, void*, int, std::int64_t, int, const void*, std::int64_t, int, std::size_t*,
                     std::size_t*) = nullptr;
  int (*potrf)(void*, void*, int, std::int64_t, int, void*, std::int64_t, int, void*, std::size_t, void*,
               std::size_t, int*) = nullptr;
  int (*geqrf_bytes)(void*, void*, std::int64_t, std::int64_t, int, const void*, std::int64_t, int,
                     const void*, int, std::size_t*, std::size_t*) = nullptr;
  int (*geqrf)(void*, void*, std::int64_t, std::int64_t, int, void*, std::int64_t, int, void*, int, void*,
               std::size_t, void*, std::size_t, int*) = nullptr;

  CusolverFunctions() {
    const LibraryReport report = report_cusolver();
    if (!report.why_none.empty()) return;
    handle = dlopen(report.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
    find_symbol(handle, "cuSOLVER", "cusolverDnCreate", create);
    find_symbol(handle, "cuSOLVER", "cusolverDnCreateParams", create_params);
    find_symbol(handle, "cuSOLVER", "cusolverDnSetStream", set_stream);
    find_symbol(handle, "cuSOLVER", "cusolverDnXgetrf_bufferSize", getrf_bytes);
    find_symbol(handle, "cuSOLVER", "cusolverDnXgetrf", getrf);
    find_symbol(handle, "cuSOLVER", "cusolverDnXpotrf_bufferSize", potrf_bytes);
    find_symbol(handle, "cuSOLVER", "cusolverDnXpotrf", potrf);
    find_symbol(handle, "cuSOLVER", "cusolverDnXgeqrf_bufferSize", geqrf_bytes);
    find_symbol(handle, "cuSOLVER", "cusolverDnXgeqrf", geqrf);
  }
};

void require_cusolver(int status) {
  if (status != 0) throw Error("cuSOLVER: error " + std::to_string(status));
}

struct FreeOnDevice {
  void operator()(void* memory) const { cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<void, FreeOnDevice>;

DeviceMemory allocate_bytes(std::size_t bytes) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)));
  return DeviceMemory(memory);
}

/// On rank 0: the whole matrix. Its handles live as long as the process.
class Cusolver {
 public:
  Cusolver(const CusolverFunctions& library, Factorization kind, std::int64_t n, void* stream)
      : library_(library), kind_(kind), n_(n), stream_(static_cast<cudaStream_t>(stream)) {
    require_cusolver(library.create(&handle_));
    require_cusolver(library.create_params(&options_));
    require_cusolver(library.set_stream(handle_, stream));
    const std::size_t bytes = static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * sizeof(double);
    std::vector<double> elements(bytes / sizeof(double));
    for (std::int64_t i = 0; i < n * n; ++i)
      elements[static_cast<std::size_t>(i)] = factorized_element(kind, i % n, i / n, n);
    given_ = allocate_bytes(bytes);
    a_ = allocate_bytes(bytes);
    pivots_ = allocate_bytes(static_cast<std::size_t>(n) * sizeof(std::int64_t));
    status_ = allocate_bytes(sizeof(int));
    require(cudaMemcpy(given_.get(), elements.data(), bytes, cudaMemcpyHostToDevice));
    allocate_work();
  }

  double seconds() {
    const auto bytes = static_cast<std::size_t>(n_ * n_) * sizeof(double);
    require(cudaMemcpyAsync(a_.get(), given_.get(), bytes, cudaMemcpyDeviceToDevice, stream_));
    require(cudaStreamSynchronize(stream_));
    const auto start = std::chrono::steady_clock::now();
    run();
    require(cudaStreamSynchronize(stream_));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  void allocate_work() {
    std::size_t on_device = 0, on_host = 0;
    if (kind_ == Factorization::lu)
      require_cusolver(library_.getrf_bytes(handle_, options_, n_, n_, f64_of_cuda, a_.get(), n_, f64_of_cuda,
                                            &on_device, &on_host));
    else if (kind_ == Factorization::cholesky)
      require_cusolver(library_.potrf_bytes(handle_, options_, lower_of_cublas, n_, f64_of_cuda, a_.get(), n_,
                                            f64_of_cuda, &on_device, &on_host));
    else
      require_cusolver(library_.geqrf_bytes(handle_, options_, n_, n_, f64_of_cuda, a_.get(), n_, f64_of_cuda,
                                            pivots_.get(), f64_of_cuda, &on_device, &on_host));
    work_ = allocate_bytes(on_device);
    work_bytes_ = on_device;
    host_work_.resize(on_host);
  }

  void run() {
    auto* const status = static_cast<int*>(status_.get());
    if (kind_ == Factorization::lu)
      require_cusolver(library_.getrf(handle_, options_, n_, n_, f64_of_cuda, a_.get(), n_,
                                      static_cast<std::int64_t*>(pivots_.get()), f64_of_cuda, work_.get(),
                                      work_bytes_, host_work_.data(), host_work_.size(), status));
    else if (kind_ == Factorization::cholesky)
      require_cusolver(library_.potrf(handle_, options_, lower_of_cublas, n_, f64_of_cuda, a_.get(), n_,
                                      f64_of_cuda, work_.get(), work_bytes_, host_work_.data(),
                                      host_work_.size(), status));
    else
      require_cusolver(library_.geqrf(handle_, options_, n_, n_, f64_of_cuda, a_.get(), n_, f64_of_cuda,
                                      pivots_.get(), f64_of_cuda, work_.get(), work_bytes_, host_work_.data(),
                                      host_work_.size(), status));
  }

  const CusolverFunctions& library_;
  Factorization kind_;
  std::int64_t n_;
  cudaStream_t stream_;
  void* handle_ = nullptr;
  void* options_ = nullptr;
  DeviceMemory given_, a_, pivots_, status_, work_;
  std::size_t work_bytes_ = 0;
  std::vector<char> host_work_;
};

template <class Factors>
std::optional<Result> run_on_devices(const Context& world, const Options& options, Factorization kind,
                                     std::int64_t n, const std::string& name) {
  static const CusolverFunctions library;
  if (report_devices().devices.empty() || library.handle == nullptr) return std::nullopt;
  ContextOptions on_devices;
  on_devices.device = Device::cuda();
  const Context context = initialize(on_devices);
  Operand any = Operand::of(Layout(Slab(0), {n, n}, context.size()), Dtype::f64);
  any.space = MemorySpace::device;
  const Plan plan = plan_factorization(kind, any, context.topology(), context.rank());
  Array given = empty(context, plan.buffers[1].operand->layout, Dtype::f64, {.order = Order::column_major});
  fill(given, [=](const Index& i) { return factorized_element(kind, i[0], i[1], n); });
  Array a = clone(given, {.order = Order::column_major});
  Factors factors(a, {.overwrite = true});
  std::optional<Cusolver> peer;
  if (context.rank() == 0) peer.emplace(library, kind, n, context.stream().handle);
  const std::vector<Contender> contenders{{"ours", [&] { factors.factorize(a); },
                                           [&] {
                                             copy(given, a);
                                             context.synchronize();
                                           }},
                                          {"cusolver", {}, {}, [&] { return peer->seconds(); }}};
  const std::vector<double> seconds = measure(world, contenders, options.runs);
  Array b = empty(context, {n}, Slab(0), Dtype::f64);
  fill(b, 1.0);
  check_solution(given, factors.solve(b), b, name);
  return Result{"linalg", name, context.size(), n * n * 8, seconds[0], {}, "cusolver", seconds[1]};
}

}  // namespace

std::vector<Case> cuda_linalg_cases() {
  std::vector<Case> cases;
  const auto add = [&](auto* run, Factorization kind, const char* kind_name, std::int64_t n) {
    const std::string name = fmt::format("{}-{}/cuda", kind_name, n);
    cases.push_back(
        {"linalg",
         name,
         {1, 2},
         [=](const Context& world, const Options& options) { return run(world, options, kind, n, name); },
         Device::Kind::cuda});
  };
  for (const std::int64_t n : {8192, 32768}) {
    add(run_on_devices<Lu>, Factorization::lu, "lu", n);
    add(run_on_devices<Cholesky>, Factorization::cholesky, "cholesky", n);
    add(run_on_devices<Qr>, Factorization::qr, "qr", n);
  }
  return cases;
}

}  // namespace partita::benchmarks
