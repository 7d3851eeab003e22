#include "kernels/host/convert.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/check.hpp"
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
  if constexpr (is_half_type<T>) {
    return static_cast<double>(to_float(value));
  } else {
    return static_cast<Wide<T>>(value);
  }
}

/// An f32 that rounds to every half as `value` does: what does not fit is kept in the last bit ("round to
/// odd", Boldo and Melquiond 2008).
float to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1U);
}

/// Likewise a double, of an integer of 64 bits.
template <class Integer>
double to_odd_double(Integer value) {
  constexpr int spare = 11;
  constexpr Integer low = (Integer{1} << spare) - 1;
  if (value >> 53 == 0 || value >> 53 == Integer(-1)) return static_cast<double>(value);
  return static_cast<double>((value >> spare) | Integer((value & low) != 0)) * (1 << spare);
}

template <class Integer>
Integer cut_off(double value) {
  constexpr double beyond = std::is_signed_v<Integer>
                                ? -2.0 * static_cast<double>(std::numeric_limits<Integer>::min() / 2)
                                : 2.0 * static_cast<double>(std::numeric_limits<Integer>::max() / 2 + 1);
  if (std::isnan(value)) return 0;
  if (value >= beyond) return std::numeric_limits<Integer>::max();
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min()))
    return std::numeric_limits<Integer>::min();
  return static_cast<Integer>(value);
}

template <class T, class W>
T narrowed(W value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != W(0);
  } else if constexpr (is_complex_type<T> && !is_complex_type<W>) {
    return static_cast<typename T::value_type>(value);
  } else if constexpr (is_half_type<T> && std::is_integral_v<W>) {
    return from_float<T>(to_odd(to_odd_double(value)));
  } else if constexpr (is_half_type<T>) {
    return from_float<T>(to_odd(value));
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<W>) {
    return cut_off<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

constexpr std::int64_t piece = 512;
template <class W>
using Piece = std::array<W, piece>;

template <class W>
void store(const Piece<W>& values, std::int64_t count, const View& to, char* at, std::int64_t stride) {
  visit_dtype(to.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!is_complex_type<W> || is_complex_type<T> || std::is_same_v<T, bool>) {
      T* const first = reinterpret_cast<T*>(at);
      if (stride == 1) {
        for (std::int64_t i = 0; i < count; ++i) first[i] = narrowed<T>(values[static_cast<std::size_t>(i)]);
      } else {
        for (std::int64_t i = 0; i < count; ++i)
          first[i * stride] = narrowed<T>(values[static_cast<std::size_t>(i)]);
      }
    } else {
      check(false, "complex numbers do not become {}", name(to.dtype));
    }
  });
}

template <class T>
void convert_row(const T* from, std::int64_t from_stride, const View& to, char* at, std::int64_t to_stride,
                 std::int64_t count) {
  Piece<Wide<T>> values;
  for (std::int64_t done = 0; done < count; done += piece) {
    const std::int64_t now = std::min(piece, count - done);
    for (std::int64_t i = 0; i < now; ++i)
      values[static_cast<std::size_t>(i)] = widened(from[(done + i) * from_stride]);
    store(values, now, to, at + done * to_stride * size_of(to.dtype), to_stride);
  }
}

/// The dimensions, the one that lies closest in `to` last.
std::vector<int> nesting(const View& to) {
  std::vector<int> dimensions;
  for (int d = 0; d < to.extents.size(); ++d) {
    if (to.extents[d] != 1) dimensions.push_back(d);
  }
  std::ranges::stable_sort(dimensions,
                           [&](int a, int b) { return std::abs(to.strides[a]) > std::abs(to.strides[b]); });
  return dimensions;
}

template <class T>
void convert_nest(const View& from, const View& to, const std::vector<int>& nest, std::size_t depth,
                  const T* source, char* target) {
  if (nest.empty()) return convert_row(source, 0, to, target, 0, 1);
  const int d = nest[depth];
  if (depth + 1 == nest.size())
    return convert_row(source, from.strides[d], to, target, to.strides[d], to.extents[d]);
  for (std::int64_t i = 0; i < to.extents[d]; ++i) {
    convert_nest(from, to, nest, depth + 1, source + i * from.strides[d],
                 target + i * to.strides[d] * size_of(to.dtype));
  }
}

}  // namespace

void convert(const View& from, const View& to) {
  if (volume(to.extents) == 0) return;
  visit_dtype(from.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    convert_nest(from, to, nesting(to), 0, static_cast<const T*>(from.data), static_cast<char*>(to.data));
  });
}

}  // namespace partita::kernels
