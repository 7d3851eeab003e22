// L X = B for few columns, by one launch. Each thread block takes the next rows of L, in their order, subtracts
// the products with the rows of X before them as soon as these are there, and multiplies by the inverse of the
// block on the diagonal, which it has computed meanwhile. What follows the last of these rows of X is all that
// the next block waits for: one product, since the inverse has been multiplied by the block next to the
// diagonal before. A block waits only for blocks that have begun before it, so that it does not matter how many
// run at a time. Numbers of X are their own flags: what has not been computed has all bits set.
//
// Where the triangle is distributed over devices (SharedOrder), these numbers pass between them, too: X, or sums
// of products, whatever crosses the columns that a device has.
#pragma once

#include "kernels/cuda/given_up.cuh"
#include "kernels/cuda/rows.cuh"
#include "kernels/cuda/solve_block.cuh"
#include "kernels/cuda/triangular_solve.hpp"

namespace partita::kernels::cuda {

/// What they write into each other's memory, by rank: X as `known`, and behind it, by the rank that they are from,
/// sums of the products with rows of X before, in the same form.
template <class R>
struct SharedWords {
  R* known[most_sharers] = {};
  std::int64_t of_rank = 0;  ///< from X to the sums of rank 0, and from there on
  const std::uint64_t* given_up = nullptr;
};

/// The bits of a real number.
template <class R>
struct WordOf;
template <>
struct WordOf<float> {
  using Word = unsigned;
};
template <>
struct WordOf<double> {
  using Word = unsigned long long;
};

/// RowsAdjacent: rows of L are adjacent in memory, otherwise columns. Of a triangle of several devices, these have
/// columns of L, of which all give their sums to the owner of a row, or rows, which all need all of X.
template <class T, bool RowsAdjacent, int Sides, class Order = WholeOrder>
class SolvedRows : InvertedBlock<T, RowsAdjacent, Sides> {
  using Block = InvertedBlock<T, RowsAdjacent, Sides>;
  using Block::block_at, Block::inverse_at, Block::conjugated, Block::over_groups, Block::share, Block::multiply;
  using Block::what_, Block::shared_, Block::thread_;
  using Block::tile_row, Block::tile_group, Block::row, Block::group, Block::lane, Block::warp;
  using Block::lanes, Block::warps, Block::groups, Block::of_thread;

 public:
  using Shared = SharedSolve<T, Sides>;
  using Words = SharedWords<RealOf<T>>;

  __device__ __forceinline__ SolvedRows(const LowerSolve<T>& what, Shared& shared, const Order& order,
                                        const Words* words = nullptr)
      : Block(what, shared), order_(order), words_(words) {
    if (thread_ == 0) shared_.number = atomicAdd(what_.started, 1U) + 1;
    __syncthreads();
    turn_ = static_cast<int>(shared_.number);
  }

  /// Of these rows among those of the device.
  __device__ __forceinline__ int turn() const { return turn_; }

  __device__ __forceinline__ void solve() {
    block_ = Order::shared && !RowsAdjacent ? order_.owned(turn_) : turn_;
    size_ = order_.size(block_);
    // Of the blocks before this one those whose products are computed here.
    const int count = sums_pass ? order_.owned_before(block_) : block_;
    const bool owned = !sums_pass || order_.owns(block_);
    // All are the same for all threads of the block.
    bool is_accurate = false, joins = false;
    T right[Sides];
    if (owned) {
      load_sides(right);
      this->load(at(block_), size_);
      const bool follows = Shared::joins && count > 0 && column_block(count - 1) == block_ - 1;
      Tile tile;
      if (follows) load_tile(tile, count - 1);
      this->invert();
      is_accurate = this->has_small_condition();
      joins = follows && is_accurate && multiply_next(tile);
    } else if (count == 0) {
      return;
    }
    subtract_products(joins ? count - 1 : count);
    if constexpr (sums_pass) {
      if (!owned) return give_sums();
    }
    T y[Sides], z[Sides];
#pragma unroll
    for (int s = 0; s < Sides; ++s) right[s] = right[s] - sum_of_groups(s);
    if constexpr (sums_pass) subtract_sums_of_others(right);
    share(right, shared_.rest);
    this->multiply_by_inverse(shared_.rest, y);
    if (joins) {
      multiply(solve_rows, take(count - 1), z, [&](int j) { return next_at(row(), j); });
#pragma unroll
      for (int s = 0; s < Sides; ++s) publish(s, y[s] - z[s]);
      return;
    }
    if (is_accurate) {
#pragma unroll
      for (int s = 0; s < Sides; ++s) publish(s, y[s]);
      return;
    }
    share(y, shared_.first);
    // Corrected once, it is as accurate as substitution, whatever the block's condition.
    this->subtract_block(shared_.first, y, right);
    share(right, shared_.rest);
    this->multiply_by_inverse(shared_.rest, z);
#pragma unroll
    for (int s = 0; s < Sides; ++s) {
      const T corrected = y[s] + z[s];
      publish(s, is_finite(corrected) ? corrected : y[s]);
    }
  }

