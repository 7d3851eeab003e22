#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>
#include <partita/reduction.hpp>
#include <string_view>
#include <type_traits>

#include "base/check.hpp"
#include "base/visit_dtype.hpp"

namespace partita {
namespace {

constexpr std::array<std::string_view, reduction_count> names{
    "sum",        "min",         "max",     "product", "logical_and",
    "logical_or", "logical_xor", "bit_and", "bit_or",  "bit_xor"};

template <class T>
void write(void* element, T value) {
  std::memcpy(element, &value, sizeof value);
}

// x op identity = x: of min the largest value, of max the smallest, of bit_and all ones.
template <class T>
T identity_of(Reduction reduction) {
  using Limits = std::numeric_limits<T>;
  switch (reduction) {
    case Reduction::min:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case Reduction::max:
      return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
    case Reduction::product:
    case Reduction::logical_and:
      return T{1};
    case Reduction::bit_and:
      if constexpr (std::is_integral_v<T>) return static_cast<T>(~T{});
      break;
    case Reduction::sum:
    case Reduction::logical_or:
    case Reduction::logical_xor:
    case Reduction::bit_or:
    case Reduction::bit_xor:
      break;
  }
  return T{};
}

// Of a boolean: 1 where the reduction is an "and", 0 where it is an "or".
std::uint8_t identity_of_boolean(Reduction reduction) {
  const bool is_and = reduction == Reduction::min || reduction == Reduction::product ||
                      reduction == Reduction::logical_and || reduction == Reduction::bit_and;
  return is_and ? 1 : 0;
}

}  // namespace

std::string_view name(Reduction reduction) {
  const auto index = static_cast<std::size_t>(reduction);
  check(index < names.size(), "unknown reduction number {}", index);
  return names[index];
}

Reduction parse_reduction(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text == names[i]) return static_cast<Reduction>(i);
  }
  throw ArgumentError(fmt::format("unknown reduction \"{}\"; known: {}", text, fmt::join(names, ", ")));
}

bool is_defined(Reduction reduction, Dtype dtype) {
  if (is_float8(dtype)) return false;
  if (reduction == Reduction::sum || reduction == Reduction::product) return true;
  if (reduction == Reduction::min || reduction == Reduction::max) return !is_complex(dtype);
  return is_integer(dtype) || dtype == Dtype::boolean;
}

void write_identity(Reduction reduction, Dtype dtype, void* element) {
  check(is_defined(reduction, dtype), "{} is not defined for {}", name(reduction), name(dtype));
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      write(element, identity_of_boolean(reduction));
    } else if constexpr (is_small_float_type<T>) {
      write(element, from_float<T>(identity_of<float>(reduction)));
    } else if constexpr (std::is_arithmetic_v<T>) {
      write(element, identity_of<T>(reduction));
    } else {
      write(element, T(reduction == Reduction::product ? 1 : 0));
    }
  });
}

}  // namespace partita
