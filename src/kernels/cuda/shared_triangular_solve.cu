// Triangular solves of several devices, each of which has some of the columns of the triangle.
#include <algorithm>

#include "kernels/cuda/triangular_solve.cuh"

namespace partita::kernels::cuda {
namespace {

/// Columns in turn, as where the triangle is on one device; each is a group of its own. Blocks take rows
/// until there are none.
template <class T, bool RowsAdjacent>
__global__ void __launch_bounds__(solve_threads)
    solve_shared_rows(const __grid_constant__ LowerSolve<T> what, const __grid_constant__ SharedOrder order,
                      const __grid_constant__ SharedWords<RealOf<T>> words, std::int64_t words_of_column) {
  extern __shared__ __align__(16) char shared_bytes[];
  const int column = static_cast<int>(blockIdx.x) % what.columns;
  LowerSolve<T> mine = what;
  mine.columns = 1;
  mine.sides += column * what.leading;
  if (mine.given != nullptr) mine.given += column * what.leading_given;
  mine.started += column * (aligned_bytes / std::int64_t{sizeof(unsigned)});
  mine.first_word = column * words_of_column;
  const int all = RowsAdjacent ? order.blocks() : order.all_of(order.rank);
  for (;;) {
    SolvedRows<T, RowsAdjacent, 1, SharedOrder> rows(
        mine, *reinterpret_cast<SharedSolve<T, 1>*>(shared_bytes), order, &words);
    if (rows.turn() >= all) return;
    rows.solve();
    __syncthreads();
  }
}

template <class T, bool RowsAdjacent>
int start(const SharedSides& what, cudaStream_t stream) {
  const TriangularSides& own = what.own;
  SharedOrder order;
  order.n = own.n;
  order.rank = what.rank;
  order.ranks = what.ranks;
  order.of_panel = static_cast<int>(what.width / solve_rows);
  order.backward = own.upper != own.transpose;
  LowerSolve<T> lower = lower_of<T>(own, order.all_stored());
  lower.columns = own.columns;
  lower.started = static_cast<unsigned*>(what.words[what.rank]);
  if (what.given != nullptr) {
    lower.given = static_cast<const T*>(what.given) + (order.backward ? own.n - 1 : 0);
    lower.leading_given = what.leading_given;
  }
  SharedWords<RealOf<T>> words;
  words.of_rank = blocks_of(own.n) * solve_rows * std::int64_t{sizeof(T) / sizeof(RealOf<T>)};
  words.given_up = what.given_up;
  for (int rank = 0; rank < what.ranks; ++rank)
    words.known[rank] =
        reinterpret_cast<RealOf<T>*>(static_cast<char*>(what.words[rank]) + own.columns * aligned_bytes);
  lower.known = words.known[what.rank];
  const std::int64_t blocks = RowsAdjacent ? order.blocks() : order.all_of(order.rank);
  if (blocks == 0) return cudaSuccess;
  const std::int64_t most = std::max<std::int64_t>(what.most_blocks / own.columns, 1);
  solve_shared_rows<T, RowsAdjacent>
      <<<static_cast<unsigned>(std::min(blocks, most) * own.columns), solve_threads,
         sizeof(SharedSolve<T, 1>), stream>>>(lower, order, words, words.of_rank * (what.ranks + 1));
  return cudaGetLastError();
}

template <class T>
int allow() {
  const int result = load_with_memory(solve_shared_rows<T, true>, sizeof(SharedSolve<T, 1>));
  return result != cudaSuccess ? result
                               : load_with_memory(solve_shared_rows<T, false>, sizeof(SharedSolve<T, 1>));
}

}  // namespace

std::int64_t shared_sides_bytes(Dtype dtype, std::int64_t n, int columns, int ranks) {
  const std::int64_t words = blocks_of(n) * solve_rows * size_of(dtype);
  return columns * (aligned_bytes + words * (ranks + 1));
}

int launch_shared_sides(const SharedSides& what, void* stream) {
  if (what.own.n == 0 || what.own.columns == 0) return cudaSuccess;
  return for_dtype(what.own.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Number;
    auto* const native = static_cast<cudaStream_t>(stream);
    return what.own.transpose ? start<T, false>(what, native) : start<T, true>(what, native);
  });
}

int load_shared_triangular_kernels() {
  int result = allow<float>();
  if (result == cudaSuccess) result = allow<double>();
  if (result == cudaSuccess) result = allow<QrComplex<float>>();
  if (result == cudaSuccess) result = allow<QrComplex<double>>();
  return result;
}

}  // namespace partita::kernels::cuda
