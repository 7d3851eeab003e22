#include "device/cuda_factorizations.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"
#include "base/round.hpp"
#include "cuda/load_by_graph.hpp"
#include "device/cuda_qr_panel.hpp"
#include "kernels/cuda/not_finite.hpp"
#include "kernels/cuda/row_exchange.hpp"
#include "kernels/cuda/triangular_solve.hpp"

namespace partita::devices {
namespace {

constexpr std::size_t most_calls = 1024;  // but for those in use
constexpr std::int64_t aligned = 256;

int as_int(std::int64_t size) {
  check<UnsupportedError>(size <= std::numeric_limits<int>::max(),
                          "cuSOLVER applies reflectors to at most {} rows, columns or leading elements: {}",
                          std::numeric_limits<int>::max(), size);
  return static_cast<int>(size);
}

CublasOperation operation_of(const DeviceReflectors& what) {
  if (!what.adjoint) return CublasOperation::none;
  return is_complex(what.dtype) ? CublasOperation::conjugate_transpose : CublasOperation::transpose;
}

/// Of LU, before cuSOLVER's own workspace: pivots as cuSOLVER has them, counted from 1, and the first column
/// that is not finite.
std::int64_t front_bytes_of(const DeviceFactorization& what) {
  if (what.kind != Factorization::lu) return 0;
  return round_up(std::min(what.m, what.n) * size_of(Dtype::i64), aligned) + aligned;
}

kernels::cuda::RealColumns real_columns(const DeviceFactorization& what, void* matrix) {
  const std::int64_t each = is_complex(what.dtype) ? 2 : 1;
  return {matrix, !is_double(what.dtype), each * what.m, what.n, each * what.leading};
}

kernels::cuda::RowExchange kernel_of(const DeviceRowExchange& what) {
  kernels::cuda::RowExchange kernel;
  kernel.item_bytes = static_cast<int>(size_of(what.dtype));
  kernel.rows = what.m;
  kernel.columns = what.n;
  kernel.leading = what.leading;
  kernel.count = what.count;
  kernel.backward = what.backward;
  kernel.panel = what.panel;
  return kernel;
}

kernels::cuda::TriangularSides kernel_of(const DeviceTriangularSolve& what, const void* triangle, void* to) {
  kernels::cuda::TriangularSides kernel;
  kernel.dtype = what.dtype;
  kernel.upper = what.upper;
  kernel.transpose = what.op == Op::transpose || what.op == Op::conjugate_transpose;
  kernel.conjugate = what.op == Op::conjugate || what.op == Op::conjugate_transpose;
  kernel.unit_diagonal = what.unit_diagonal;
  kernel.triangle = triangle;
  kernel.leading_triangle = what.leading_triangle;
  kernel.n = what.m;
  kernel.sides = to;
  kernel.leading = what.leading;
  kernel.columns = static_cast<int>(what.n);
  return kernel;
}

/// L of the rows below the diagonal block, by its adjoint from the right.
DeviceTriangularSolve rest_of_cholesky(const DeviceFactorization& what) {
  DeviceTriangularSolve rest;
  rest.dtype = what.dtype;
  rest.op = Op::conjugate_transpose;
  rest.from_right = true;
  rest.m = what.m - what.n;
  rest.n = what.n;
  rest.leading = rest.leading_triangle = what.leading;
  return rest;
}

}  // namespace

/// factor: the matrix, pivots, status. solve, apply: what is solved for or updated, the triangle or the
/// reflectors, their factors.
struct CudaFactorizations::Places {
  void* matrix = nullptr;
  const void* other = nullptr;
  const void* tau = nullptr;
  void* pivots = nullptr;
  void* status = nullptr;
  void* workspace = nullptr;
};

struct CudaFactorizations::Call final : PreparedFactorCall {
  using PreparedFactorCall::PreparedFactorCall;
  std::int64_t workspace_bytes() const override { return front_bytes + static_cast<std::int64_t>(on_device); }

