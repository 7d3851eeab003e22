// What cuSOLVER's LU factorization loses: it passes over NaNs in its search for pivots, and its factors may
// be finite then.
#include "kernels/cuda/not_finite.hpp"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {
namespace {

constexpr std::int64_t rows_at_once = 16 * threads_per_block;

std::int64_t pieces_of_column(const RealColumns& what) {
  return (what.rows + rows_at_once - 1) / rows_at_once;
}

/// Calls visit(number, column) for all numbers from column `first` on.
template <class Real, class Visit>
__device__ void for_numbers(const RealColumns& what, std::int64_t first, std::int64_t pieces,
                            const Visit& visit) {
  for (std::int64_t task = first * pieces + blockIdx.x; task < what.columns * pieces; task += gridDim.x) {
    const std::int64_t column = task / pieces, begin = (task - column * pieces) * rows_at_once;
    const std::int64_t end = begin + rows_at_once < what.rows ? begin + rows_at_once : what.rows;
    Real* const numbers = static_cast<Real*>(what.data) + column * what.leading;
    for (std::int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) visit(numbers[i], column);
  }
}

template <class Real>
__global__ void find_not_finite(const RealColumns what, std::int64_t pieces, unsigned long long* first) {
  for_numbers<Real>(what, 0, pieces, [&](const Real& number, std::int64_t column) {
    if (!isfinite(number)) atomicMin(first, static_cast<unsigned long long>(column));
  });
}

template <class Real>
__global__ void spoil_columns(const RealColumns what, std::int64_t pieces, const unsigned long long* first,
                              std::int32_t* status) {
  const auto columns = static_cast<unsigned long long>(what.columns);
  if (*first >= columns) return;
  for_numbers<Real>(what, static_cast<std::int64_t>(*first), pieces,
                    [](Real& number, std::int64_t /*column*/) { number = static_cast<Real>(nanf("")); });
  if (blockIdx.x == 0 && threadIdx.x == 0 && *status > static_cast<std::int64_t>(*first)) *status = 0;
}

unsigned blocks_for(const RealColumns& what) {
  return static_cast<unsigned>(std::min<std::int64_t>(what.columns * pieces_of_column(what), most_blocks));
}

}  // namespace

int launch_find_not_finite(const RealColumns& what, std::uint64_t* first, void* stream) {
  auto* const native = static_cast<cudaStream_t>(stream);
  const cudaError_t result = cudaMemsetAsync(first, 0xff, sizeof(*first), native);
  if (result != cudaSuccess) return result;
  const auto kernel = what.single ? find_not_finite<float> : find_not_finite<double>;
  static_assert(sizeof(*first) == sizeof(unsigned long long));
  kernel<<<blocks_for(what), threads_per_block, 0, native>>>(what, pieces_of_column(what),
                                                             reinterpret_cast<unsigned long long*>(first));
  return cudaGetLastError();
}

int launch_spoil_columns(const RealColumns& what, const std::uint64_t* first, std::int32_t* status,
                         void* stream) {
  const auto kernel = what.single ? spoil_columns<float> : spoil_columns<double>;
  kernel<<<blocks_for(what), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(
      what, pieces_of_column(what), reinterpret_cast<const unsigned long long*>(first), status);
  return cudaGetLastError();
}

int load_not_finite_kernels() {
  return load(find_not_finite<float>, find_not_finite<double>, spoil_columns<float>, spoil_columns<double>);
}

}  // namespace partita::kernels::cuda
