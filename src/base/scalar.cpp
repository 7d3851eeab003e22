#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <ostream>
#include <partita/scalar.hpp>

#include "base/check.hpp"
#include "base/element_at.hpp"
#include "base/visit_dtype.hpp"

namespace partita {
namespace {

bool is_whole(Dtype dtype) {
  return is_integer(dtype) || dtype == Dtype::boolean;
}

/// Whether an integer, u64 by its bits, is a T.
template <class T>
bool fits(std::int64_t integer, bool is_u64) {
  if (is_u64)
    return static_cast<std::uint64_t>(integer) <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  if constexpr (std::is_signed_v<T>) {
    return integer >= std::numeric_limits<T>::min() && integer <= std::numeric_limits<T>::max();
  } else {
    return integer >= 0 && static_cast<std::uint64_t>(integer) <= std::numeric_limits<T>::max();
  }
}

template <class T>
void put(void* element, T value) {
  std::memcpy(element, &value, sizeof value);
}

}  // namespace

Scalar Scalar::of(Dtype dtype, const void* element) {
  Scalar scalar;
  scalar.dtype_ = dtype;
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value;
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_same_v<T, bool>) {
      scalar.integer_ = element_at(static_cast<const bool*>(element)) ? 1 : 0;
    } else if constexpr (std::is_integral_v<T>) {
      scalar.integer_ = static_cast<std::int64_t>(+value);
    } else if constexpr (is_small_float_type<T>) {
      scalar.number_ = static_cast<double>(to_float(value));
    } else if constexpr (std::is_same_v<T, float>) {
      scalar.number_ = static_cast<double>(value);
    } else {
      scalar.number_ = value;
    }
  });
  return scalar;
}

void Scalar::write(Dtype dtype, void* element) const {
  const bool whole = is_whole(dtype_), is_u64 = dtype_ == Dtype::u64;
  const auto refuse = [&] { throw ArgumentError(fmt::format("{} is no {}", to_string(), name(dtype))); };
  const auto real_part = [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (!whole) return nearest<T>(number_.real());
    return is_u64 ? nearest<T>(static_cast<std::uint64_t>(integer_)) : nearest<T>(integer_);
  };
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      if (dtype_ != Dtype::boolean) refuse();
      put(element, integer_ != 0);
    } else if constexpr (std::is_integral_v<T>) {
      if (!whole || !fits<T>(integer_, is_u64)) refuse();
      put(element, static_cast<T>(integer_));
    } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      using Part = typename T::value_type;
      put(element, T(real_part(TypeTag<Part>{}), nearest<Part>(number_.imag())));
    } else {
      if (is_complex(dtype_)) refuse();
      put(element, real_part(tag));
    }
  });
}

bool Scalar::has_value_of(const Scalar& other) const {
  const auto is_large = [](const Scalar& one) { return one.dtype_ == Dtype::u64 && one.integer_ < 0; };
  if (is_whole(dtype_) && is_whole(other.dtype_))
    return integer_ == other.integer_ && is_large(*this) == is_large(other);
  return as<std::complex<double>>() == other.as<std::complex<double>>();
}

std::string Scalar::number_text() const {
  if (dtype_ == Dtype::u64) return fmt::format("{}", static_cast<std::uint64_t>(integer_));
  if (is_whole(dtype_)) return fmt::format("{}", integer_);
  if (!is_complex(dtype_)) return fmt::format("{}", number_.real());
  return fmt::format("{}{:+}i", number_.real(), number_.imag());
}

std::string Scalar::to_string() const {
  return fmt::format("{} ({})", number_text(), name(dtype_));
}

std::ostream& operator<<(std::ostream& stream, const Scalar& scalar) {
  return stream << scalar.number_text();
}

}  // namespace partita