 private:
  using Real = RealOf<T>;
  using Word = typename WordOf<Real>::Word;
  static constexpr Word unknown = ~Word{0};
  static constexpr int parts = static_cast<int>(sizeof(T) / sizeof(Real));
  static constexpr int rows_of_warp = solve_rows / warps, columns_of_lane = solve_rows / lanes;
  static constexpr int sums_of_thread = RowsAdjacent ? 2 : rows_of_warp;  // two are added in less time than one

  static constexpr bool sums_pass = Order::shared && RowsAdjacent, solution_passes = Order::shared && !RowsAdjacent;

  __device__ std::int64_t first_word() const { return Order::shared ? what_.first_word : 0; }
  /// The block of columns of that number.
  __device__ int column_block(int number) const { return sums_pass ? order_.owned(number) : number; }
  /// The start of a block of this block's rows.
  __device__ __forceinline__ const T* at(int columns) const {
    const std::int64_t i = RowsAdjacent ? order_.begin(block_) : order_.stored(block_);
    const std::int64_t j = RowsAdjacent ? order_.stored(columns) : order_.begin(columns);
    return what_.triangle + i * what_.row_step + j * what_.column_step;
  }
  __device__ T& next_at(int i, int j) const { return shared_.next[j + i * Shared::leading]; }

  __device__ __forceinline__ void load_sides(T (&right)[Sides]) const {
    const bool given = Order::shared && what_.given != nullptr;
    const T* const from = given ? what_.given : what_.sides;
    const std::int64_t i = (given ? order_.begin(block_) : order_.stored(block_)) + row();
    const std::int64_t leading = given ? what_.leading_given : what_.leading;
#pragma unroll
    for (int s = 0; s < Sides; ++s)
      right[s] = row() < size_ && s < what_.columns ? from[i * what_.side_step + s * leading] : T{};
  }

  // --- the blocks before it

  using Tile = T[of_thread];

  /// The inverse times the last block before it. False if numbers are not finite.
  __device__ __forceinline__ bool multiply_next(const Tile& tile) const {
#pragma unroll
    for (int e = 0; e < of_thread; ++e) {
      if constexpr (RowsAdjacent) {
        next_at(tile_row(), tile_group() + e * groups) = conjugated(tile[e]);
      } else {
        next_at(warp() * rows_of_warp + e / columns_of_lane, lane() + e % columns_of_lane * lanes) =
            conjugated(tile[e]);
      }
    }
    __syncthreads();
    T product[of_thread];
#pragma unroll
    for (int e = 0; e < of_thread; ++e) product[e] = T{};
    const int rows = (warp() + 1) * rows_of_warp;  // up to the last one of this warp
    for (int l = 0; l < rows; ++l) {
      const T a = l <= row() ? inverse_at(row(), l) : T{};
#pragma unroll
      for (int e = 0; e < of_thread; ++e) product[e] = product[e] + a * next_at(l, group() + e * groups);
    }
    __syncthreads();
    bool spoilt = false;
#pragma unroll
    for (int e = 0; e < of_thread; ++e) {
      next_at(row(), group() + e * groups) = product[e];
      spoilt = spoilt || !is_finite(product[e]);
    }
    return __syncthreads_or(spoilt) == 0;
  }

