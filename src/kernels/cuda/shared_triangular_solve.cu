// Triangular solves of several devices, each of which has some of the columns of the triangle.
#include <algorithm>

#include "kernels/cuda/triangular_solve.cuh"

namespace partita::kernels::cuda {
namespace {

/// Groups of columns in turn, as where the triangle is on one device. Blocks take rows until there are none.
template <class T, bool RowsAdjacent, int Sides>
__global__ void __launch_bounds__(solve_threads)
    solve_shared_rows(const __grid_constant__ LowerSolve<T> what, const __grid_constant__ SharedOrder order,
                      const __grid_constant__ SharedWords<RealOf<T>> words, int groups,
                      std::int64_t words_of_group) {
  extern __shared__ __align__(16) char shared_bytes[];
  const int group = static_cast<int>(blockIdx.x) % groups;
  LowerSolve<T> mine = what;
  mine.columns = min(what.columns - group * Sides, Sides);
  mine.sides += group * Sides * what.leading;
  if (mine.given != nullptr) mine.given += group * Sides * what.leading_given;
  mine.started += group * (aligned_bytes / std::int64_t{sizeof(unsigned)});
  mine.first_word = group * words_of_group;
  const int all = RowsAdjacent ? order.blocks() : order.all_of(order.rank);
  for (;;) {
    SolvedRows<T, RowsAdjacent, Sides, SharedOrder> rows(
        mine, *reinterpret_cast<SharedSolve<T, Sides>*>(shared_bytes), order, &words);
    if (rows.turn() >= all) return;
    rows.solve();
    __syncthreads();
  }
}

template <class T, bool RowsAdjacent, int Sides>
int start(const SharedSides& what, cudaStream_t stream) {
  const TriangularSides& own = what.own;
  SharedOrder order;
  order.n = own.n;
  order.rank = what.rank;
  order.ranks = what.ranks;
  order.of_panel = static_cast<int>(what.width / solve_rows);
  order.backward = own.upper != own.transpose;
  const int groups = groups_of(own.dtype, own.columns);
  LowerSolve<T> lower = lower_of<T>(own, order.all_stored());
  lower.columns = own.columns;
  lower.started = static_cast<unsigned*>(what.words[what.rank]);
  if (what.given != nullptr) {
    lower.given = static_cast<const T*>(what.given) + (order.backward ? own.n - 1 : 0);
    lower.leading_given = what.leading_given;
  }
  SharedWords<RealOf<T>> words;
  words.of_rank = blocks_of(own.n) * solve_rows * Sides * std::int64_t{sizeof(T) / sizeof(RealOf<T>)};
  words.given_up = what.given_up;
  for (int rank = 0; rank < what.ranks; ++rank)
    words.known[rank] =
        reinterpret_cast<RealOf<T>*>(static_cast<char*>(what.words[rank]) + groups * aligned_bytes);
  lower.known = words.known[what.rank];
  const std::int64_t blocks = RowsAdjacent ? order.blocks() : order.all_of(order.rank);
  if (blocks == 0) return cudaSuccess;
  const std::int64_t most = std::max<std::int64_t>(what.most_blocks / groups, 1);
  solve_shared_rows<T, RowsAdjacent, Sides>
      <<<static_cast<unsigned>(std::min(blocks, most) * groups), solve_threads, sizeof(SharedSolve<T, Sides>),
         stream>>>(lower, order, words, groups, words.of_rank * (what.ranks + 1));
  return cudaGetLastError();
}

template <class T, int Sides>
int start(const SharedSides& what, cudaStream_t stream) {
  return what.own.transpose ? start<T, false, Sides>(what, stream) : start<T, true, Sides>(what, stream);
}

template <class T, int Sides>
int allow() {
  const int result = load_with_memory(solve_shared_rows<T, true, Sides>, sizeof(SharedSolve<T, Sides>));
  return result != cudaSuccess
             ? result
             : load_with_memory(solve_shared_rows<T, false, Sides>, sizeof(SharedSolve<T, Sides>));
}

template <class T>
int allow_all() {
  const int result = allow<T, 1>();
  return result != cudaSuccess ? result : allow<T, several_sides<T>>();
}

}  // namespace

std::int64_t shared_sides_bytes(Dtype dtype, std::int64_t n, int columns, int ranks) {
  const std::int64_t words = blocks_of(n) * solve_rows * sides_at_once(dtype, columns) * size_of(dtype);
  return groups_of(dtype, columns) * (aligned_bytes + words * (ranks + 1));
}

int launch_shared_sides(const SharedSides& what, void* stream) {
  if (what.own.n == 0 || what.own.columns == 0) return cudaSuccess;
  return for_dtype(what.own.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Number;
    auto* const native = static_cast<cudaStream_t>(stream);
    return what.own.columns == 1 ? start<T, 1>(what, native) : start<T, several_sides<T>>(what, native);
  });
}

int load_shared_triangular_kernels() {
  int result = allow_all<float>();
  if (result == cudaSuccess) result = allow_all<double>();
  if (result == cudaSuccess) result = allow_all<QrComplex<float>>();
  if (result == cudaSuccess) result = allow_all<QrComplex<double>>();
  return result;
}

}  // namespace partita::kernels::cuda
