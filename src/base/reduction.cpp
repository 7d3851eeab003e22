#include <complex>
#include <cstring>
#include <limits>
#include <partita/reduction.hpp>

#include "base/check.hpp"
#include "base/half.hpp"

namespace partita {
namespace {

constexpr Reduction all_reductions[] = {Reduction::sum, Reduction::min, Reduction::max};

template <class T>
void write(void* element, T value) {
  std::memcpy(element, &value, sizeof value);
}

// The identity of min is the largest value, of max the smallest.
template <class T>
void write_identity_of(Reduction reduction, void* element) {
  using Limits = std::numeric_limits<T>;
  const T largest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const T smallest = Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
  write(element, reduction == Reduction::sum ? T{} : reduction == Reduction::min ? largest : smallest);
}

void write_identity_of_half(Reduction reduction, std::uint16_t infinity, void* element) {
  const auto minus_infinity = static_cast<std::uint16_t>(infinity | 0x8000u);
  const std::uint16_t zero = 0;
  write(element, reduction == Reduction::sum   ? zero
                 : reduction == Reduction::min ? infinity
                                               : minus_infinity);
}

}  // namespace

std::string_view name(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return "sum";
    case Reduction::min:
      return "min";
    case Reduction::max:
      return "max";
  }
  throw ArgumentError(fmt::format("unknown reduction number {}", static_cast<int>(reduction)));
}

Reduction parse_reduction(std::string_view text) {
  for (const Reduction candidate : all_reductions) {
    if (text == name(candidate)) return candidate;
  }
  throw ArgumentError(fmt::format("unknown reduction \"{}\"; known: sum, min, max", text));
}

bool is_defined(Reduction reduction, Dtype dtype) {
  return reduction == Reduction::sum || !is_complex(dtype);
}

void write_identity(Reduction reduction, Dtype dtype, void* element) {
  check(is_defined(reduction, dtype), "{} is not defined for {}", name(reduction), name(dtype));
  switch (dtype) {
    case Dtype::boolean:
      return write(element, static_cast<std::uint8_t>(reduction == Reduction::min));
    case Dtype::i8:
      return write_identity_of<std::int8_t>(reduction, element);
    case Dtype::u8:
      return write_identity_of<std::uint8_t>(reduction, element);
    case Dtype::i16:
      return write_identity_of<std::int16_t>(reduction, element);
    case Dtype::u16:
      return write_identity_of<std::uint16_t>(reduction, element);
    case Dtype::i32:
      return write_identity_of<std::int32_t>(reduction, element);
    case Dtype::u32:
      return write_identity_of<std::uint32_t>(reduction, element);
    case Dtype::i64:
      return write_identity_of<std::int64_t>(reduction, element);
    case Dtype::u64:
      return write_identity_of<std::uint64_t>(reduction, element);
    case Dtype::f16:
      return write_identity_of_half(reduction, 0x7c00, element);
    case Dtype::bf16:
      return write_identity_of_half(reduction, 0x7f80, element);
    case Dtype::f32:
      return write_identity_of<float>(reduction, element);
    case Dtype::f64:
      return write_identity_of<double>(reduction, element);
    case Dtype::c64:
      return write(element, std::complex<float>{});
    case Dtype::c128:
      return write(element, std::complex<double>{});
  }
}

}  // namespace partita