  /// With the block of columns of that number. Only the first block of all may have fewer columns than rows are
  /// solved for at a time.
  __device__ __forceinline__ void load_tile(Tile& tile, int number) const {
    const int columns = column_block(number);
    const int width = Order::shared && columns == 0 ? order_.size(0) : solve_rows;
    const T* const from = at(columns);
    if constexpr (RowsAdjacent) {
      const bool exists = tile_row() < size_;
      const T* const first = from + tile_row() * what_.row_step + tile_group() * what_.column_step;
#pragma unroll
      for (int e = 0; e < of_thread; ++e)
        tile[e] = exists && tile_group() + e * groups < width ? first[e * groups * what_.column_step] : T{};
    } else {
      const int begin = warp() * rows_of_warp;
      const T* const first = from + begin * what_.row_step + lane() * what_.column_step;
#pragma unroll
      for (int e = 0; e < of_thread; ++e) {
        const int i = e / columns_of_lane, c = e % columns_of_lane;
        const bool exists = begin + i < size_ && lane() + c * lanes < width;
        tile[e] = exists ? first[i * what_.row_step + c * lanes * what_.column_step] : T{};
      }
    }
  }

  /// A number that another thread block writes, or another device. If the host has given up, any.
  __device__ __forceinline__ Word await(const volatile Word* from) const {
    Word word = *from;
    for (unsigned turn = 1; word == unknown; ++turn) {
      if (Order::shared && turn % turns_between_looks == 0 && is_given_up(words_->given_up)) return 0;
      word = *from;
    }
    return word;
  }

  /// The rows of X that go with the block of columns of that number, once they are known.
  __device__ __forceinline__ const T* take(int number) {
    constexpr int words = solve_rows * Sides * parts;
    const int columns = column_block(number);
    const auto* const known =
        reinterpret_cast<const volatile Word*>(what_.known) + first_word() + std::int64_t{columns} * words;
    T* const x = shared_.x[number % 2];
#pragma unroll
    for (int w = thread_; w < words; w += solve_threads) reinterpret_cast<Word*>(x)[w] = await(known + w);
    __syncthreads();
    return x;
  }

  __device__ __forceinline__ void add_product(const Tile& tile, const T* x) {
    if constexpr (RowsAdjacent) {
#pragma unroll
      for (int e = 0; e < of_thread; ++e) {
        const T a = conjugated(tile[e]);
#pragma unroll
        for (int s = 0; s < Sides; ++s)
          sums_[s][e % 2] = sums_[s][e % 2] + a * x[(tile_group() + e * groups) * Sides + s];
      }
    } else {
#pragma unroll
      for (int c = 0; c < columns_of_lane; ++c) {
#pragma unroll
        for (int s = 0; s < Sides; ++s) {
          const T b = x[(lane() + c * lanes) * Sides + s];
#pragma unroll
          for (int i = 0; i < rows_of_warp; ++i)
            sums_[s][i] = sums_[s][i] + conjugated(tile[i * columns_of_lane + c]) * b;
        }
      }
    }
  }

  /// Of the first `count` blocks. Two tiles are on their way while a block waits. The sums are shared by groups
  /// afterwards.
  __device__ __forceinline__ void subtract_products(int count) {
#pragma unroll
    for (int s = 0; s < Sides; ++s) {
#pragma unroll
      for (int i = 0; i < sums_of_thread; ++i) sums_[s][i] = T{};
    }
    Tile even, odd;
    if (count > 0) load_tile(even, 0);
    if (count > 1) load_tile(odd, 1);
    for (int j = 0; j < count; j += 2) {
      add_product(even, take(j));
      if (j + 2 < count) load_tile(even, j + 2);
      if (j + 1 == count) break;
      add_product(odd, take(j + 1));
      if (j + 3 < count) load_tile(odd, j + 3);
    }
#pragma unroll
    for (int s = 0; s < Sides; ++s) {
      if constexpr (RowsAdjacent) {
        shared_.sums[tile_group()][tile_row() * Sides + s] = sums_[s][0] + sums_[s][1];
      } else {
        const T sum = sum_over_warp<rows_of_warp / 2>(sums_[s], lane());
        if (lane() < rows_of_warp)
          shared_.sums[0][(warp() * rows_of_warp + lane()) * Sides + s] = sum;
      }
    }
    __syncthreads();
  }

  // --- the other devices

  __device__ __forceinline__ std::int64_t word_of(int s) const {
    return first_word() + ((std::int64_t{block_} * solve_rows + row()) * Sides + s) * parts;
  }

  /// To the owner of these rows.
  __device__ __forceinline__ void give_sums() {
    auto* const to = words_->known[order_.owner(block_)] + (order_.rank + 1) * words_->of_rank;
#pragma unroll
    for (int s = 0; s < Sides; ++s) {
      const T sum = sum_of_groups(s);
      if (group() == 0) store(sum, reinterpret_cast<volatile Word*>(to) + word_of(s));
    }
  }

