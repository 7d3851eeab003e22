// QR factorizations of a few columns. Each thread of a cluster of blocks keeps some rows of them in
// registers. A column needs one exchange of sums between the blocks: those of its squares and of its products
// with the columns behind it are known at once, since v = x / (alpha - beta) gives v^H a = a_j + x^H a /
// conj(alpha - beta). If these sums overflow or underflow, three exchanges, in LAPACK's order, with scaled
// squares.
#include <cooperative_groups.h>

#include "kernels/cuda/everywhere.hpp"
#include "kernels/cuda/qr_number.cuh"
#include "kernels/cuda/qr_panel.hpp"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {
namespace {

constexpr int cluster_blocks = 16;
constexpr int threads = 512;
constexpr int warps = threads / 32;
static_assert(warps >= cluster_blocks);  // a warp sends to one block
constexpr int most_rows_of_thread = 8;

/// Columns in registers: 256 bytes of a thread, or 128 where sums need twice as many.
template <class T>
PARTITA_EVERYWHERE constexpr int width_of(int rows_of_thread) {
  const int width = (sizeof(T) == 16 ? 8 : int{256 / sizeof(T)}) / rows_of_thread;
  return width < 16 ? width : 16;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

/// What the blocks of a cluster exchange.
template <class T, int W>
struct Exchange {
  T of_warps[warps][W];
  T of_blocks[2][cluster_blocks][W];
  T pivot_row[2][W];  // of row j, in all blocks
  T sent_row[W];      // in the first one
  T factors[W];       // tau^H v^H a, by column
  Reflector<T> reflector;
};

template <class T, int W, int Rows>
class Columns {
 public:
  __device__ __forceinline__ Columns(const QrColumns& what, Exchange<T, W>& shared)
      : shared_(shared), rank_(static_cast<int>(cluster_.block_rank())) {
    for_each([&](std::int64_t at, T& number,
                 bool exists) { number = exists ? static_cast<const T*>(what.data)[at] : T{}; },
             what);
  }

  __device__ __forceinline__ void store(const QrColumns& what) {
    for_each(
        [&](std::int64_t at, const T& number, bool exists) {
          if (exists) static_cast<T*>(what.data)[at] = number;
        },
        what);
    cluster_.sync();  // no block ends while others write to its memory
  }

  /// The columns behind column j are updated by its reflector. Returns tau.
  template <int J>
  __device__ __forceinline__ T eliminate() {
    send_pivot_row<J>();
    const T sum = exchanged(products<J>(1));
    if (warp_ == 0) decide<J>(sum);
    __syncthreads();
    if (!shared_.reflector.regular) eliminate_scaled<J>();
    update<J>();
    return shared_.reflector.tau;
  }

 private:
  using Real = typename NumberOf<T>::Real;
  struct Sums {
    T p[W];
  };

  template <class Visit>
  __device__ __forceinline__ void for_each(const Visit& visit, const QrColumns& what) {
#pragma unroll
    for (int q = 0; q < Rows; ++q) {
      const std::int64_t row = std::int64_t{q * cluster_blocks + rank_} * threads + thread_;
#pragma unroll
      for (int k = 0; k < W; ++k)
        visit(row + k * what.leading, numbers_[q][k], row < what.rows && k < what.columns);
    }
  }

  template <int J>
  __device__ __forceinline__ bool is_pivot(int q) const {
    return q == 0 && rank_ == 0 && thread_ == J;
  }
  template <int J>
  __device__ __forceinline__ bool is_below(int q) const {
    return q > 0 || rank_ > 0 || thread_ > J;
  }

  template <int J>
  __device__ __forceinline__ void send_pivot_row() {
    if (!is_pivot<J>(0)) return;
#pragma unroll
    for (int k = 0; k < W; ++k) shared_.sent_row[k] = numbers_[0][k];
  }

  /// Of column J, times `scale`, with itself (times `scale` again) and with those behind it; below row J.
  template <int J>
  __device__ __forceinline__ Sums products(Real scale) const {
    Sums sums;
#pragma unroll
    for (int k = 0; k < W; ++k) sums.p[k] = T{};
#pragma unroll
    for (int q = 0; q < Rows; ++q) {
      if (!is_below<J>(q)) continue;
      const T x = conjugate(numbers_[q][J]) * scale;
      sums.p[J] = sums.p[J] + x * (numbers_[q][J] * scale);
#pragma unroll
      for (int k = J + 1; k < W; ++k) sums.p[k] = sums.p[k] + x * numbers_[q][k];
    }
    return sums;
  }

  /// In warp 0: the sum over the cluster of number lane % W. The pivot row is there, too.
  __device__ __forceinline__ T exchanged(Sums sums) {
    const T of_warp = sum_over_warp<W / 2>(sums.p, lane_);
    if (lane_ < W) shared_.of_warps[warp_][lane_] = of_warp;
    __syncthreads();
    if (warp_ < cluster_blocks) {
      if (lane_ < W) {
        T all = shared_.of_warps[0][lane_];
#pragma unroll
        for (int w = 1; w < warps; ++w) all = all + shared_.of_warps[w][lane_];
        *cluster_.map_shared_rank(&shared_.of_blocks[turn_][rank_][lane_], warp_) = all;
      } else if (rank_ == 0 && lane_ < 2 * W) {
        *cluster_.map_shared_rank(&shared_.pivot_row[turn_][lane_ - W], warp_) = shared_.sent_row[lane_ - W];
      }
    }
    cluster_.sync();
    T all = T{};
    if (warp_ == 0) {
      for (int b = 0; b < cluster_blocks; ++b) all = all + shared_.of_blocks[turn_][b][lane_ % W];
    }
    pivots_ = turn_;
    turn_ = 1 - turn_;  // a block may be one exchange ahead
    return all;
  }

  template <int J>
  __device__ __forceinline__ void decide(T sum) {
    const T alpha = shared_.pivot_row[pivots_][J];
    const Real squares = __shfl_sync(0xffffffffU, real(sum), J);
    const bool large = squares > NumberOf<T>::largest_square, small = squares < NumberOf<T>::least_square;
    const bool regular = __all_sync(0xffffffffU, is_finite(sum)) && !large && !small;
    const Reflector<T> made = reflector_of(alpha, squares, Real{1});
    if (lane_ < W) shared_.factors[lane_] = factor_of(made, sum * conjugate(made.inverse));
    if (lane_ == 0) {
      shared_.reflector = made;
      shared_.reflector.regular = regular;
      if (!regular) shared_.reflector.scale = large ? NumberOf<T>::down : small ? NumberOf<T>::up : Real{1};
    }
  }

  __device__ __forceinline__ T factor_of(const Reflector<T>& reflector, T of_rest) const {
    return conjugate(reflector.tau) * (shared_.pivot_row[pivots_][lane_ % W] + of_rest);
  }

  template <int J>
  __device__ __forceinline__ void eliminate_scaled() {
    const Real scale = shared_.reflector.scale;
    const T sum = exchanged(products<J>(scale));
    if (warp_ == 0) {
      const Real squares = __shfl_sync(0xffffffffU, real(sum), J);
      const Reflector<T> made = reflector_of(shared_.pivot_row[pivots_][J], squares, scale);
      if (lane_ == 0) shared_.reflector = made;
    }
    __syncthreads();
    make_vector<J>();
    const T of_rest = exchanged(products<J>(1));
    if (warp_ == 0) {
      if (lane_ < W) shared_.factors[lane_] = factor_of(shared_.reflector, of_rest);
    }
    __syncthreads();
  }

  template <int J>
  __device__ __forceinline__ void make_vector() {
    const Reflector<T> reflector = shared_.reflector;
#pragma unroll
    for (int q = 0; q < Rows; ++q) {
      if (is_below<J>(q) && reflector.exists)
        numbers_[q][J] = numbers_[q][J] * reflector.scale * reflector.inverse;
    }
  }

  template <int J>
  __device__ __forceinline__ void update() {
    if (!shared_.reflector.exists) return;
    if (shared_.reflector.regular) make_vector<J>();
#pragma unroll
    for (int q = 0; q < Rows; ++q) {
      const bool pivot = is_pivot<J>(q);
      if (!pivot && !is_below<J>(q)) continue;
      const T v = pivot ? number<T>(1) : numbers_[q][J];
      if (pivot) numbers_[q][J] = number<T>(shared_.reflector.beta);
#pragma unroll
      for (int k = J + 1; k < W; ++k) numbers_[q][k] = numbers_[q][k] - v * shared_.factors[k];
    }
  }

  cooperative_groups::cluster_group cluster_ = cooperative_groups::this_cluster();
  Exchange<T, W>& shared_;
  int rank_;
  int thread_ = static_cast<int>(threadIdx.x), lane_ = thread_ % 32, warp_ = thread_ / 32;
  int turn_ = 0, pivots_ = 0;
  T numbers_[Rows][W];
};

template <class T, int W, int Rows, int... J>
__device__ __forceinline__ void eliminate_all(Columns<T, W, Rows>& columns, const QrColumns& what,
                                              std::integer_sequence<int, J...> /*columns*/) {
  const auto keep = [&](int j, T tau) {
    if (blockIdx.x == 0 && threadIdx.x == 0) static_cast<T*>(what.factors)[j] = tau;
  };
  ((J < what.columns ? keep(J, columns.template eliminate<J>()) : void()), ...);
}

#endif

template <class T, int Rows>
__global__ void __launch_bounds__(threads) factor_columns(const QrColumns what) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  constexpr int width = width_of<T>(Rows);
  __shared__ Exchange<T, width> shared;
  Columns<T, width, Rows> columns(what, shared);
  eliminate_all(columns, what, std::make_integer_sequence<int, width>());
  columns.store(what);
#endif
}

int rows_of_thread(std::int64_t rows) {
  int some = 1;
  while (std::int64_t{some} * threads * cluster_blocks < rows) some *= 2;
  return some;
}

/// Refers to `cluster`.
cudaLaunchConfig_t in_one_cluster(cudaLaunchAttribute& cluster, void* stream) {
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = cluster_blocks;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(cluster_blocks);
  config.blockDim = dim3(threads);
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &cluster;
  config.numAttrs = 1;
  return config;
}

template <class T, int Rows>
int launch_columns(const QrColumns& what, void* stream) {
  cudaLaunchAttribute cluster{};
  const cudaLaunchConfig_t config = in_one_cluster(cluster, stream);
  return cudaLaunchKernelEx(&config, factor_columns<T, Rows>, what);
}

template <class T>
int allow_clusters() {
  const auto allow = [](auto* kernel) {
    const int result = load(kernel);
    return result != cudaSuccess
               ? result
               : int{cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)};
  };
  int result = allow(factor_columns<T, 1>);
  if (result == cudaSuccess) result = allow(factor_columns<T, 2>);
  if (result == cudaSuccess) result = allow(factor_columns<T, 4>);
  if (result == cudaSuccess) result = allow(factor_columns<T, 8>);
  return result;
}

