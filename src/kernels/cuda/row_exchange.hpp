// Row exchanges of an LU factorization in device memory, started by plain functions.
#pragma once

#include <cstdint>

#include "kernels/cuda/everywhere.hpp"

namespace partita::kernels::cuda {

/// Rows i and pivots[i] of a column-major matrix, for i = 0, .., count - 1, or `backward` from the last on.
/// Pivots outside of the matrix exchange nothing. count <= rows < 2^31.
struct RowExchange {
  /// Exchanges are composed to a permutation of the rows that so many of them touch, at most twice as many.
  static constexpr int most_at_once = 128;
  static constexpr int most_rows = 2 * most_at_once;
  void* data = nullptr;
  int item_bytes = 8;  // 4, 8 or 16
  std::int64_t rows = 0, columns = 0;
  std::int64_t leading = 1;  // elements from one column to the next
  std::int64_t count = 0;
  const std::int32_t* pivots = nullptr;
  bool backward = false;
  std::int64_t panel =
      0;  ///< pivots are counted from the first row of their panel of so many rows; 0: one panel
  void* workspace = nullptr;  ///< row_exchange_bytes
};

/// From row to row; the same one: none.
struct RowMove {
  std::int32_t from = 0, to = 0;
};

/// Exchanges first, .., first + count - 1 at a time; count is most_at_once at most.
struct ExchangeChunk {
  std::int32_t first = 0;
  int count = 0;
};

PARTITA_EVERYWHERE inline int chunks_of(const RowExchange& what) {
  return static_cast<int>((what.count + RowExchange::most_at_once - 1) / RowExchange::most_at_once);
}

/// The chunks come in the order of their exchanges.
PARTITA_EVERYWHERE inline ExchangeChunk chunk_of(const RowExchange& what, int number) {
  const int place = what.backward ? chunks_of(what) - 1 - number : number;
  const std::int64_t first = std::int64_t{place} * RowExchange::most_at_once;
  const std::int64_t left = what.count - first;
  return {static_cast<std::int32_t>(first),
          static_cast<int>(left < RowExchange::most_at_once ? left : RowExchange::most_at_once)};
}

/// The pivot of exchange i of the matrix, or i itself.
PARTITA_EVERYWHERE inline std::int32_t valid_pivot(const RowExchange& what, std::int32_t i) {
  const std::int64_t first = what.panel > 0 ? i / what.panel * what.panel : 0, pivot = what.pivots[i];
  return pivot >= 0 && first + pivot < what.rows ? static_cast<std::int32_t>(first + pivot) : i;
}

/// The rows that a chunk touches: `number` < most_at_once gives those of its exchanges, the others the rows
/// that these meet. -1: none, or one that another number gives. `pivots`: valid ones, of the chunk.
PARTITA_EVERYWHERE inline std::int32_t row_touched(const ExchangeChunk& chunk, const std::int32_t* pivots,
                                                   int number) {
  if (number < RowExchange::most_at_once) return number < chunk.count ? chunk.first + number : -1;
  const int met = number - RowExchange::most_at_once;
  if (met >= chunk.count) return -1;
  const std::int32_t row = pivots[met];
  bool is_new = row < chunk.first || row >= chunk.first + chunk.count;
  for (int i = 0; i < met; ++i) is_new = is_new && pivots[i] != row;
  return is_new ? row : -1;
}

/// Where the row was that the exchanges of the chunk bring to `row`.
PARTITA_EVERYWHERE inline std::int32_t row_before(const ExchangeChunk& chunk, const std::int32_t* pivots,
                                                  bool backward, std::int32_t row) {
  for (int i = 0; i < chunk.count; ++i) {
    const int last = backward ? i : chunk.count - 1 - i;
    const std::int32_t one = chunk.first + last, other = pivots[last];
    row = row == one ? other : row == other ? one : row;
  }
  return row;
}

/// Many exchanges of few columns: the moves of all chunks are found at once, before one after the other is
/// done, by a thread block for each column, which run at a time.
PARTITA_EVERYWHERE inline bool finds_moves_first(const RowExchange& what) {
  return what.columns <= 128 && chunks_of(what) > 2;
}
inline std::int64_t row_exchange_bytes(const RowExchange& what) {
  if (!finds_moves_first(what)) return 0;
  return std::int64_t{chunks_of(what)} * RowExchange::most_rows * std::int64_t{sizeof(RowMove)};
}

/// A cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_row_exchange(const RowExchange& what, void* stream);
/// to[i] = from[i] - 1, or i where that is none of the rows i, .., rows - 1, as a pivot among NaNs may be.
int launch_count_from_zero(const std::int64_t* from, std::int32_t* to, std::int64_t count, std::int64_t rows,
                           void* stream);

/// As load_copy_kernels.
int load_row_exchange_kernels();

}  // namespace partita::kernels::cuda
