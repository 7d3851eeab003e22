#include "device/cuda_math.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.hpp"
#include "cuda/stream.hpp"
#include "kernels/cuda/epilogue_launch.hpp"

namespace partita::devices {
namespace {

constexpr std::int64_t workspace_bytes = std::int64_t{32} << 20;  // what NVIDIA names for Hopper
constexpr int any_algorithm = -1;                                 // CUBLAS_GEMM_DEFAULT
constexpr std::size_t most_prepared = 64;

std::optional<CublasType> type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return CublasType::f16;
    case Dtype::bf16:
      return CublasType::bf16;
    case Dtype::f32:
      return CublasType::f32;
    case Dtype::f64:
      return CublasType::f64;
    case Dtype::c64:
      return CublasType::c64;
    case Dtype::c128:
      return CublasType::c128;
    default:
      return std::nullopt;
  }
}

bool is_double(Dtype dtype) {
  return dtype == Dtype::f64 || dtype == Dtype::c128;
}

/// A factor in the type that computes; cuBLAS takes its address.
struct Factor {
  alignas(16) char bytes[16];
  Factor(std::complex<double> value, Dtype computed) {
    const std::complex<float> single(value);
    if (is_double(computed)) {
      std::memcpy(bytes, &value, sizeof(value));  // a real one is the first half
    } else {
      std::memcpy(bytes, &single, sizeof(single));
    }
  }
};

CublasOperation operation_of(BlasOp op) {
  static_assert(static_cast<int>(BlasOp::conjugate_transpose) ==
                static_cast<int>(CublasOperation::conjugate_transpose));
  return static_cast<CublasOperation>(op);
}

}  // namespace

std::unique_ptr<CudaMath> CudaMath::make(Accelerator& device) {
  const CublasLibrary& library = CublasLibrary::of_process();
  if (!library.why_none.empty()) return nullptr;
  return std::unique_ptr<CudaMath>(new CudaMath(device, library));
}

CudaMath::CudaMath(Accelerator& device, const CublasLibrary& library)
    : device_(device), library_(library), workspace_(device, workspace_bytes) {
  const cuda::CudaBesideCaptures unharmed;
  check_cublas(library_.create(&handle_), "start");
}

CudaMath::~CudaMath() {
  const cuda::CudaBesideCaptures unharmed;
  library_.destroy(handle_);
}

void CudaMath::check_cublas(int status, const char* what) const {
  check<Error>(status == 0, "cuBLAS: {}: {}", what, status == 0 ? "" : library_.status_string(status));
}

std::string CudaMath::name() const {
  const int version = library_.version;
  return fmt::format("cuBLAS {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

bool CudaMath::multiplies(Dtype factors, Dtype result) const {
  const bool half = factors == Dtype::f16 || factors == Dtype::bf16;
  return type_of(factors).has_value() && result == (half ? Dtype::f32 : factors);
}

/// A graph that is never started: what is loaded for it stays. Its addresses are not looked at.
void CudaMath::prepare(const DeviceGemm& what) {
  if (std::ranges::find(prepared_, what) != prepared_.end()) return;
  if (prepared_.size() < most_prepared) prepared_.push_back(what);
  device_.use();
  const cuda::CudaBesideCaptures unharmed;
  const cuda::CudaStream aside = cuda::new_cuda_stream();
  cuda::check_cuda(cudaStreamBeginCapture(aside.get(), cudaStreamCaptureModeRelaxed), "load a product");
  cudaGraph_t graph = nullptr;
  try {
    gemm(what, workspace_.data(), workspace_.data(), workspace_.data(), 1, 1, {aside.get()});
  } catch (...) {
    if (cudaStreamEndCapture(aside.get(), &graph) == cudaSuccess) cudaGraphDestroy(graph);
    throw;
  }
  cuda::check_cuda(cudaStreamEndCapture(aside.get(), &graph), "load a product");
  cudaGraphExec_t loaded = nullptr;
  const cudaError_t result = cudaGraphInstantiate(&loaded, graph, 0);
  cudaGraphDestroy(graph);
  cuda::check_cuda(result, "load a product");
  cudaGraphExecDestroy(loaded);
}

/// To set the stream takes the workspace away, so it is set anew.
void CudaMath::gemm(const DeviceGemm& what, const void* a, const void* b, void* c, std::complex<double> alpha,
                    std::complex<double> beta, Stream stream) {
  invariant(multiplies(what.factors, what.result), "cuBLAS was asked for products of {} into {}",
            partita::name(what.factors), partita::name(what.result));
  check_cublas(library_.set_stream(handle_, cuda::native(stream)), "set a stream");
  check_cublas(library_.set_workspace(handle_, workspace_.data(), static_cast<std::size_t>(workspace_bytes)),
               "set the workspace");
  const Factor of_product(alpha, what.result), of_c(beta, what.result);
  const CublasType factors = *type_of(what.factors);
  check_cublas(library_.gemm(handle_, operation_of(what.a.op), operation_of(what.b.op), what.m, what.n,
                             what.k, of_product.bytes, a, factors, what.a.leading, what.a.stride, b, factors,
                             what.b.leading, what.b.stride, of_c.bytes, c, *type_of(what.result),
                             what.leading, what.stride, what.batches,
                             is_double(what.result) ? CublasCompute::f64 : CublasCompute::f32, any_algorithm),
               "multiply");
}

void CudaMath::pass(const ElementPass& what, const ElementNest& nest, Stream stream) {
  static_assert(static_cast<int>(kernels::cuda::Activation::dgelu) == static_cast<int>(Activation::dgelu));
  static_assert(kernels::cuda::ElementPass::parts == ElementNest::parts);
  static_assert(kernels::cuda::ElementPass::most_loops == ElementNest::most_loops);
  kernels::cuda::ElementPass kernel;
  kernel.loops = static_cast<int>(nest.loops.size());
  for (std::size_t l = 0; l < nest.loops.size(); ++l) {
    kernel.counts[l] = nest.loops[l].count;
    std::ranges::copy(nest.loops[l].strides, kernel.strides[l]);
  }
  for (std::size_t x = 0; x < ElementNest::parts; ++x) {
    if (what.data[x] == nullptr) continue;
    kernel.data[x] = static_cast<char*>(what.data[x]) + nest.offset[x] * size_of(what.dtypes[x]);
    kernel.dtypes[x] = what.dtypes[x];
  }
  if (what.beta == std::complex<double>(0)) kernel.data[ElementPass::c] = nullptr;
  kernel.activation = static_cast<kernels::cuda::Activation>(what.activation);
  kernel.scale = what.scale;
  kernel.beta[0] = what.beta.real();
  kernel.beta[1] = what.beta.imag();
  cuda::check_launch(kernels::cuda::launch_pass(kernel, what.computed, cuda::native(stream)),
                     "pass over elements");
}

}  // namespace partita::devices
