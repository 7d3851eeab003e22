#include "benchmarks/cuda_products.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <complex>
#include <partita/device_report.hpp>
#include <partita/error.hpp>
#include <string>
#include <vector>

#include "benchmarks/peer_symbol.hpp"

namespace partita::benchmarks {
namespace {

// What is needed of <cublasLt.h>.
using Handle = void*;
using Descriptor = void*;
struct Answer {
  std::array<std::uint64_t, 8> algorithm{};
  std::size_t workspace = 0;
  int status = 0;
  float waves = 0;
  std::array<int, 4> reserved{};
};
constexpr int type_f32 = 0, type_f64 = 1, type_f16 = 2, type_i8 = 3, type_c64 = 4, type_c128 = 5,
              type_i32 = 10, type_bf16 = 14, type_f8e4m3 = 28;
constexpr int compute_f32 = 68, compute_f64 = 70, compute_i32 = 72;
constexpr int preferred_workspace = 1;
constexpr int operation_of_first = 3;
constexpr std::int32_t transposed = 1;
constexpr std::uint64_t workspace_bytes = std::uint64_t{32} << 20;

struct Library {
  void* handle = nullptr;
  int (*create)(Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*make_product)(Descriptor*, int, int) = nullptr;
  int (*destroy_product)(Descriptor) = nullptr;
  int (*set_product)(Descriptor, int, const void*, std::size_t) = nullptr;
  int (*make_matrix)(Descriptor*, int, std::uint64_t, std::uint64_t, std::int64_t) = nullptr;
  int (*destroy_matrix)(Descriptor) = nullptr;
  int (*make_preference)(Descriptor*) = nullptr;
  int (*destroy_preference)(Descriptor) = nullptr;
  int (*prefer)(Descriptor, int, const void*, std::size_t) = nullptr;
  int (*ask)(Handle, Descriptor, Descriptor, Descriptor, Descriptor, Descriptor, Descriptor, int, Answer*,
             int*) = nullptr;
  int (*multiply)(Handle, Descriptor, const void*, const void*, Descriptor, const void*, Descriptor,
                  const void*, const void*, Descriptor, void*, Descriptor, const void*, void*, std::size_t,
                  void*) = nullptr;

  Library() {
    const LibraryReport report = report_cublas_lt();
    if (!report.why_none.empty()) return;
    handle = dlopen(report.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
    find_symbol(handle, "cuBLASLt", "cublasLtCreate", create);
    find_symbol(handle, "cuBLASLt", "cublasLtDestroy", destroy);
    find_symbol(handle, "cuBLASLt", "cublasLtMatmulDescCreate", make_product);
    find_symbol(handle, "cuBLASLt", "cublasLtMatmulDescDestroy", destroy_product);
    find_symbol(handle, "cuBLASLt", "cublasLtMatmulDescSetAttribute", set_product);
    find_symbol(handle, "cuBLASLt", "cublasLtMatrixLayoutCreate", make_matrix);
    find_symbol(handle, "cuBLASLt", "cublasLtMatrixLayoutDestroy", destroy_matrix);
    find_symbol(handle, "cuBLASLt", "cublasLtMatmulPreferenceCreate", make_preference);
    find_symbol(handle, "cuBLASLt", "cublasLtMatmulPreferenceDestroy", destroy_preference);
    find_symbol(handle, "cuBLASLt", "cublasLtMatmulPreferenceSetAttribute", prefer);
    find_symbol(handle, "cuBLASLt", "cublasLtMatmulAlgoGetHeuristic", ask);
    find_symbol(handle, "cuBLASLt", "cublasLtMatmul", multiply);
  }
};

const Library& library() {
  static const Library opened;
  return opened;
}

void require(int status, const char* what) {
  if (status != 0) throw Error(std::string("cuBLASLt: ") + what + ": status " + std::to_string(status));
}

void require_cuda(cudaError_t error) {
  if (error != cudaSuccess) throw Error(std::string("cuBLASLt: ") + cudaGetErrorString(error));
}

int type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return type_f16;
    case Dtype::bf16:
      return type_bf16;
    case Dtype::f32:
      return type_f32;
    case Dtype::c64:
      return type_c64;
    case Dtype::c128:
      return type_c128;
    case Dtype::i8:
      return type_i8;
    case Dtype::i32:
      return type_i32;
    case Dtype::f8e4m3:
      return type_f8e4m3;
    default:
      return type_f64;
  }
}

bool is_double(Dtype dtype) {
  return dtype == Dtype::f64 || dtype == Dtype::c128;
}

/// Of the factors alpha and beta.
int scale_type_of(Dtype dtype) {
  return size_of(dtype) < size_of(Dtype::f32) ? type_f32 : type_of(dtype);
}

class OpenedCublasLt final : public CublasLt {
 public:
  OpenedCublasLt() {
    require(library().create(&handle_), "start");
    require_cuda(cudaMalloc(&workspace_, workspace_bytes));
  }
  ~OpenedCublasLt() override {
    forget();
    cudaFree(workspace_);
    library().destroy(handle_);
  }
  OpenedCublasLt(const OpenedCublasLt&) = delete;
  OpenedCublasLt& operator=(const OpenedCublasLt&) = delete;

