// How the sets of a multiply fall into products of BLAS, wherever they are computed.
#pragma once

#include <array>
#include <vector>

#include "execute/axis_runs.hpp"
#include "execute/works/product_axis.hpp"
#include "kernels/host/gemm.hpp"

namespace partita::execution {

/// One operand of a multiply: its chunks of the dimensions, and whether BLAS can read all of them in place.
struct ProductRole {
  const ProductAxis* rows = nullptr;
  std::size_t rows_index = 0;  ///< this operand's in rows->chunks()[i].in
  const ProductAxis* columns = nullptr;
  std::size_t columns_index = 0;
  bool packed = false;           ///< it cannot
  std::int64_t tile_offset = 0;  ///< for who packs it in tiles: where, in elements

  const kernels::TileAxis& row(std::size_t i) const { return rows->chunks()[i].in[rows_index]; }
  const kernels::TileAxis& column(std::size_t j) const { return columns->chunks()[j].in[columns_index]; }
  bool lies_by_columns(std::size_t i, std::size_t j) const;
};

/// What BLAS can do, and what is worth its while.
struct ProductRules {
  std::int64_t short_run = 64;  ///< over fewer indices it does not get to its speed: a copy costs less
  std::int64_t short_run_of_others = 64;  ///< of a dimension of factors of another dtype than the result's
  bool reads_others = false;              ///< reads such factors in place
  bool packs_result = false;              ///< whatever its layout is
};

/// The parts of a multiply bound to memory, and its dimensions in chunks with even spacing in both operands
/// that have them. Not movable: roles refer to the dimensions.
struct ProductShape {
  using Batch = std::array<std::int64_t, 3>;  ///< offsets in elements: of a, b and to

  ProductShape(const Multiply& work, const WorkBinding& binding, const ProductRules& rules);
  ProductShape(const ProductShape&) = delete;
  ProductShape& operator=(const ProductShape&) = delete;

  bool empty() const { return m_size == 0 || n_size == 0 || batches.empty(); }

  BoundPart a, b, to;
  std::int64_t m_size, n_size, k_size;
  ProductAxis m, n, k;
  std::vector<Batch> batches;  ///< one for each matrix of the result
  ProductRole role_a, role_b, role_to;
  /// Whether the result is column-major, or is to be packed so.
  bool to_by_columns = false;

 private:
  void list_batches();
  void choose_roles(const Multiply& work, const ProductRules& rules);
};

}  // namespace partita::execution
