// Tiles of matrices copied into dense buffers and back, for matrices that BLAS cannot read in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/dtype.hpp>

#include "kernels/host/gemm.hpp"

namespace partita::kernels {

/// The offsets of a tile's lines along one dimension, in elements from the tile's matrix: from a table, or
/// evenly spaced.
struct TileAxis {
  std::int64_t count = 0;
  std::int64_t offset = 0;
  std::int64_t step = 0;
  const std::int64_t* table = nullptr;

  std::int64_t at(std::int64_t i) const { return table != nullptr ? table[i] : offset + i * step; }
  bool adjacent() const { return table == nullptr && step == 1; }
};

/// to(i, j) = from[rows.at(i) + columns.at(j)], converted from a small float or i8 where `dtype` says so (T
/// is float then), conjugated if wanted. `to` is any matrix; it is fastest where its adjacent elements are
/// adjacent in `from`. Thread-safe.
template <class T>
void pack(const std::byte* from, Dtype dtype, const TileAxis& rows, const TileAxis& columns, bool conjugate,
          const Matrix<T>& to);

/// to[rows.at(i) + columns.at(j)] = from(i, j) + beta times what was there, which is not read where beta is
/// 0.
template <class T>
void unpack(const Matrix<const T>& from, T beta, const TileAxis& rows, const TileAxis& columns, T* to);

/// to[rows.at(i) + columns.at(j)] = alpha from(i, j) + beta times what was there, modulo 2^32. `from` has
/// integers that a float holds.
void unpack_integers(const Matrix<const float>& from, std::int32_t alpha, std::int32_t beta,
                     const TileAxis& rows, const TileAxis& columns, std::int32_t* to);

}  // namespace partita::kernels
