// The panels of a factorized matrix, and the arrays that hold its factors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <partita/linalg.hpp>
#include <string>

namespace partita::linear {

/// The columns of an m x n matrix in panels of `width` columns (the last one may have fewer), cyclically over
/// the columns of a grid of ranks, which is row-major. A grid of one row: panel k belongs to rank k mod P as
/// a whole. Otherwise its rows, in blocks of `width`, too, are distributed cyclically over the grid's rows.
struct Panels {
  std::int64_t rows = 0, columns = 0;
  std::int64_t width = 1;
  int ranks = 1;
  int grid_rows = 1;

  friend bool operator==(const Panels&, const Panels&) = default;

  bool on_grid() const { return grid_rows > 1; }
  int grid_columns() const { return ranks / grid_rows; }
  int row_of(int rank) const { return rank / grid_columns(); }
  int column_of(int rank) const { return rank % grid_columns(); }
  /// The rank that owns a block of rows and columns.
  int owner(int row_block, int column_block) const {
    return row_block % grid_rows * grid_columns() + column_block % grid_columns();
  }

  std::int64_t least() const { return std::min(rows, columns); }
  /// Panels that are factorized. The columns behind them, if there are fewer rows than columns, are only
  /// updated.
  int count() const { return static_cast<int>((least() + width - 1) / width); }
  int owner(int k) const { return owner(k, k); }         ///< of the block on the diagonal
  std::int64_t first(int k) const { return k * width; }  ///< row and column
  std::int64_t end(int k) const { return std::min(first(k) + width, columns); }

  IndexSet columns_of(int k) const { return IndexSet::range(first(k), end(k)); }
  /// The rows and columns of the triangle on the diagonal; also the indices of the panel's pivots.
  IndexSet diagonal(int k) const { return IndexSet::range(first(k), std::min(end(k), rows)); }
  IndexSet rows_from(int k) const { return IndexSet::range(first(k), rows); }
  IndexSet rows_below(int k) const { return IndexSet::range(std::min(end(k), rows), rows); }
  IndexSet rows_above(int k) const { return IndexSet::range(0, std::min(first(k), rows)); }
  /// Above and on the diagonal.
  IndexSet rows_up_to(int k) const { return IndexSet::range(0, std::min(end(k), rows)); }
  /// The ranks of a column of the grid, from the owner of the block on the diagonal on, that have rows from
  /// there on: the row of one of them, and how many there are.
  int grid_row(int k, int position) const { return (k + position) % grid_rows; }
  int position(int k, int rank) const { return (row_of(rank) - k % grid_rows + grid_rows) % grid_rows; }
  int positions(int k) const {
    return static_cast<int>(std::min<std::int64_t>(grid_rows, (rows - first(k) + width - 1) / width));
  }
  /// The columns in [from, to) that a rank owns.
  IndexSet owned(int rank, std::int64_t from, std::int64_t to) const;
  /// The rows of a row of the grid.
  IndexSet rows_of(int grid_row) const;
  /// Those of them from the diagonal of panel k on, and those below its triangle.
  IndexSet rows_from(int k, int grid_row) const { return blocks(grid_row, grid_rows, k, rows); }
  IndexSet rows_below(int k, int grid_row) const {
    return intersect(rows_from(k, grid_row), IndexSet::range(first(k) + diagonal(k).size(), rows));
  }
  /// Of the blocks that are congruent to `remainder` modulo `period`, those from block `from` on up to index
  /// `extent`.
  IndexSet blocks(int remainder, int period, int from, std::int64_t extent) const;

  Layout layout() const;
};

/// The panels of a matrix: of `options.block` columns on `options.grid`; what these leave open is that of the
/// operand's own blocks if it is overwritten in place, or is chosen. A pure function of what all ranks know.
/// Throws ArgumentError for a negative block and for grids of another number of ranks, UnsupportedError for
/// grids of several rows on which that factorization is not implemented.
Panels panels_of(Factorization kind, const Operand& a, const FactorOptions& options, const Topology& topology,
                 const Machine& machine);

/// Whether the matrix is factorized in its own memory: it may be overwritten, and is stored as factors are.
bool in_place(const Panels& panels, const Operand& a, const FactorOptions& options);

/// Whether factors of LU are those of P A for all row exchanges P, as LAPACK has them. Otherwise the
/// exchanges of a panel have not been applied to the panels on its left.
inline bool exchanges_left(const Panels& panels, MemorySpace space) {
  return panels.on_grid() || space == MemorySpace::device;
}

/// Panels of whole columns half as wide until what passes of them fits into `limit` bytes of scratch of a
/// rank, or they are few columns wide.
Panels narrowed(Panels panels, const Operand& a, const Topology& topology, std::int64_t limit);

/// Panels of whole columns, of the width that is best for them.
Panels whole_columns(const Operand& a, ComputeType compute = ComputeType::automatic);
/// Panels with the fewest predicted seconds; `width` and `grid_rows` are kept where they are not 0.
Panels choose_panels(Factorization kind, const Panels& wanted, const Operand& a, const FactorOptions& options,
                     const Topology& topology, const Machine& machine);
/// Whether the planner may take grids of several rows.
bool may_have_grid(Factorization kind, const Operand& a, const FactorOptions& options);
/// Whether the planner looks for one where none is named.
bool looks_for_grid(Factorization kind, const Operand& a, const FactorOptions& options,
                    const Topology& topology);
/// "20 panels of 32 columns, on a grid of 2x3 ranks".
std::string to_string(const Panels& panels);
/// The options, with these panels named.
FactorOptions options_of(const Panels& panels, FactorOptions options = {});

/// An array on the heap, column-major.
Operand on_heap(Layout layout, Dtype dtype, MemorySpace space);

/// The arrays of a factorization: the factors; the pivots (LU, i32) or the scalar factors of reflectors (QR,
/// in the matrix's dtype) of all panels; one i32 for each panel. The last two are replicated; on a grid the
/// status is a sum of contributions, one of each rank.
Operand factor_operand(const Panels& panels, Dtype dtype, MemorySpace space);
Operand pivots_operand(Factorization kind, const Panels& panels, Dtype dtype, MemorySpace space);
Operand status_operand(const Panels& panels, MemorySpace space);

/// The buffers of a plan that hold factors; -1: not used by the plan.
struct FactorBuffers {
  Panels panels;
  Dtype dtype = Dtype::f64;
  MemorySpace space = MemorySpace::host;
  int factor = -1;
  int pivots = -1;
  int status = -1;

  std::int64_t item() const { return size_of(dtype); }
  Region pivots_of(int k) const { return {{panels.diagonal(k)}}; }
  Region status_of(int k) const { return {{IndexSet::range(k, k + 1)}}; }
};

}  // namespace partita::linear
