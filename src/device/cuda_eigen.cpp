// Eigenvalues by cuSOLVER.
#include <vector>

#include "base/check.hpp"
#include "cuda/stream.hpp"
#include "device/cuda_factorizations.hpp"

namespace partita::devices {

void CudaFactorizations::eigen_hermitian(Dtype dtype, std::int64_t n, void* a, void* values, bool vectors,
                                         Stream stream) {
  device_.use();
  const cuda::CudaBesideCaptures unharmed;
  const CublasType type = *cublas_type(dtype);
  const CublasType real = *cublas_type(is_double(dtype) ? Dtype::f64 : Dtype::f32);
  const CusolverJob job = vectors ? CusolverJob::vectors : CusolverJob::values;
  std::size_t on_device = 0, on_host = 0;
  const int refused = library_.syevd_bytes(applying_.solver(), options_.get(), job, CublasTriangle::lower, n,
                                           type, a, n, real, values, type, &on_device, &on_host);
  check<UnsupportedError>(refused == 0, "cuSOLVER has no eigenvalues of a matrix of {} rows in {}: error {}",
                          n, partita::name(dtype), refused);
  constexpr std::int64_t of_status = 256;
  const DeviceMemory workspace(device_, static_cast<std::int64_t>(on_device) + of_status);
  std::vector<char> host(on_host);
  auto* const status = static_cast<int*>(workspace.data());
  applying_.use(stream);
  check_cusolver(library_.syevd(applying_.solver(), options_.get(), job, CublasTriangle::lower, n, type, a, n,
                                real, values, type, static_cast<char*>(workspace.data()) + of_status,
                                on_device, host.data(), on_host, status),
                 "eigenvalues");
  int found = 0;
  constexpr const char* what = "wait for eigenvalues";
  cuda::check_cuda(cudaMemcpyAsync(&found, status, sizeof(found), cudaMemcpyDefault, cuda::native(stream)),
                   what);
  cuda::check_cuda(cudaStreamSynchronize(cuda::native(stream)), what);
  check<Error>(found == 0, "cuSOLVER's syevd does not converge: {} values are missing", found);
}

}  // namespace partita::devices
