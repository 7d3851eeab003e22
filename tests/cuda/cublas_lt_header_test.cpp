// What src/device/cublas_lt_library.hpp says of <cublasLt.h>, where that is installed.
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

#include <type_traits>

#include "device/cublas_library.hpp"
#include "device/cublas_lt_library.hpp"

namespace partita::devices {
namespace {

constexpr bool all(std::initializer_list<bool> conditions) {
  for (const bool one : conditions) {
    if (!one) return false;
  }
  return true;
}

static_assert(sizeof(CublasLtAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(CublasLtAnswer) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(CublasLtAnswer, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(CublasLtAnswer, status) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(std::is_same_v<CublasLtHandle, cublasLtHandle_t>);
static_assert(all({static_cast<int>(CublasLtOfProduct::operation_a) == CUBLASLT_MATMUL_DESC_TRANSA,
                   static_cast<int>(CublasLtOfProduct::operation_b) == CUBLASLT_MATMUL_DESC_TRANSB}));
static_assert(
    all({static_cast<int>(CublasLtOfProduct::epilogue) == CUBLASLT_MATMUL_DESC_EPILOGUE,
         static_cast<int>(CublasLtOfProduct::bias) == CUBLASLT_MATMUL_DESC_BIAS_POINTER,
         static_cast<int>(CublasLtOfProduct::bias_type) == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
         static_cast<int>(CublasLtOfProduct::auxiliary) == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
         static_cast<int>(CublasLtOfProduct::auxiliary_leading) == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
         static_cast<int>(CublasLtOfProduct::auxiliary_stride) ==
             CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE}));
constexpr int bits(std::initializer_list<CublasLtEpilogue> of) {
  int all = 0;
  for (const CublasLtEpilogue one : of) all |= static_cast<int>(one);
  return all;
}
using Lt = CublasLtEpilogue;
static_assert(all({bits({Lt::none}) == CUBLASLT_EPILOGUE_DEFAULT, bits({Lt::relu}) == CUBLASLT_EPILOGUE_RELU,
                   bits({Lt::bias}) == CUBLASLT_EPILOGUE_BIAS,
                   bits({Lt::gelu, Lt::auxiliary, Lt::bias}) == CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
                   bits({Lt::dgelu, Lt::auxiliary}) == CUBLASLT_EPILOGUE_DGELU}));
static_assert(all({static_cast<int>(CublasLtOfMatrix::batches) == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                   static_cast<int>(CublasLtOfMatrix::stride) ==
                       CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET}));
constexpr int least_alignment = static_cast<int>(CublasLtPreference::least_alignment_of_a);
static_assert(all({static_cast<int>(CublasLtPreference::workspace_bytes) ==
                       CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                   least_alignment == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                   least_alignment + 1 == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                   least_alignment + 2 == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                   least_alignment + 3 == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}));
static_assert(all({static_cast<int>(CublasCompute::f32) == CUBLAS_COMPUTE_32F,
                   static_cast<int>(CublasCompute::f64) == CUBLAS_COMPUTE_64F,
                   static_cast<int>(CublasCompute::tf32) == CUBLAS_COMPUTE_32F_FAST_TF32}));
#if CUBLAS_VERSION >= 120900
static_assert(static_cast<int>(CublasCompute::bf16x9) == CUBLAS_COMPUTE_32F_EMULATED_16BFX9);
#endif
static_assert(
    all({static_cast<int>(CublasType::f32) == CUDA_R_32F, static_cast<int>(CublasType::f64) == CUDA_R_64F,
         static_cast<int>(CublasType::f16) == CUDA_R_16F, static_cast<int>(CublasType::bf16) == CUDA_R_16BF,
         static_cast<int>(CublasType::c64) == CUDA_C_32F, static_cast<int>(CublasType::c128) == CUDA_C_64F}));
static_assert(all({static_cast<int>(CublasOperation::transpose) == CUBLAS_OP_T,
                   static_cast<int>(CublasOperation::conjugate_transpose) == CUBLAS_OP_C}));

}  // namespace
}  // namespace partita::devices
#endif
