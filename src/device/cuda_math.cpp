#include "device/cuda_math.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "cuda/load_by_graph.hpp"
#include "kernels/cuda/epilogue_launch.hpp"

namespace partita::devices {
namespace {

constexpr std::int64_t workspace_bytes = std::int64_t{32} << 20;  // what NVIDIA names for Hopper
constexpr std::size_t most_prepared = 256;                        // but for those in use
constexpr int any_algorithm = -1;                                 // CUBLAS_GEMM_DEFAULT
constexpr int float8_capability = 89;                             // Ada, Hopper and what came after

int compute_capability(int device) {
  int major = 0, minor = 0;
  cuda::check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                   "query the device");
  cuda::check_cuda(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
                   "query the device");
  return 10 * major + minor;
}

/// Not every cuBLAS knows bf16x9, in whose place f32 is as good.
CublasCompute compute_of_cublas(const DeviceGemm& what) {
  const CublasCompute wanted = cublas_compute(what);
  return wanted == CublasCompute::bf16x9 ? CublasCompute::f32 : wanted;
}

/// In the one way or the other.
struct CudaProduct final : DeviceProduct {
  using DeviceProduct::DeviceProduct;
  std::unique_ptr<CublasLtProduct> light;  // null: cuBLASLt does not make it
};

}  // namespace

std::unique_ptr<CudaMath> CudaMath::make(Accelerator& device) {
  const CublasLibrary& library = CublasLibrary::of_process();
  if (!library.why_none.empty()) return nullptr;
  return std::unique_ptr<CudaMath>(new CudaMath(device, library));
}

CudaMath::CudaMath(Accelerator& device, const CublasLibrary& library)
    : device_(device), library_(library), workspace_(device, workspace_bytes) {
  const cuda::CudaBesideCaptures unharmed;
  CublasHandle made = nullptr;
  check_cublas(library_.create(&made), "start");
  handle_ = {made, [&library](CublasHandle handle) {
               const cuda::CudaBesideCaptures unharmed_too;
               library.destroy(handle);
             }};
  light_ = CublasLtProducts::make(device, workspace_);
  has_float8_ = compute_capability(device.physical().index()) >= float8_capability;
}

CudaMath::~CudaMath() {
  device_.physical().release(std::move(handle_));  // it synchronizes the device
}

void CudaMath::check_cublas(int status, const char* what) const {
  constexpr int alloc_failed = 3;  // CUBLAS_STATUS_ALLOC_FAILED
  check<MemoryError>(status != alloc_failed, "cuBLAS: {}: not enough device memory", what);
  check<Error>(status == 0, "cuBLAS: {}: {}", what, status == 0 ? "" : library_.status_string(status));
}

