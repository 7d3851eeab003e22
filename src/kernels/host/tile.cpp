#include "kernels/host/tile.hpp"

#include <complex>
#include <type_traits>

#include "kernels/host/number_rules.hpp"
#include "kernels/host/number_runs.hpp"

namespace partita::kernels {
namespace {

template <class T>
inline constexpr bool is_complex_type = !std::is_floating_point_v<T>;

template <class T>
void conjugate_row(T* row, std::int64_t count) {
  if constexpr (is_complex_type<T>) {
    for (std::int64_t j = 0; j < count; ++j) row[j] = std::conj(row[j]);
  }
}

template <class T>
void pack_row(const std::byte* from, Dtype dtype, const TileAxis& columns, T* to) {
  if (columns.table != nullptr) return load_table(from, dtype, columns.table, columns.count, to);
  load_run(from, dtype, columns.offset, columns.step, columns.count, to);
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

void unpack_integers(const Matrix<const float>& from, std::int32_t alpha, std::int32_t beta,
                     const TileAxis& rows, const TileAxis& columns, std::int32_t* to) {
  if (from.column_stride != 1) return unpack_integers(from.transposed(), alpha, beta, columns, rows, to);
  for (std::int64_t i = 0; i < from.rows; ++i) {
    const float* const row = from.data + i * from.row_stride;
    std::int32_t* const target = to + rows.at(i);
    const auto add = [&](const auto& place) {
      for (std::int64_t j = 0; j < from.columns; ++j) {
        const std::int32_t product = product_of(alpha, static_cast<std::int32_t>(row[j]));
        std::int32_t& element = target[place(j)];
        element = beta == 0 ? product : sum_of(product, product_of(beta, element));
      }
    };
    if (columns.adjacent()) {
      add([first = columns.offset](std::int64_t j) { return first + j; });
    } else {
      add([&](std::int64_t j) { return columns.at(j); });
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

}  // namespace partita::kernels
