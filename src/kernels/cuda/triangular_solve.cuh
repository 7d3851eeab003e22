// L X = B for few columns, by one launch. Each thread block takes the next rows of L, in their order, subtracts
// the products with the rows of X before them as soon as these are there, and multiplies by the inverse of the
// block on the diagonal, which it has computed meanwhile. What follows the last of these rows of X is all that
// the next block waits for: one product, since the inverse has been multiplied by the block next to the
// diagonal before. A block waits only for blocks that have begun before it, so that it does not matter how many
// run at a time. Numbers of X are their own flags: what has not been computed has all bits set.
#pragma once

#include "kernels/cuda/qr_number.cuh"

namespace partita::kernels::cuda {

/// Rows at a time, and threads of a block.
constexpr int solve_rows = 64, solve_threads = 256;

/// Elements (i, j) of op(T) or, where it is an upper triangle, of op(T) with rows and columns in reverse
/// order: row_step i + column_step j behind `triangle`.
template <class T>
struct LowerSolve {
  const T* triangle = nullptr;
  std::int64_t row_step = 1, column_step = 1;
  std::int64_t n = 0;
  bool conjugate = false, unit_diagonal = false;
  T* sides = nullptr;
  std::int64_t side_step = 1, leading = 1;
  int columns = 1;
  unsigned* started = nullptr;  ///< thread blocks: all bits set before the first one
  RealOf<T>* known = nullptr;   ///< X by rows of Sides elements, as far as it is known
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

/// What the threads of a block share.
template <class T, int Sides>
struct SharedSolve {
  /// So that four columns of eight rows are in different banks.
  static constexpr int leading = solve_rows + 4;
  static constexpr int groups = solve_threads / solve_rows;
  using Column = T[solve_rows * Sides];

  /// Element (i, j), i >= j, of the inverse is at i + j * leading; (i, j), i > j, of the block itself at
  /// j + i * leading.
  T block[leading * solve_rows];
  /// Whether there is memory for `next` on every device.
  static constexpr bool joins = sizeof(T) < 16;
  /// The inverse times the block of L before it: (i, j) at j + i * leading.
  T next[joins ? leading * solve_rows : 1];
  T diagonal[solve_rows], inverse[solve_rows];
  Column x[2];  // in turns
  Column sums[groups];
  Column rest, first;
  unsigned number;
};

/// RowsAdjacent: rows of L are adjacent in memory, otherwise columns.
template <class T, bool RowsAdjacent, int Sides>
class SolvedRows {
 public:
  using Shared = SharedSolve<T, Sides>;

  __device__ __forceinline__ SolvedRows(const LowerSolve<T>& what, Shared& shared)
      : what_(what), shared_(shared) {
    if (thread_ == 0) shared_.number = atomicAdd(what_.started, 1U) + 1;
    __syncthreads();
    first_ = std::int64_t{shared_.number} * solve_rows;
  }

