#include "device/cuda_factor_handles.hpp"

#include "base/check.hpp"
#include "cuda/stream.hpp"

namespace partita::devices {
namespace {

constexpr std::int64_t blas_bytes = std::int64_t{32} << 20;  // what NVIDIA names for Hopper

void check_blas(int status, const char* what) {
  check<Error>(status == 0, "cuBLAS: {}: {}", what,
               status == 0 ? "" : CublasLibrary::of_process().status_string(status));
}

CublasOperation operation_of(Op op) {
  invariant(op != Op::conjugate, "cuBLAS conjugates only what it transposes");
  return op == Op::none        ? CublasOperation::none
         : op == Op::transpose ? CublasOperation::transpose
                               : CublasOperation::conjugate_transpose;
}

}  // namespace

void check_cusolver(int status, const char* what) {
  check<Error>(status == 0, "cuSOLVER: {}: error {}", what, status);
}

CudaFactorHandles::CudaFactorHandles(Accelerator& device) : device_(device), workspace_(device, blas_bytes) {
  const CusolverLibrary& of_solver = CusolverLibrary::of_process();
  const CublasLibrary& of_blas = CublasLibrary::of_process();
  CusolverHandle made = nullptr;
  check_cusolver(of_solver.create(&made), "start");
  solver_ = {made, [&of_solver](CusolverHandle handle) {
               const cuda::CudaBesideCaptures unharmed;
               of_solver.destroy(handle);
             }};
  if (of_solver.set_mode != nullptr)
    check_cusolver(of_solver.set_mode(made, CusolverMode::deterministic), "set the mode");
  CublasHandle made_blas = nullptr;
  check_blas(of_blas.create(&made_blas), "start");
  blas_ = {made_blas, [&of_blas](CublasHandle handle) {
             const cuda::CudaBesideCaptures unharmed;
             of_blas.destroy(handle);
           }};
}

CudaFactorHandles::~CudaFactorHandles() {
  device_.physical().release(std::move(solver_));  // it synchronizes the device
  device_.physical().release(std::move(blas_));
}

/// To set the stream takes the workspace away, so it is set anew.
void CudaFactorHandles::use(Stream stream) const {
  const CublasLibrary& of_blas = CublasLibrary::of_process();
  check_cusolver(CusolverLibrary::of_process().set_stream(solver_.get(), cuda::native(stream)),
                 "set a stream");
  check_blas(of_blas.set_stream(blas_.get(), cuda::native(stream)), "set a stream");
  check_blas(of_blas.set_workspace(blas_.get(), workspace_.data(), static_cast<std::size_t>(blas_bytes)),
             "set a workspace");
}

void CudaFactorHandles::solve(const DeviceTriangularSolve& what, const void* triangle, void* to) const {
  const CublasFactor one(1, what.dtype);
  check_blas(CublasLibrary::of_process().trsm.at(number_of(what.dtype))(
                 blas_.get(), what.from_right ? CublasSide::right : CublasSide::left,
                 what.upper ? CublasTriangle::upper : CublasTriangle::lower, operation_of(what.op),
                 what.unit_diagonal ? CublasDiagonal::unit : CublasDiagonal::any, what.m, what.n, one.bytes,
                 triangle, what.leading_triangle, to, what.leading),
             "solve a triangular system");
}

void CudaFactorHandles::multiply(const DevicePanelProduct& what, double alpha, const void* a, const void* b,
                                 double beta, void* c) const {
  const CublasFactor by(alpha, what.dtype), of_c(beta, what.dtype);
  const CublasType type = *cublas_type(what.dtype);
  constexpr int default_algorithm = -1;
  check_blas(CublasLibrary::of_process().gemm(
                 blas_.get(), what.adjoint ? CublasOperation::conjugate_transpose : CublasOperation::none,
                 CublasOperation::none, what.m, what.n, what.k, by.bytes, a, type, what.leading_a, 0, b, type,
                 what.leading_b, 0, of_c.bytes, c, type, what.leading_c, 0, 1,
                 is_double(what.dtype) ? CublasCompute::f64 : CublasCompute::f32, default_algorithm),
             "multiply");
}

}  // namespace partita::devices