/// Of the current device: its major number; 0: none.
int capability() {
  int device = 0, major = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 0;
  return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess ? major : 0;
}

}  // namespace

int most_qr_columns(Dtype dtype, std::int64_t rows) {
  const int some = rows_of_thread(rows);
  if (some > most_rows_of_thread) return 0;
  return for_dtype(dtype, [&](auto tag) { return width_of<typename decltype(tag)::Number>(some); });
}

bool has_qr_columns() {
  if (capability() < 9) return false;
  int clusters = 0;
  cudaLaunchAttribute cluster{};
  const cudaLaunchConfig_t config = in_one_cluster(cluster, nullptr);
  const cudaError_t result = cudaOccupancyMaxActiveClusters(&clusters, factor_columns<double, 2>, &config);
  if (result != cudaSuccess) (void)cudaGetLastError();
  return result == cudaSuccess && clusters > 0;
}

int launch_qr_columns(const QrColumns& what, void* stream) {
  return for_dtype(what.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Number;
    switch (rows_of_thread(what.rows)) {
      case 1:
        return launch_columns<T, 1>(what, stream);
      case 2:
        return launch_columns<T, 2>(what, stream);
      case 4:
        return launch_columns<T, 4>(what, stream);
      default:
        return launch_columns<T, 8>(what, stream);
    }
  });
}

int load_qr_kernels() {
  int result = load_qr_application_kernels();
  if (result != cudaSuccess || capability() < 9) return result;
  result = allow_clusters<float>();
  if (result == cudaSuccess) result = allow_clusters<double>();
  if (result == cudaSuccess) result = allow_clusters<QrComplex<float>>();
  if (result == cudaSuccess) result = allow_clusters<QrComplex<double>>();
  return result;
}

}  // namespace partita::kernels::cuda
