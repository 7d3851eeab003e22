#include "kernels/host/convert.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "base/element_at.hpp"
#include "base/number_rules.hpp"
#include "base/visit_dtype.hpp"

namespace partita::kernels {
namespace {

// Through the widest type of a kind, in which every value of it is exact, so that each is rounded once; in
// pieces that stay in the nearest cache. 15 ways in and 15 out of each of four, not 15 times 15.

template <class T>
inline constexpr bool is_complex_type =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class T>
using Wide = std::conditional_t<
    is_complex_type<T>, std::complex<double>,
    std::conditional_t<!std::is_integral_v<T>, double,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>;

template <class T>
Wide<T> widened(T value) {
  if constexpr (is_small_float_type<T>) {
    return static_cast<double>(to_float(value));
  } else {
    return static_cast<Wide<T>>(value);
  }
}

template <class T, class W>
T narrowed(W value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != W(0);
  } else if constexpr (is_complex_type<T> && !is_complex_type<W>) {
    return static_cast<typename T::value_type>(value);
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<W>) {
    return cut_off<T>(value);
  } else if constexpr (std::is_integral_v<T> || is_complex_type<T>) {
    return static_cast<T>(value);
  } else {
    return nearest<T>(value);
  }
}

constexpr std::int64_t piece = 512;
template <class W>
using Piece = std::array<W, piece>;

/// `stride` is in bytes.
template <class W>
void store(const Piece<W>& values, std::int64_t count, Dtype dtype, char* to, std::int64_t stride) {
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!is_complex_type<W> || is_complex_type<T> || std::is_same_v<T, bool>) {
      const auto value = [&](std::int64_t i) { return narrowed<T>(values[static_cast<std::size_t>(i)]); };
      if (stride == sizeof(T)) {
        T* const first = reinterpret_cast<T*>(to);
        for (std::int64_t i = 0; i < count; ++i) first[i] = value(i);
      } else {
        for (std::int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(to + i * stride) = value(i);
      }
    } else {
      check(false, "complex numbers cannot be converted to {}", name(dtype));
    }
  });
}

template <class T>
void convert_row(const CopyLoop& row, Dtype dtype, const char* from, char* to) {
  Piece<Wide<T>> values;
  for (std::int64_t done = 0; done < row.count; done += piece) {
    const std::int64_t now = std::min(piece, row.count - done);
    const char* const source = from + done * row.from_stride;
    const auto value = [&](std::size_t i, std::int64_t stride) {
      const char* const place = source + static_cast<std::int64_t>(i) * stride;
      return widened(element_at(reinterpret_cast<const T*>(place)));
    };
    const auto count = static_cast<std::size_t>(now);
    if (row.from_stride == sizeof(T)) {
      for (std::size_t i = 0; i < count; ++i) values[i] = value(i, sizeof(T));
    } else {
      for (std::size_t i = 0; i < count; ++i) values[i] = value(i, row.from_stride);
    }
    store(values, now, dtype, to + done * row.to_stride, row.to_stride);
  }
}

template <class T>
void convert_loops(std::span<const CopyLoop> loops, Dtype dtype, const char* from, char* to) {
  if (loops.size() == 1) return convert_row<T>(loops.front(), dtype, from, to);
  for (std::int64_t i = 0; i < loops.front().count; ++i) {
    convert_loops<T>(loops.subspan(1), dtype, from, to);
    from += loops.front().from_stride;
    to += loops.front().to_stride;
  }
}

}  // namespace

StridedCopy conversion_nest(const View& from, const View& to) {
  const std::int64_t from_bytes = size_of(from.dtype), to_bytes = size_of(to.dtype);
  StridedCopy nest{volume(to.extents) == 0 ? 0 : to_bytes, 0, 0, {}};
  std::vector<CopyLoop> loops;
  for (int d = 0; d < to.extents.size(); ++d) {
    if (to.extents[d] != 1)
      loops.push_back({to.extents[d], from.strides[d] * from_bytes, to.strides[d] * to_bytes});
  }
  std::ranges::stable_sort(loops, [](const CopyLoop& a, const CopyLoop& b) {
    return std::abs(a.to_stride) > std::abs(b.to_stride);
  });
  for (const CopyLoop& inner : loops) {
    const bool goes_on = !nest.loops.empty() &&
                         nest.loops.back().from_stride == inner.count * inner.from_stride &&
                         nest.loops.back().to_stride == inner.count * inner.to_stride;
    if (goes_on) {
      nest.loops.back() = {nest.loops.back().count * inner.count, inner.from_stride, inner.to_stride};
    } else {
      nest.loops.push_back(inner);
    }
  }
  if (nest.loops.empty()) nest.loops.push_back({1, from_bytes, to_bytes});
  return nest;
}

void convert(const StridedCopy& nest, Dtype from_dtype, Dtype to_dtype, const void* from, void* to) {
  if (nest.item_bytes == 0) return;
  visit_dtype(from_dtype, [&](auto tag) {
    convert_loops<typename decltype(tag)::type>(nest.loops, to_dtype,
                                                static_cast<const char*>(from) + nest.from_offset,
                                                static_cast<char*>(to) + nest.to_offset);
  });
}

}  // namespace partita::kernels
