// The panels of a factorized matrix, and the arrays that hold its factors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <partita/linalg.hpp>

namespace partita::linear {

/// The columns of an m x n matrix in panels of `width` columns (the last one may have fewer), cyclically over
/// the ranks: panel k belongs to rank k mod P as a whole.
struct Panels {
  std::int64_t rows = 0, columns = 0;
  std::int64_t width = 1;
  int ranks = 1;

  std::int64_t least() const { return std::min(rows, columns); }
  /// Panels that are factorized. The columns behind them, if there are fewer rows than columns, are only
  /// updated.
  int count() const { return static_cast<int>((least() + width - 1) / width); }
  int owner(int k) const { return k % ranks; }
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
  /// The columns in [from, to) that a rank owns.
  IndexSet owned(int rank, std::int64_t from, std::int64_t to) const;

  Layout layout() const;
};

/// The panels of a matrix: of `options.block` columns, of those of the operand's own blocks if it is
/// overwritten in place, or of the default width. Throws ArgumentError for a negative block.
Panels panels_of(const Operand& a, const FactorOptions& options);

/// Whether the matrix is factorized in its own memory: it may be overwritten, and is stored as factors are.
bool in_place(const Operand& a, const FactorOptions& options);

/// An array on the heap, column-major.
Operand on_heap(Layout layout, Dtype dtype, MemorySpace space);

/// The arrays of a factorization: the factors; the pivots (LU, i32) or the scalar factors of reflectors (QR,
/// in the matrix's dtype) of all panels; one i32 for each panel. The last two are replicated.
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