  void choose(const LocalProduct& product, const void* a, const void* b, void* d) override;
  void run(const void* a, const void* b, void* d, void* stream) override {
    require(put(algorithm_, a, b, d, stream), "multiply");
  }

 private:
  /// In its terms all is by columns: D' = B' A'.
  int put(const std::array<std::uint64_t, 8>& algorithm, const void* a, const void* b, void* d,
          void* stream) const {
    const void* const one = is_integer_  ? static_cast<const void*>(&integer_one_)
                            : is_double_ ? static_cast<const void*>(&double_one_)
                                         : &single_one_;
    const void* const zero = is_double_ ? static_cast<const void*>(&double_zero_) : &single_zero_;
    return library().multiply(handle_, product_, one, b, b_, a, a_, zero, d, d_, d, d_, algorithm.data(),
                              workspace_, workspace_bytes, stream);
  }
  std::vector<Answer> ask() const;
  float milliseconds(const Answer& answer, const void* a, const void* b, void* d) const;
  void forget() {
    if (product_ == nullptr) return;
    library().destroy_product(product_);
    for (Descriptor* const one : {&a_, &b_, &d_}) library().destroy_matrix(*one);
    product_ = nullptr;
  }

  Handle handle_ = nullptr;
  void* workspace_ = nullptr;
  Descriptor product_ = nullptr, a_ = nullptr, b_ = nullptr, d_ = nullptr;
  std::array<std::uint64_t, 8> algorithm_{};
  bool is_double_ = false, is_integer_ = false;
  std::int32_t integer_one_ = 1;
  std::complex<double> double_one_ = 1, double_zero_ = 0;
  std::complex<float> single_one_ = 1, single_zero_ = 0;
};

std::vector<Answer> OpenedCublasLt::ask() const {
  constexpr int most = 8;
  Descriptor preference = nullptr;
  require(library().make_preference(&preference), "prefer");
  require(library().prefer(preference, preferred_workspace, &workspace_bytes, sizeof workspace_bytes),
          "prefer");
  std::vector<Answer> answers(most);
  int count = 0;
  const int status =
      library().ask(handle_, product_, b_, a_, d_, d_, preference, most, answers.data(), &count);
  library().destroy_preference(preference);
  require(status, "ask for ways");
  answers.resize(static_cast<std::size_t>(count));
  return answers;
}

float OpenedCublasLt::milliseconds(const Answer& answer, const void* a, const void* b, void* d) const {
  constexpr int runs = 5;
  cudaEvent_t before = nullptr, after = nullptr;
  require_cuda(cudaEventCreate(&before));
  require_cuda(cudaEventCreate(&after));
  int status = put(answer.algorithm, a, b, d, nullptr);
  require_cuda(cudaEventRecord(before, nullptr));
  for (int i = 0; i < runs && status == 0; ++i) status = put(answer.algorithm, a, b, d, nullptr);
  require_cuda(cudaEventRecord(after, nullptr));
  require_cuda(cudaEventSynchronize(after));
  float time = 0;
  require_cuda(cudaEventElapsedTime(&time, before, after));
  cudaEventDestroy(before);
  cudaEventDestroy(after);
  return status == 0 ? time : -1;
}

void OpenedCublasLt::choose(const LocalProduct& product, const void* a, const void* b, void* d) {
  forget();
  is_double_ = is_double(product.dtype);
  is_integer_ = product.dtype == Dtype::i8;
  const int compute = is_integer_ ? compute_i32 : is_double_ ? compute_f64 : compute_f32;
  require(library().make_product(&product_, compute, scale_type_of(product.result)), "describe a product");
  const auto matrix = [&](Descriptor& made, Dtype dtype, std::int64_t rows, std::int64_t columns) {
    require(library().make_matrix(&made, type_of(dtype), static_cast<std::uint64_t>(columns),
                                  static_cast<std::uint64_t>(rows), columns),
            "describe a matrix");
  };
  const bool narrow = size_of(product.dtype) == 1;
  if (narrow)
    require(library().set_product(product_, operation_of_first, &transposed, sizeof transposed), "transpose");
  matrix(a_, product.dtype, product.m, product.k);
  matrix(b_, product.dtype, narrow ? product.n : product.k, narrow ? product.k : product.n);
  matrix(d_, product.result, product.m, product.n);
  float least = -1;
  for (const Answer& answer : ask()) {
    const float time = answer.status == 0 ? milliseconds(answer, a, b, d) : -1;
    if (time < 0 || (least >= 0 && time >= least)) continue;
    least = time;
    algorithm_ = answer.algorithm;
  }
  if (least < 0) throw Error("cuBLASLt knows no way to make this product");
}

}  // namespace

std::unique_ptr<CublasLt> make_cublas_lt() {
  if (library().handle == nullptr) return nullptr;
  return std::make_unique<OpenedCublasLt>();
}

}  // namespace partita::benchmarks