  __device__ __forceinline__ void solve() {
    T right[Sides];
    load_sides(right);
    load_block();
    const int count = static_cast<int>(shared_.number);
    Tile tile;
    if (Shared::joins && count > 0) load_tile(tile, count - 1);
    invert_block();
    // Both are the same for all threads of the block.
    const bool is_accurate = has_small_condition();
    const bool joins = Shared::joins && is_accurate && count > 0 && multiply_next(tile);
    subtract_products(joins ? count - 1 : count);
    T y[Sides], z[Sides];
#pragma unroll
    for (int s = 0; s < Sides; ++s) right[s] = right[s] - sum_of_groups(s);
    share(right, shared_.rest);
    multiply_by_inverse(shared_.rest, y);
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
    subtract_block(shared_.first, y, right);
    share(right, shared_.rest);
    multiply_by_inverse(shared_.rest, z);
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
  static constexpr int lanes = 32, warps = solve_threads / lanes;
  static constexpr int groups = Shared::groups;
  static constexpr int of_thread = solve_rows * solve_rows / solve_threads;
  static constexpr int rows_of_warp = solve_rows / warps, columns_of_lane = solve_rows / lanes;
  static constexpr int sums_of_thread = RowsAdjacent ? 2 : rows_of_warp;  // two are added in less time than one
  static constexpr int least_inverse = 16;
  /// Of a block that is not corrected. In LU factors of random matrices it is 100 to 1200, where the backward
  /// error without correction was at most 3.3 times the rounding, with it 1.3.
  static constexpr int most_condition = 1024;

  // A row and one of the groups that share its columns: as tiles are read by rows, and everywhere else.
  __device__ int tile_row() const { return thread_ % solve_rows; }
  __device__ int tile_group() const { return thread_ / solve_rows; }
  __device__ int row() const { return thread_ / groups; }
  __device__ int group() const { return thread_ % groups; }
  __device__ int lane() const { return thread_ % lanes; }
  __device__ int warp() const { return thread_ / lanes; }

  __device__ __forceinline__ T conjugated(T x) const { return what_.conjugate ? conjugate(x) : x; }
  __device__ __forceinline__ const T* at(std::int64_t i, std::int64_t j) const {
    return what_.triangle + i * what_.row_step + j * what_.column_step;
  }
  __device__ T& block_at(int i, int j) const { return shared_.block[j + i * Shared::leading]; }
  __device__ T& inverse_at(int i, int j) const { return shared_.block[i + j * Shared::leading]; }
  __device__ T& next_at(int i, int j) const { return shared_.next[j + i * Shared::leading]; }

  // --- the block on the diagonal

  __device__ __forceinline__ void load_sides(T (&right)[Sides]) const {
    const std::int64_t i = first_ + row();
#pragma unroll
    for (int s = 0; s < Sides; ++s)
      right[s] = i < what_.n && s < what_.columns ? what_.sides[i * what_.side_step + s * what_.leading] : T{};
  }

  /// Rows and columns behind the last one are those of the unit matrix.
  __device__ __forceinline__ void load_block() const {
#pragma unroll
    for (int e = 0; e < of_thread; ++e) {
      const int adjacent = tile_row(), other = tile_group() + e * groups;
      const int i = RowsAdjacent ? adjacent : other, j = RowsAdjacent ? other : adjacent;
      const bool exists = first_ + i < what_.n;
      if (i > j) block_at(i, j) = exists ? conjugated(*at(first_ + i, first_ + j)) : T{};
      if (i != j) continue;
      const T d = exists && !what_.unit_diagonal ? conjugated(*at(first_ + i, first_ + i)) : number<T>(1);
      shared_.diagonal[i] = d;
      shared_.inverse[i] = inverse_of(d);
    }
    __syncthreads();
  }

  __device__ __forceinline__ void invert_block() const {
    if (thread_ < solve_rows) invert_column(thread_);
    __syncthreads();
    double_inverse<least_inverse>();
  }

  /// One column of the inverses of small blocks.
  __device__ __forceinline__ void invert_column(int column) const {
    const int begin = column / least_inverse * least_inverse;
    T x[least_inverse];
#pragma unroll
    for (int i = 0; i < least_inverse; ++i) {
      T sum = number<T>(begin + i == column ? 1 : 0);
#pragma unroll
      for (int l = 0; l < i; ++l) sum = sum - block_at(begin + i, begin + l) * x[l];
      x[i] = begin + i < column ? T{} : sum * shared_.inverse[begin + i];
    }
#pragma unroll
    for (int i = 0; i < least_inverse; ++i) {
      if (begin + i >= column) inverse_at(begin + i, column) = x[i];
    }
  }

  /// From the inverses of blocks of `Half` rows to those of twice as many:
  ///   (A 0; B C)^-1 = (A^-1 0; -C^-1 B A^-1 C^-1)
  template <int Half>
  __device__ __forceinline__ void double_inverse() const {
    if constexpr (Half < solve_rows) {
      constexpr int count = solve_rows * Half / 2 / solve_threads;
      T sums[count];
      const auto for_each = [&](const auto& visit) {
#pragma unroll
        for (int q = 0; q < count; ++q) {
          const int number = thread_ + q * solve_threads;
          const int begin = number / (Half * Half) * 2 * Half;
          visit(sums[q], begin, begin + Half, number % Half, number / Half % Half);
        }
      };
      const auto store = [&] {
        for_each([&](T sum, int begin, int middle, int i, int j) { inverse_at(middle + i, begin + j) = sum; });
        __syncthreads();
      };
      for_each([&](T& sum, int begin, int middle, int i, int j) {
        sum = T{};
        for (int l = j; l < Half; ++l)
          sum = sum + block_at(middle + i, begin + l) * inverse_at(begin + l, begin + j);
      });
      store();
      for_each([&](T& sum, int begin, int middle, int i, int j) {
        sum = T{};
        for (int l = 0; l <= i; ++l)
          sum = sum - inverse_at(middle + i, middle + l) * inverse_at(middle + l, begin + j);
      });
      __syncthreads();
      store();
      double_inverse<2 * Half>();
    }
  }

  /// Whether the largest sum of a row of |D| |D^-1| is small, for the block D.
  __device__ __forceinline__ bool has_small_condition() const {
    auto* const sums = reinterpret_cast<Real*>(shared_.rest);
    Real sum = 0;
    for (int j = group(); j <= row(); j += groups) sum += magnitude(inverse_at(row(), j));
    sum = over_groups(sum);
    if (group() == 0) sums[row()] = sum;
    __syncthreads();
    sum = group() == 0 ? magnitude(shared_.diagonal[row()]) * sum : Real{0};
    for (int j = group(); j < row(); j += groups) sum += magnitude(block_at(row(), j)) * sums[j];
    return __syncthreads_or(!(over_groups(sum) <= Real{most_condition})) == 0;
  }
  __device__ __forceinline__ static Real magnitude(T x) { return abs(real(x)) + abs(imaginary(x)); }

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

  __device__ __forceinline__ void load_tile(Tile& tile, int j) const {
    const std::int64_t column = std::int64_t{j} * solve_rows;
    if constexpr (RowsAdjacent) {
      const bool exists = first_ + tile_row() < what_.n;
      const T* const from = at(first_ + tile_row(), column + tile_group());
#pragma unroll
      for (int e = 0; e < of_thread; ++e) tile[e] = exists ? from[e * groups * what_.column_step] : T{};
    } else {
      const int begin = warp() * rows_of_warp;
      const T* const from = at(first_ + begin, column + lane());
#pragma unroll
      for (int e = 0; e < of_thread; ++e) {
        const int i = e / columns_of_lane, c = e % columns_of_lane;
        tile[e] = first_ + begin + i < what_.n ? from[i * what_.row_step + c * lanes * what_.column_step] : T{};
      }
    }
  }

  /// Rows j * solve_rows, .. of X, once they are known.
  __device__ __forceinline__ const T* take(int j) {
    constexpr int words = solve_rows * Sides * parts;
    const auto* const known = reinterpret_cast<const volatile Word*>(what_.known) + std::int64_t{j} * words;
    T* const x = shared_.x[j % 2];
#pragma unroll
    for (int w = thread_; w < words; w += solve_threads) {
      Word word = known[w];
      while (word == unknown) word = known[w];
      reinterpret_cast<Word*>(x)[w] = word;
    }
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

  // --- the rows themselves: the threads of a row have the same numbers

  template <class N>
  __device__ __forceinline__ N over_groups(N sum) const {
#pragma unroll
    for (int other = 1; other < groups; other *= 2) sum = sum + shuffle_xor(sum, other);
    return sum;
  }
  __device__ __forceinline__ T sum_of_groups(int s) const {
    return RowsAdjacent ? over_groups(shared_.sums[group()][row() * Sides + s])
                        : shared_.sums[0][row() * Sides + s];
  }

  __device__ __forceinline__ void share(const T (&numbers)[Sides], typename Shared::Column& column) const {
    if (group() == 0) {
#pragma unroll
      for (int s = 0; s < Sides; ++s) column[row() * Sides + s] = numbers[s];
    }
    __syncthreads();
  }

  /// result = sum of element(j) x_j for j < end.
  template <class Element>
  __device__ __forceinline__ void multiply(int end, const T* x, T (&result)[Sides],
                                           const Element& element) const {
    T odd[Sides];
#pragma unroll
    for (int s = 0; s < Sides; ++s) result[s] = odd[s] = T{};
#pragma unroll
    for (int e = 0; e < of_thread; ++e) {
      const int j = group() + e * groups;
      if (j >= end) continue;
      const T a = element(j);
#pragma unroll
      for (int s = 0; s < Sides; ++s) {
        T& sum = e % 2 == 0 ? result[s] : odd[s];
        sum = sum + a * x[j * Sides + s];
      }
    }
#pragma unroll
    for (int s = 0; s < Sides; ++s) result[s] = over_groups(result[s] + odd[s]);
  }

  __device__ __forceinline__ void multiply_by_inverse(const T* x, T (&result)[Sides]) const {
    multiply(row() + 1, x, result, [&](int j) { return inverse_at(row(), j); });
  }

  /// right -= D x for the block D; `own`: x of this row.
  __device__ __forceinline__ void subtract_block(const T* x, const T (&own)[Sides],
                                                 T (&right)[Sides]) const {
    T product[Sides];
    multiply(row(), x, product, [&](int j) { return block_at(row(), j); });
#pragma unroll
    for (int s = 0; s < Sides; ++s)
      right[s] = right[s] - (product[s] + shared_.diagonal[row()] * own[s]);
  }

  __device__ __forceinline__ void publish(int s, T x) const {
    if (group() != 0) return;
    const std::int64_t i = first_ + row();
    auto* const known = reinterpret_cast<volatile Word*>(what_.known) + (i * Sides + s) * parts;
    store_known(known, real(x));
    if (parts == 2) store_known(known + parts - 1, imaginary(x));
    if (i < what_.n && s < what_.columns) what_.sides[i * what_.side_step + s * what_.leading] = x;
  }

  __device__ __forceinline__ static void store_known(volatile Word* to, Real x) {
    Word word = unknown;
    if (x == x) memcpy(&word, &x, sizeof(word));
    *to = word == unknown ? word << 1 : word;  // NaN, too
  }

  const LowerSolve<T>& what_;
  Shared& shared_;
  int thread_ = static_cast<int>(threadIdx.x);
  std::int64_t first_ = 0;
  T sums_[Sides][sums_of_thread];
};

}  // namespace partita::kernels::cuda
