// What a device does in a solve with the triangle of several, done by a thread in host memory.
#pragma once

#include <atomic>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "device/device_factorizations.hpp"
#include "kernels/cuda/solve_order.hpp"
#include "kernels/host/eigen_solvers.hpp"
#include "support/fakes/fake_packets.hpp"

namespace partita::testing {

/// Block after block, all right-hand sides at once.
template <class T>
class FakeSharedSolve {
 public:
  FakeSharedSolve(const devices::DeviceSharedSolve& what, const devices::SharedSolvePlaces& places,
                  FakeWait wait)
      : what_(what),
        places_(places),
        words_(places.words.begin(), places.words.end()),
        wait_(std::move(wait)) {
    const Op op = what.own.op;
    transpose_ = op == Op::transpose || op == Op::conjugate_transpose;
    conjugate_ = op == Op::conjugate || op == Op::conjugate_transpose;
    order_.n = what.own.m;
    order_.rank = what.rank;
    order_.ranks = what.ranks;
    order_.of_panel = static_cast<int>(what.width / kernels::cuda::solve_rows);
    order_.backward = what.own.upper != transpose_;
  }

  static std::int64_t bytes(const devices::DeviceSharedSolve& what) {
    return numbers_of_rank(what) * (what.ranks + 1) * static_cast<std::int64_t>(sizeof(T));
  }

  void run() {
    for (int block = 0; block < order_.blocks(); ++block) {
      if (order_.owns(block)) {
        solve(block);
      } else if (!transpose_ && order_.owned_before(block) > 0) {
        give(order_.owner(block), products(block), block, order_.rank + 1);
      }
    }
  }

 private:
  using Real = kernels::RealType<T>;
  using Word = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int rows = kernels::cuda::solve_rows;
  using Numbers = std::vector<T>;  // of a block, by columns of `rows`

  static std::int64_t numbers_of_rank(const devices::DeviceSharedSolve& what) {
    return (what.own.m + rows - 1) / rows * rows * what.own.n;
  }

  /// Element of op(T), in the order of rows.
  T element(int row_block, int i, int column_block, int j) const {
    const std::int64_t stored = order_.stored(transpose_ ? row_block : column_block) + (transpose_ ? i : j);
    const std::int64_t other = order_.begin(transpose_ ? column_block : row_block) + (transpose_ ? j : i);
    const std::int64_t row = order_.backward ? order_.n - 1 - other : other;
    const std::int64_t column = order_.backward ? order_.all_stored() - 1 - stored : stored;
    const T value = static_cast<const T*>(places_.columns)[row + column * what_.own.leading_triangle];
    if constexpr (std::is_same_v<T, Real>) {
      return value;
    } else {
      return conjugate_ ? std::conj(value) : value;
    }
  }

  std::atomic_ref<Word> word(int at_rank, std::int64_t number, std::size_t part) const {
    return std::atomic_ref<Word>(
        reinterpret_cast<Word*>(static_cast<T*>(words_[static_cast<std::size_t>(at_rank)]) + number)[part]);
  }
  /// From rank `part` - 1, or of X itself for part 0.
  std::int64_t number_of(int block, std::size_t i, int part) const {
    return part * numbers_of_rank(what_) + block * rows * what_.own.n + static_cast<std::int64_t>(i);
  }
  void give(int at_rank, const Numbers& numbers, int block, int part) const {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      Word halves[sizeof(T) / sizeof(Word)];
      std::memcpy(halves, &numbers[i], sizeof(T));
      for (std::size_t half = 0; half < std::size(halves); ++half)
        word(at_rank, number_of(block, i, part), half).store(halves[half]);
    }
  }
  Numbers take(int block, int part) const {
    Numbers numbers(static_cast<std::size_t>(rows * what_.own.n));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      Word halves[sizeof(T) / sizeof(Word)];
      for (std::size_t half = 0; half < std::size(halves); ++half) {
        auto place = word(order_.rank, number_of(block, i, part), half);
        wait_([&] {
          auto& given_up = const_cast<std::uint64_t&>(*places_.given_up);
          halves[half] = place.load();
          return halves[half] != ~Word{0} || std::atomic_ref(given_up).load() != 0;
        });
      }
      std::memcpy(&numbers[i], halves, sizeof(T));
    }
    return numbers;
  }

  /// Of this rank's elements in the rows of a block with X before them.
  Numbers products(int block) const {
    Numbers sums(static_cast<std::size_t>(rows * what_.own.n));
    const int count = transpose_ ? block : order_.owned_before(block);
    for (int number = 0; number < count; ++number) {
      const int columns = transpose_ ? number : order_.owned(number);
      const Numbers x = take(columns, 0);
      for (std::size_t c = 0; c < static_cast<std::size_t>(what_.own.n); ++c) {
        for (int i = 0; i < order_.size(block); ++i) {
          for (int j = 0; j < order_.size(columns); ++j)
            sums[c * rows + static_cast<std::size_t>(i)] +=
                element(block, i, columns, j) * x[c * rows + static_cast<std::size_t>(j)];
        }
      }
    }
    return sums;
  }

  T& side(int block, int i, std::size_t c) const {
    const std::int64_t stored = order_.stored(block) + i;
    const std::int64_t row = order_.backward ? order_.all_stored() - 1 - stored : stored;
    return static_cast<T*>(places_.rows)[row + static_cast<std::int64_t>(c) * what_.own.leading];
  }
  T given(int block, int i, std::size_t c) const {
    if (places_.given == nullptr) return side(block, i, c);
    const std::int64_t begin = order_.begin(block) + i;
    const std::int64_t row = order_.backward ? order_.n - 1 - begin : begin;
    return static_cast<const T*>(places_.given)[row + static_cast<std::int64_t>(c) * what_.own.m];
  }

  void solve(int block) const {
    Numbers x = products(block);
    for (int rank = 0; rank < order_.ranks && !transpose_; ++rank) {
      if (rank == order_.rank || order_.owned_before(block, rank) == 0) continue;
      const Numbers more = take(block, rank + 1);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += more[i];
    }
    for (std::size_t c = 0; c < static_cast<std::size_t>(what_.own.n); ++c) {
      for (int i = 0; i < order_.size(block); ++i) {
        T& one = x[c * rows + static_cast<std::size_t>(i)];
        one = given(block, i, c) - one;
        for (int j = 0; j < i; ++j)
          one -= element(block, i, block, j) * x[c * rows + static_cast<std::size_t>(j)];
        if (!what_.own.unit_diagonal) one /= element(block, i, block, i);
        side(block, i, c) = one;
      }
    }
    give(order_.rank, x, block, 0);
    for (int rank = 0; rank < order_.ranks && transpose_; ++rank) {
      if (rank != order_.rank && order_.owned_before(block + 1, rank) < order_.all_of(rank))
        give(rank, x, block, 0);
    }
  }

  devices::DeviceSharedSolve what_;
  devices::SharedSolvePlaces places_;
  std::vector<void*> words_;
  FakeWait wait_;
  bool transpose_, conjugate_;
  kernels::cuda::SharedOrder order_;
};

}  // namespace partita::testing
