// The small steps between the products that apply reflectors to the columns behind them.
#include "kernels/cuda/qr_number.cuh"
#include "kernels/cuda/qr_panel.hpp"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {
namespace {

/// V of the first rows, with its ones and zeros.
template <class T>
__device__ T top_of_v(const QrColumns& what, int i, int j) {
  return i > j    ? static_cast<const T*>(what.data)[i + j * what.leading]
         : i == j ? number<T>(1)
                  : number<T>(0);
}

/// Of T^-1. Where tau is 0, so large that the reflector does nothing.
template <class T>
__device__ T diagonal_of(const QrColumns& what, int i) {
  const T tau = static_cast<const T*>(what.factors)[i];
  const bool is_identity = real(tau) == 0 && imaginary(tau) == 0;
  return is_identity ? number<T>(NumberOf<T>::largest_square) : inverse_of(tau);
}

template <class T>
constexpr int application_side = sizeof(T) == 16 ? 16 : 32;

/// A thread for each element of blocks [k, k] and [k, columns].
template <class T>
__global__ void apply_here(const QrApplication what) {
  constexpr int side = application_side<T>;
  __shared__ T v[side][side + 1], y[side][side + 1], triangle[side][side + 1];
  const int i = static_cast<int>(threadIdx.x), j = static_cast<int>(threadIdx.y), k = what.of.columns;
  T* const sums = static_cast<T*>(what.sums);
  T* const c = static_cast<T*>(what.of.data) + i + (k + j) * what.of.leading;
  const bool of_v = i < k && j < k, of_c = i < k && j < what.columns;
  v[i][j] = of_v ? top_of_v<T>(what.of, i, j) : number<T>(0);
  y[i][j] = of_c ? *c : number<T>(0);
  __syncthreads();
  T square = of_v ? sums[i + j * k] : number<T>(0), product = of_c ? sums[i + (k + j) * k] : number<T>(0);
  for (int l = 0; l < k; ++l) {
    square = square + conjugate(v[l][i]) * v[l][j];
    product = product + conjugate(v[l][i]) * y[l][j];
  }
  triangle[i][j] = i == j && i < k ? diagonal_of<T>(what.of, i) : square;
  __syncthreads();
  y[i][j] = product;
  __syncthreads();
  for (int l = 0; l < k; ++l) {
    if (i == l) y[l][j] = y[l][j] * conjugate(inverse_of(triangle[l][l]));
    __syncthreads();
    if (i > l && i < k) y[i][j] = y[i][j] - conjugate(triangle[l][i]) * y[l][j];
    __syncthreads();
  }
  T update = number<T>(0);
  for (int l = 0; l < k; ++l) update = update + v[i][l] * y[l][j];
  if (!of_c) return;
  *c = *c - update;
  sums[i + (k + j) * k] = y[i][j];
}

template <class T>
__global__ void copy_top(const QrApplication what) {
  const int k = what.of.columns;
  const std::int64_t all = std::int64_t{k} * (k + what.columns), step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t at = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < all; at += step) {
    const int i = static_cast<int>(at % k), j = static_cast<int>(at / k);
    static_cast<T*>(what.top)[at] =
        j < k ? top_of_v<T>(what.of, i, j) : static_cast<const T*>(what.of.data)[i + j * what.of.leading];
  }
}

template <class T>
__global__ void set_diagonal(const QrApplication what) {
  const int k = what.of.columns, i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < k) static_cast<T*>(what.sums)[i + std::int64_t{i} * k] = diagonal_of<T>(what.of, i);
}

template <class T>
int load_all() {
  return load(apply_here<T>, copy_top<T>, set_diagonal<T>);
}

}  // namespace

int most_in_qr_application(Dtype dtype) {
  return for_dtype(dtype, [](auto tag) { return application_side<typename decltype(tag)::Number>; });
}

int launch_qr_application(const QrApplication& what, void* stream) {
  return for_dtype(what.of.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Number;
    constexpr unsigned side = application_side<T>;
    apply_here<T><<<1, dim3(side, side), 0, static_cast<cudaStream_t>(stream)>>>(what);
    return int{cudaGetLastError()};
  });
}

int launch_qr_top(const QrApplication& what, void* stream) {
  return for_dtype(what.of.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Number;
    copy_top<T><<<64, threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(what);
    return int{cudaGetLastError()};
  });
}

int launch_qr_diagonal(const QrApplication& what, void* stream) {
  return for_dtype(what.of.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Number;
    const auto blocks = static_cast<unsigned>((what.of.columns + threads_per_block - 1) / threads_per_block);
    set_diagonal<T><<<blocks, threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(what);
    return int{cudaGetLastError()};
  });
}

int load_qr_application_kernels() {
  int result = load_all<float>();
  if (result == cudaSuccess) result = load_all<double>();
  if (result == cudaSuccess) result = load_all<QrComplex<float>>();
  if (result == cudaSuccess) result = load_all<QrComplex<double>>();
  return result;
}

}  // namespace partita::kernels::cuda