  /// Of those that have any.
  __device__ __forceinline__ void subtract_sums_of_others(T (&right)[Sides]) const {
    for (int rank = 0; rank < order_.ranks; ++rank) {
      if (rank == order_.rank || order_.owned_before(block_, rank) == 0) continue;
      const auto* const from =
          reinterpret_cast<const volatile Word*>(words_->known[order_.rank] + (rank + 1) * words_->of_rank);
#pragma unroll
      for (int s = 0; s < Sides; ++s) {
        T sum{};
        Word words[parts];
        for (int part = 0; part < parts; ++part) words[part] = await(from + word_of(s) + part);
        memcpy(&sum, words, sizeof(sum));
        right[s] = right[s] - sum;
      }
    }
  }

  /// X to those that have rows behind these: each waits for all that it is given.
  __device__ __forceinline__ void give_solution(int s, T x) const {
    for (int rank = 0; rank < order_.ranks; ++rank) {
      if (rank == order_.rank || order_.owned_before(block_ + 1, rank) == order_.all_of(rank)) continue;
      store(x, reinterpret_cast<volatile Word*>(words_->known[rank]) + word_of(s));
    }
  }

  // --- the rows themselves

  __device__ __forceinline__ T sum_of_groups(int s) const {
    return RowsAdjacent ? over_groups(shared_.sums[group()][row() * Sides + s])
                        : shared_.sums[0][row() * Sides + s];
  }

  __device__ __forceinline__ void publish(int s, T x) const {
    if (group() != 0) return;
    store(x, reinterpret_cast<volatile Word*>(what_.known) + word_of(s));
    if constexpr (solution_passes) give_solution(s, x);
    const std::int64_t i = order_.stored(block_) + row();
    if (row() < size_ && s < what_.columns) what_.sides[i * what_.side_step + s * what_.leading] = x;
  }

  __device__ __forceinline__ static void store(T x, volatile Word* to) {
    store_part(to, real(x));
    if (parts == 2) store_part(to + parts - 1, imaginary(x));
  }
  __device__ __forceinline__ static void store_part(volatile Word* to, Real x) {
    Word word = unknown;
    if (x == x) memcpy(&word, &x, sizeof(word));
    *to = word == unknown ? word << 1 : word;  // NaN, too
  }

  const Order& order_;
  const Words* words_;
  int turn_ = 0, block_ = 0, size_ = 0;
  T sums_[Sides][sums_of_thread];
};

// --- on the host

constexpr std::int64_t aligned_bytes = 256;

inline std::int64_t blocks_of(std::int64_t n) {
  return (n + solve_rows - 1) / solve_rows;
}

/// Right-hand sides of one thread block: what the registers of a thread hold.
template <class T>
constexpr int several_sides = sizeof(T) == 16 ? 2 : 4;

inline int sides_at_once(Dtype dtype, int columns) {
  if (columns == 1) return 1;
  return for_dtype(dtype, [](auto tag) { return several_sides<typename decltype(tag)::Number>; });
}

/// Groups of right-hand sides, each solved for by thread blocks of its own.
inline int groups_of(Dtype dtype, int columns) {
  const int sides = sides_at_once(dtype, columns);
  return (columns + sides - 1) / sides;
}

/// `stored`: columns of the triangle, and rows of X, in memory.
template <class T>
LowerSolve<T> lower_of(const TriangularSides& what, std::int64_t stored) {
  LowerSolve<T> lower;
  lower.triangle = static_cast<const T*>(what.triangle);
  lower.row_step = what.transpose ? what.leading_triangle : 1;
  lower.column_step = what.transpose ? 1 : what.leading_triangle;
  lower.n = what.n;
  lower.conjugate = what.conjugate;
  lower.unit_diagonal = what.unit_diagonal;
  lower.sides = static_cast<T*>(what.sides);
  lower.leading = what.leading;
  if (what.upper == what.transpose) return lower;
  lower.triangle += what.n - 1 + (stored - 1) * what.leading_triangle;
  lower.sides += stored - 1;
  lower.row_step = -lower.row_step;
  lower.column_step = -lower.column_step;
  lower.side_step = -1;
  return lower;
}

/// So that the current device starts the kernel with so much shared memory.
template <class Kernel>
int load_with_memory(Kernel* kernel, std::size_t bytes) {
  const int result = load(kernel);
  if (result != cudaSuccess) return result;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

int load_shared_triangular_kernels();

}  // namespace partita::kernels::cuda
