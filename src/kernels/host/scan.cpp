#include "kernels/host/scan.hpp"

#include <complex>
#include <type_traits>

#include "base/check.hpp"
#include "base/visit_dtype.hpp"

namespace partita::kernels {
namespace {

template <class T>
T joined(const T& a, const T& b, bool product) {
  if constexpr (std::is_integral_v<T>) {
    using Wrapping = std::make_unsigned_t<T>;
    const std::uint64_t x = static_cast<Wrapping>(a), y = static_cast<Wrapping>(b);
    return static_cast<T>(static_cast<Wrapping>(product ? x * y : x + y));
  } else if constexpr (std::is_floating_point_v<T>) {
    return product ? a * b : a + b;
  } else {  // without C++'s rules for infinities, as on devices
    if (!product) return a + b;
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
}

/// `From`: of the source.
template <class T, bool product, class From = T>
void scan_lines(const ScanPass& pass) {
  const auto* from = static_cast<const From*>(pass.from);
  auto* to = static_cast<T*>(pass.to);
  const std::int64_t inner = pass.inner;
  for (std::int64_t line = 0; line < pass.lines; ++line) {
    if (inner == 1) {
      T last = static_cast<T>(from[0]);
      to[0] = last;
      for (std::int64_t k = 1; k < pass.length; ++k)
        to[k] = last = joined(last, static_cast<T>(from[k]), product);
      from += pass.length, to += pass.length;
      continue;
    }
    for (std::int64_t i = 0; i < inner; ++i) to[i] = static_cast<T>(from[i]);
    for (std::int64_t k = 1; k < pass.length; ++k) {
      const T* const before = to;
      from += inner, to += inner;
      for (std::int64_t i = 0; i < inner; ++i) to[i] = joined(before[i], static_cast<T>(from[i]), product);
    }
    from += inner, to += inner;
  }
}

template <class T>
constexpr bool is_scanned = (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) ||
                            std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class T, class From>
void scan_widened(const ScanPass& pass) {
  pass.product ? scan_lines<T, true, From>(pass) : scan_lines<T, false, From>(pass);
}

}  // namespace

bool is_scanned_here(Dtype dtype) {
  return visit_dtype(dtype, [](auto tag) { return is_scanned<typename decltype(tag)::type>; });
}

void scan(const ScanPass& pass) {
  invariant(is_scanned_here(pass.dtype), "a scan of {}", name(pass.dtype));
  if (pass.length == 0) return;
  if (pass.from_dtype != pass.dtype) {
    invariant(is_widened_in_scans(pass.from_dtype, pass.dtype), "a scan of {} in {}", name(pass.from_dtype),
              name(pass.dtype));
    if (pass.from_dtype == Dtype::f32) return scan_widened<double, float>(pass);
    if (pass.from_dtype == Dtype::u32) return scan_widened<std::uint64_t, std::uint32_t>(pass);
    if (pass.from_dtype == Dtype::i32) return scan_widened<std::int64_t, std::int32_t>(pass);
    return scan_widened<std::int64_t, bool>(pass);
  }
  visit_dtype(pass.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_scanned<T>) pass.product ? scan_lines<T, true>(pass) : scan_lines<T, false>(pass);
  });
}

}  // namespace partita::kernels
