#include "kernels/host/tile.hpp"

#include <complex>
#include <cstring>
#include <type_traits>

#include "base/half.hpp"
#include "kernels/host/half_runs.hpp"

namespace partita {
namespace {

template <class T>
inline constexpr bool is_complex_type = !std::is_floating_point_v<T>;

template <class T>
void pack_plain(const T* from, const TileAxis& columns, T* to) {
  if (columns.adjacent()) {
    std::memcpy(to, from + columns.offset, static_cast<std::size_t>(columns.count) * sizeof(T));
  } else if (columns.table != nullptr) {
    for (std::int64_t j = 0; j < columns.count; ++j) to[j] = from[columns.table[j]];
  } else {
    for (std::int64_t j = 0; j < columns.count; ++j) to[j] = from[columns.offset + j * columns.step];
  }
}

template <class T>
void conjugate_row(T* row, std::int64_t count) {
  if constexpr (is_complex_type<T>) {
    for (std::int64_t j = 0; j < count; ++j) row[j] = std::conj(row[j]);
  }
}

template <class Half>
void pack_half(const std::byte* from, const TileAxis& columns, float* to) {
  if (columns.adjacent()) return widen(from + 2 * columns.offset, to, columns.count, Half{});
  for (std::int64_t j = 0; j < columns.count; ++j) {
    Half value;
    std::memcpy(&value, from + 2 * columns.at(j), sizeof value);
    to[j] = to_float(value);
  }
}

template <class T>
void pack_row(const std::byte* from, Dtype dtype, const TileAxis& columns, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    if (dtype == Dtype::f16) return pack_half<Float16>(from, columns, to);
    if (dtype == Dtype::bf16) return pack_half<BFloat16>(from, columns, to);
  }
  pack_plain(reinterpret_cast<const T*>(from), columns, to);
}

}  // namespace

template <class T>
void pack(const std::byte* from, Dtype dtype, const TileAxis& rows, const TileAxis& columns, bool conjugate,
          const Matrix<T>& to) {
  if (to.column_stride != 1) return pack(from, dtype, columns, rows, conjugate, to.transposed());
  const std::int64_t item = size_of(dtype);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    T* const row = to.data + i * to.row_stride;
    pack_row(from + rows.at(i) * item, dtype, columns, row);
    if (conjugate) conjugate_row(row, columns.count);
  }
}

template <class T>
void unpack(const Matrix<const T>& from, T beta, const TileAxis& rows, const TileAxis& columns, T* to) {
  if (from.column_stride != 1) return unpack(from.transposed(), beta, columns, rows, to);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const T* const row = from.data + i * from.row_stride;
    T* const target = to + rows.at(i);
    if (beta == T(0)) {
      for (std::int64_t j = 0; j < columns.count; ++j) target[columns.at(j)] = row[j];
    } else {
      for (std::int64_t j = 0; j < columns.count; ++j) {
        T& element = target[columns.at(j)];
        element = row[j] + beta * element;
      }
    }
  }
}

template <class T>
using Pointer = T*;

#define PARTITA_TILE(T)                                                                                  \
  template void pack(const std::byte*, Dtype, const TileAxis&, const TileAxis&, bool, const Matrix<T>&); \
  template void unpack(const Matrix<const T>&, T, const TileAxis&, const TileAxis&, Pointer<T>);
PARTITA_TILE(float)
PARTITA_TILE(double)
PARTITA_TILE(std::complex<float>)
PARTITA_TILE(std::complex<double>)
#undef PARTITA_TILE

}  // namespace partita