std::string CudaMath::name() const {
  const int version = library_.version;
  return fmt::format("cuBLAS {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

/// Of bytes what cuBLASLt has: two f8e5m2 it has not.
// Fewer rows take as long as their factors take to be read (docs/performance.md).
bool CudaMath::wants_aligned(Dtype factors, std::int64_t m, std::int64_t n, std::int64_t k) const {
  constexpr std::int64_t least = 256;
  return (factors == Dtype::f16 || factors == Dtype::bf16) && std::min({m, n, k}) >= least;
}

bool CudaMath::multiplies(Dtype a, Dtype b, Dtype result) const {
  if (is_float8(a) && is_float8(b))
    return light_ && has_float8_ && wide(result) == Dtype::f32 && (a == Dtype::f8e4m3 || b == Dtype::f8e4m3);
  if (a != b) return false;
  if (a == Dtype::i8) return light_ && result == Dtype::i32;
  const bool half = a == Dtype::f16 || a == Dtype::bf16;
  return cublas_type(a).has_value() && !is_integer(a) && (result == a || (half && result == Dtype::f32));
}

std::shared_ptr<DeviceProduct> CudaMath::prepare(const DeviceGemm& what, bool may_try) {
  for (const auto& known : prepared_) {
    if (known->what == what) return known;
  }
  if (prepared_.size() >= most_prepared)
    std::erase_if(prepared_, [](const auto& one) { return one.use_count() == 1; });
  device_.use();
  const cuda::CudaBesideCaptures unharmed;
  auto product = std::make_shared<CudaProduct>(what);
  if (light_) product->light = light_->prepare(what, may_try);
  if (light_ && !product->light && what.compute != ComputeType::automatic) {
    DeviceGemm precise = what;
    precise.compute = ComputeType::automatic;
    product->light = light_->prepare(precise, may_try);
  }
  check<UnsupportedError>(product->light || !what.is_narrow(), "cuBLASLt does not multiply {} by {} as {}",
                          partita::name(what.a.dtype), partita::name(what.b.dtype), words_of(what));
  load(*product);
  prepared_.push_back(product);
  return product;
}

std::string CudaMath::news_of_choices() {
  return light_ ? light_->news() : "";
}

void CudaMath::agree_on_choices(std::span<const std::string> news) {
  if (!light_) return;
  light_->agree(news);
  device_.use();
  const cuda::CudaBesideCaptures unharmed;
  for (const auto& one : prepared_) {
    const auto& light = static_cast<const CudaProduct&>(*one).light;
    if (light && light_->follow_choice(*light)) load(*one);
  }
}

/// Memory may turn out to have a layout that only cuBLAS accepts.
void CudaMath::load(DeviceProduct& product) {
  auto& made = static_cast<CudaProduct&>(product);
  const CublasFactor one(1, product.what.result);
  auto* const any = static_cast<char*>(workspace_.data());
  // In the result's place an addend would need the result's layout.
  const GemmPlaces places{any, any, any, any, any + workspace_bytes / 2, any};
  if (!product.what.is_narrow()) {
    cuda::load_by_graph("load a product",
                        [&](Stream aside) { by_cublas(product.what, places, one, one, aside); });
  }
  if (!made.light) return;
  int status = 0;
  cuda::load_by_graph("load a product", [&](Stream aside) {
    status = made.light->multiply(places, one.bytes, one.bytes, workspace_, aside);
  });
  if (product.what.is_narrow()) return check_light(status);
  if (status != 0) made.light.reset();  // it has a way, and refuses to go it (cuBLASLt 13.1)
}

bool CudaMath::makes(const DeviceProduct& product, const GemmPlaces& places) const {
  const auto& light = static_cast<const CudaProduct&>(product).light;
  return product.what.ends_with_sums() || (light && light->takes(places));
}

void CudaMath::gemm(const DeviceProduct& product, const GemmPlaces& places, std::complex<double> alpha,
                    std::complex<double> beta, Stream stream) {
  const DeviceGemm& what = product.what;
  constexpr int launches = 3;  // at most: a library may split k, and then reduces the sums
  device_.launching(stream, launches);
  invariant(multiplies(what.a.dtype, what.b.dtype, what.result),
            "cuBLAS does not support products of {} into {}", partita::name(what.a.dtype),
            partita::name(what.result));
  const CublasFactor of_product(alpha, what.result), of_c(beta, what.result);
  const auto& light = static_cast<const CudaProduct&>(product).light;
  if (light && light->takes(places)) {
    return check_light(light->multiply(places, of_product.bytes, of_c.bytes, workspace_, stream));
  }
  invariant(what.ends_with_sums() && !what.is_narrow(), "cuBLAS does not support this product");
  by_cublas(what, places, of_product, of_c, stream);
}

/// To set the stream takes the workspace away, so it is set anew.
void CudaMath::by_cublas(const DeviceGemm& what, const GemmPlaces& places, const CublasFactor& alpha,
                         const CublasFactor& beta, Stream stream) const {
  check_cublas(library_.set_stream(handle_.get(), cuda::native(stream)), "set a stream");
  check_cublas(
      library_.set_workspace(handle_.get(), workspace_.data(), static_cast<std::size_t>(workspace_bytes)),
      "set the workspace");
  const CublasType factors = *cublas_type(what.a.dtype);
  check_cublas(
      library_.gemm(handle_.get(), cublas_operation(what.a.op), cublas_operation(what.b.op), what.m, what.n,
                    what.k, alpha.bytes, places.a, factors, what.a.leading, what.a.stride, places.b, factors,
                    what.b.leading, what.b.stride, beta.bytes, places.c, *cublas_type(what.result),
                    what.leading, what.stride, what.batches, compute_of_cublas(what), any_algorithm),
      "multiply");
}

void CudaMath::check_light(int status) {
  check<Error>(status == 0, "cuBLASLt: multiply: {}",
               status == 0 ? "" : CublasLtLibrary::of_process().status_string(status));
}

void CudaMath::pass(const ElementPass& what, const ElementNest& nest, Stream stream) {
  static_assert(static_cast<int>(kernels::cuda::Activation::dgelu) == static_cast<int>(Activation::dgelu));
  device_.launching(stream);
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
  kernel.scale_d = static_cast<const float*>(what.scale_d);
  kernel.amax = static_cast<float*>(what.amax);
  kernel.activation = static_cast<kernels::cuda::Activation>(what.activation);
  kernel.scale = what.scale;
  kernel.beta[0] = what.beta.real();
  kernel.beta[1] = what.beta.imag();
  cuda::check_launch(kernels::cuda::launch_pass(kernel, what.computed, cuda::native(stream)),
                     "pass over elements");
}

}  // namespace partita::devices