  std::int64_t front_bytes = 0;  // before cuSOLVER's own part of the workspace
  std::size_t on_device = 0;     // in bytes; of reflectors a number of elements is made of it
  mutable std::vector<char> on_host;
  bool by_kernels = false;  // of the library: the QR factorization of a panel, a solve of few columns
  int launches = 1;
  std::string why_no_graph;  // empty: it may be captured
};

std::string CudaFactorizations::why_none() {
  const CusolverLibrary& library = CusolverLibrary::of_process();
  return library.why_none.empty() ? CublasLibrary::of_process().why_none : library.why_none;
}

std::unique_ptr<CudaFactorizations> CudaFactorizations::make(Accelerator& device,
                                                             std::function<unsigned()> most_blocks) {
  if (!why_none().empty()) return nullptr;
  device.use();
  const cuda::CudaBesideCaptures unharmed;
  return std::unique_ptr<CudaFactorizations>(new CudaFactorizations(device, std::move(most_blocks)));
}

CudaFactorizations::CudaFactorizations(Accelerator& device, std::function<unsigned()> most_blocks)
    : device_(device),
      most_blocks_(std::move(most_blocks)),
      library_(CusolverLibrary::of_process()),
      factorizing_(device),
      applying_(device) {
  CusolverOptions made = nullptr;
  check_cusolver(library_.create_options(&made), "start");
  options_ = {made, library_.destroy_options};
}

std::string CudaFactorizations::name() const {
  const int version = library_.version;
  return fmt::format("cuSOLVER {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

/// cuSOLVER counts the elements of its workspace in 32 bits.
MostReflectors CudaFactorizations::most_reflectors(std::int64_t rows) const {
  constexpr std::int64_t elements = std::int64_t{1} << 30, least = 32;
  const auto within = [&](std::int64_t most) { return std::clamp(elements / rows, least, most); };
  return {within(1024), within(16384)};
}

const CudaFactorHandles& CudaFactorizations::handles_of(const FactorCall& what) const {
  return std::holds_alternative<DeviceFactorization>(what) ? factorizing_ : applying_;
}

std::shared_ptr<PreparedFactorCall> CudaFactorizations::prepare(const FactorCall& what) {
  for (const auto& known : prepared_) {
    if (known->what == what) return known;
  }
  if (prepared_.size() >= most_calls)
    std::erase_if(prepared_, [](const auto& one) { return one.use_count() == 1; });
  device_.use();
  const cuda::CudaBesideCaptures unharmed;
  auto call = std::make_shared<Call>(what);
  measure(*call);
  load(*call);
  prepared_.push_back(call);
  return call;
}

void CudaFactorizations::measure(Call& call) const {
  std::visit([&](const auto& what) { measure(what, call); }, call.what);
}

void CudaFactorizations::measure(const DeviceTriangularSolve& what, Call& call) {
  call.by_kernels = !what.from_right && what.n <= kernels::cuda::most_triangular_sides(what.m);
  if (!call.by_kernels) return;
  call.on_device = static_cast<std::size_t>(
      kernels::cuda::triangular_sides_bytes(what.dtype, what.m, static_cast<int>(what.n)));
}

void CudaFactorizations::measure(const DeviceFactorization& what, Call& call) const {
  CusolverHandle const handle = factorizing_.solver();
  CusolverOptions const options = options_.get();
  const CublasType type = *cublas_type(what.dtype);
  check<UnsupportedError>(
      what.kind != Factorization::lu || what.m <= std::numeric_limits<std::int32_t>::max(),
      "pivots number at most {} rows: {}", std::numeric_limits<std::int32_t>::max(), what.m);
  call.by_kernels = has_qr_panel(what);
  if (call.by_kernels) {
    call.on_device = static_cast<std::size_t>(qr_panel_workspace_bytes(what));
    return;
  }
  std::size_t on_host = 0;
  const int status = what.kind == Factorization::cholesky
                         ? library_.potrf_bytes(handle, options, CublasTriangle::lower, what.n, type, nullptr,
                                                what.leading, type, &call.on_device, &on_host)
                     : what.kind == Factorization::lu
                         ? library_.getrf_bytes(handle, options, what.m, what.n, type, nullptr, what.leading,
                                                type, &call.on_device, &on_host)
                         : library_.geqrf_bytes(handle, options, what.m, what.n, type, nullptr, what.leading,
                                                type, nullptr, type, &call.on_device, &on_host);
  check<UnsupportedError>(status == 0, "cuSOLVER factorizes no matrix of {} x {} in {}: error {}", what.m,
                          what.n, partita::name(what.dtype), status);
  call.front_bytes = front_bytes_of(what);
  call.on_host.resize(on_host);
}

void CudaFactorizations::measure(const DeviceReflectors& what, Call& call) const {
  int elements = 0;
  const int status = library_.multiply_by_q_size.at(number_of(what.dtype))(
      applying_.solver(), CublasSide::left, operation_of(what), as_int(what.m), as_int(what.n),
      as_int(what.k), nullptr, as_int(what.leading_reflectors), nullptr, nullptr, as_int(what.leading),
      &elements);
  check<UnsupportedError>(status == 0, "cuSOLVER applies no {} reflectors of {} rows to {} columns: error {}",
                          what.k, what.m, what.n, status);
  call.front_bytes = aligned;  // the status, which is not read
  call.on_device = static_cast<std::size_t>(elements * size_of(what.dtype));
}

/// Nothing looks at addresses before it runs. What cannot be captured is loaded by the first execution.
void CudaFactorizations::load(Call& call) const {
  void* const any = applying_.any_memory();
  constexpr const char* what = "load a factorization";
  try {
    const cuda::CudaGraph graph = cuda::captured(what, [&](Stream aside) {
      start(call, {any, any, any, any, any, any}, aside);
    });
    call.launches = std::max(cuda::launches_of(graph, what), 1);
    (void)cuda::program_of(graph, what);
  } catch (const Error& error) {
    (void)cudaGetLastError();
    call.why_no_graph = error.what();
  }
}

void CudaFactorizations::put(const PreparedFactorCall& prepared, const Places& places, Stream stream) {
  const auto& call = static_cast<const Call&>(prepared);
  check<UnsupportedError>(call.why_no_graph.empty() || !device_.captures(stream),
                          "{} cannot be captured into a graph here: {}", name(), call.why_no_graph);
  device_.launching(stream, call.launches);
  start(call, places, stream);
}

void CudaFactorizations::start(const Call& call, const Places& places, Stream stream) const {
  handles_of(call.what).use(stream);
  std::visit([&](const auto& what) { start(what, call, places, stream); }, call.what);
}

void CudaFactorizations::start(const DeviceFactorization& what, const Call& call, const Places& places,
                               Stream stream) const {
  if (call.by_kernels)
    return factor_qr_panel(factorizing_, what,
                           {places.matrix, places.pivots, places.status, places.workspace}, stream);
  CusolverHandle const handle = factorizing_.solver();
  CusolverOptions const options = options_.get();
  const CublasType type = *cublas_type(what.dtype);
  auto* const status = static_cast<int*>(places.status);
  char* const workspace = static_cast<char*>(places.workspace) + call.front_bytes;
  char* const on_host = call.on_host.data();
  const std::size_t host_bytes = call.on_host.size();
  if (what.kind == Factorization::lu) {
    auto* const pivots = static_cast<std::int64_t*>(places.workspace);
    auto* const spoilt = reinterpret_cast<std::uint64_t*>(workspace - aligned);
    const kernels::cuda::RealColumns numbers = real_columns(what, places.matrix);
    void* const native = cuda::native(stream);
    cuda::check_launch(kernels::cuda::launch_find_not_finite(numbers, spoilt, native), "look for NaNs");
    check_cusolver(library_.getrf(handle, options, what.m, what.n, type, places.matrix, what.leading, pivots,
                                  type, workspace, call.on_device, on_host, host_bytes, status),
                   "factorize");
    cuda::check_launch(kernels::cuda::launch_spoil_columns(numbers, spoilt, status, native), "keep NaNs");
    return cuda::check_launch(
        kernels::cuda::launch_count_from_zero(pivots, static_cast<std::int32_t*>(places.pivots),
                                              std::min(what.m, what.n), what.m, native),
        "count pivots from 0");
  }
  if (what.kind == Factorization::qr) {
    return check_cusolver(
        library_.geqrf(handle, options, what.m, what.n, type, places.matrix, what.leading, type,
                       places.pivots, type, workspace, call.on_device, on_host, host_bytes, status),
        "factorize");
  }
  check_cusolver(library_.potrf(handle, options, CublasTriangle::lower, what.n, type, places.matrix,
                                what.leading, type, workspace, call.on_device, on_host, host_bytes, status),
                 "factorize");
  if (what.m == what.n) return;
  char* const below = static_cast<char*>(places.matrix) + what.n * size_of(what.dtype);
  factorizing_.solve(rest_of_cholesky(what), places.matrix, below);
}

void CudaFactorizations::start(const DeviceTriangularSolve& what, const Call& call, const Places& places,
                               Stream stream) const {
  if (!call.by_kernels) return applying_.solve(what, places.other, places.matrix);
  kernels::cuda::TriangularSides kernel = kernel_of(what, places.other, places.matrix);
  kernel.workspace = places.workspace;
  cuda::check_launch(kernels::cuda::launch_triangular_sides(kernel, cuda::native(stream)),
                     "solve a triangular system");
}

void CudaFactorizations::start(const DeviceReflectors& what, const Call& call, const Places& places,
                               Stream /*stream*/) const {
  auto* const status = static_cast<int*>(places.workspace);
  char* const workspace = static_cast<char*>(places.workspace) + call.front_bytes;
  const auto elements = static_cast<std::int64_t>(call.on_device) / size_of(what.dtype);
  check_cusolver(library_.multiply_by_q.at(number_of(what.dtype))(
                     applying_.solver(), CublasSide::left, operation_of(what), as_int(what.m), as_int(what.n),
                     as_int(what.k), places.other, as_int(what.leading_reflectors), places.tau, places.matrix,
                     as_int(what.leading), workspace, as_int(elements), status),
                 "apply reflectors");
}

void CudaFactorizations::factor(const PreparedFactorCall& call, void* panel, void* pivots, void* status,
                                void* workspace, Stream stream) {
  put(call, {panel, nullptr, nullptr, pivots, status, workspace}, stream);
}

void CudaFactorizations::solve(const PreparedFactorCall& call, const void* triangle, void* to,
                               void* workspace, Stream stream) {
  put(call, {to, triangle, nullptr, nullptr, nullptr, workspace}, stream);
}

void CudaFactorizations::apply(const PreparedFactorCall& call, const void* reflectors, const void* factors,
                               void* to, void* workspace, Stream stream) {
  put(call, {to, reflectors, factors, nullptr, nullptr, workspace}, stream);
}

std::int64_t CudaFactorizations::workspace_bytes(const DeviceRowExchange& what) const {
  return kernels::cuda::row_exchange_bytes(kernel_of(what));
}

void CudaFactorizations::exchange(const DeviceRowExchange& what, const void* pivots, void* to,
                                  void* workspace, Stream stream) {
  kernels::cuda::RowExchange kernel = kernel_of(what);
  kernel.data = to;
  kernel.pivots = static_cast<const std::int32_t*>(pivots);
  kernel.workspace = workspace;
  device_.launching(stream, finds_moves_first(kernel) ? 2 : 1);
  cuda::check_launch(kernels::cuda::launch_row_exchange(kernel, cuda::native(stream)), "exchange rows");
}

std::int64_t CudaFactorizations::shared_bytes(const DeviceSharedSolve& what) const {
  const DeviceTriangularSolve& own = what.own;
  if (what.ranks > kernels::cuda::most_sharers || own.n > kernels::cuda::most_shared_sides ||
      most_blocks_() == 0)
    return 0;
  return kernels::cuda::shared_sides_bytes(own.dtype, own.m, static_cast<int>(own.n), what.ranks);
}

void CudaFactorizations::clear_words(void* words, std::int64_t bytes, Stream stream) {
  device_.launching(stream, 1);
  cuda::check_launch(kernels::cuda::launch_set_all_bits(words, bytes, cuda::native(stream)), "clear words");
}

void CudaFactorizations::solve_shared(const DeviceSharedSolve& what, const SharedSolvePlaces& places,
                                      Stream stream) {
  kernels::cuda::SharedSides kernel;
  kernel.own = kernel_of(what.own, places.columns, places.rows);
  kernel.given = places.given;
  kernel.leading_given = what.own.m;
  kernel.rank = what.rank;
  kernel.ranks = what.ranks;
  kernel.width = what.width;
  std::ranges::copy(places.words, kernel.words);
  kernel.given_up = places.given_up;
  kernel.most_blocks = most_blocks_();
  device_.launching(stream, 1);
  cuda::check_launch(kernels::cuda::launch_shared_sides(kernel, cuda::native(stream)),
                     "solve a triangular system");
}

}  // namespace partita::devices
