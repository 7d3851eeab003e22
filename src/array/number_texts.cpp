// The rules are those of NumPy's `array2string` (numpy/_core/arrayprint.py): the shortest digits that tell a
// number from its neighbours in its dtype, cut at the precision; all numbers of an array in one form.
#include "array/number_texts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "base/element_at.hpp"
#include "base/visit_dtype.hpp"

namespace partita::arrays {
namespace {

/// d.ddd times ten to the exponent; without trailing zeros.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

/// The digits of "1.25e-07".
Decimal decimal_of(std::string_view scientific) {
  const std::size_t end = scientific.find('e');
  Decimal decimal;
  for (const char c : scientific.substr(0, end)) {
    if (c != '.') decimal.digits += c;
  }
  decimal.digits.resize(std::max<std::size_t>(decimal.digits.find_last_not_of('0') + 1, 1));
  const std::string_view exponent = scientific.substr(end + (scientific[end + 1] == '+' ? 2 : 1));
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  return decimal;
}

/// `precision`: digits behind the point, correctly rounded; none: as many as give the number back.
template <class Number, class... Precision>
std::string written(Number value, std::chars_format format, Precision... precision) {
  std::array<char, 400> text{};
  return {text.data(),
          std::to_chars(text.data(), text.data() + text.size(), value, format, precision...).ptr};
}

/// `magnitude` is finite and not negative.
template <class T>
Decimal shortest(T magnitude) {
  if constexpr (!is_small_float_type<T>) {
    return decimal_of(written(magnitude, std::chars_format::scientific));
  } else {
    constexpr int enough = 8;
    const float exact = to_float(magnitude);
    std::string text;
    for (int precision = 0; precision <= enough; ++precision) {
      text = written(exact, std::chars_format::scientific, precision);
      float back = 0;
      std::from_chars(text.data(), text.data() + text.size(), back);
      if (from_float<T>(back).bits == magnitude.bits) break;
    }
    return decimal_of(text);
  }
}

/// A real number, whatever its dtype.
struct Real {
  double value = 0;
  Decimal shortest;
};

template <class T>
Real real_of(T value) {
  Real real;
  real.value = static_cast<double>(value);
  const bool negative = std::signbit(real.value);
  if (std::isfinite(real.value)) {
    if constexpr (is_small_float_type<T>) {
      real.shortest = shortest(from_float<T>(std::abs(to_float(value))));
    } else {
      real.shortest = shortest(negative ? -value : value);
    }
  }
  return real;
}

/// What numbers of a dtype look like.
struct RealKind {
  double exponents_from;             ///< the magnitude from which on all are written with exponents
  double (*rounded)(double number);  ///< to the dtype
};

template <class T>
RealKind kind_of() {
  RealKind kind{1e8, [](double number) { return static_cast<double>(nearest<T>(number)); }};
  if constexpr (std::is_same_v<T, float>) kind.exponents_from = 1e6;
  if constexpr (is_small_float_type<T>) kind.exponents_from = 1e3;
  return kind;
}

struct Parts {
  std::string whole, fraction;  ///< with the sign; behind the point
  std::string exponent;         ///< "+16", or empty
};

/// As many blanks as are missing on the left.
std::string right_aligned(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

class RealFormat {
 public:
  /// `signs`: positive numbers have one, too.
  RealFormat(const std::vector<Real>& numbers, const RealKind& kind, int precision, bool signs)
      : precision_(static_cast<std::size_t>(precision)), signs_(signs) {
    exponents_ = needs_exponents(numbers, kind);
    std::size_t not_finite = 0;  // the widest, with room for a sign where any has one
    for (const Real& number : numbers) {
      if (!std::isfinite(number.value)) {
        const bool with_sign = signs || number.value == -std::numeric_limits<double>::infinity();
        not_finite = std::max<std::size_t>(not_finite, with_sign ? 4 : 3);
        continue;
      }
      const Parts parts = parts_of(number);
      left_ = std::max(left_, parts.whole.size());
      fraction_ = std::max(fraction_, parts.fraction.size());
      if (exponents_) exponent_ = std::max(exponent_, parts.exponent.size() - 1);
    }
    right_ = fraction_ + (exponents_ ? exponent_ + 2 : 0);
    if (not_finite > right_ + 1) left_ = std::max(left_, not_finite - right_ - 1);
  }

  std::string text(const Real& number) const {
    if (!std::isfinite(number.value)) return right_aligned(not_finite(number.value), left_ + right_ + 1);
    Parts parts = parts_of(number);
    // With exponents all have as many digits: those of the number itself, where the shortest are fewer.
    if (exponents_ && parts.fraction.size() < fraction_)
      parts =
          scientific_parts(number, decimal_of(written(std::abs(number.value), std::chars_format::scientific,
                                                      static_cast<int>(fraction_))));
    parts.fraction.resize(fraction_, exponents_ ? '0' : ' ');
    std::string text = right_aligned(parts.whole, left_) + '.' + parts.fraction;
    if (!exponents_) return text;
    const std::string digits = parts.exponent.substr(1);
    return text + 'e' + parts.exponent[0] + std::string(exponent_ - digits.size(), '0') + digits;
  }

 private:
  static bool needs_exponents(const std::vector<Real>& numbers, const RealKind& kind) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const Real& number : numbers) {
      const double magnitude = std::abs(number.value);
      if (!std::isfinite(magnitude) || magnitude == 0) continue;
      least = std::min(least, magnitude);
      most = std::max(most, magnitude);
    }
    if (most == 0) return false;
    return most >= kind.exponents_from || least < kind.rounded(1e-4) || kind.rounded(most / least) > 1000;
  }

  std::string sign(double value) const { return std::signbit(value) ? "-" : signs_ ? "+" : ""; }

  std::string not_finite(double value) const {
    if (std::isnan(value)) return signs_ ? "+nan" : "nan";
    return sign(value) + "inf";
  }

  Parts scientific_parts(const Real& number, const Decimal& decimal) const {
    std::string exponent = decimal.exponent < 0 ? "-" : "+";
    if (std::abs(decimal.exponent) < 10) exponent += '0';
    exponent += std::to_string(std::abs(decimal.exponent));
    return {sign(number.value) + decimal.digits[0], decimal.digits.substr(1), std::move(exponent)};
  }

  Parts parts_of(const Real& number) const {
    const std::string sign = this->sign(number.value);
    const double magnitude = std::abs(number.value);
    const int precision = static_cast<int>(precision_);
    if (exponents_) {
      if (number.shortest.digits.size() <= precision_ + 1) return scientific_parts(number, number.shortest);
      return scientific_parts(number,
                              decimal_of(written(magnitude, std::chars_format::scientific, precision)));
    }
    const auto& [digits, exponent] = number.shortest;
    const auto before = static_cast<std::size_t>(std::max(exponent + 1, 0));  // digits before the point
    const auto zeros = static_cast<std::size_t>(std::max(-exponent - 1, 0));  // behind it, before the digits
    const std::size_t behind = zeros + (digits.size() > before ? digits.size() - before : 0);
    if (digits == "0") return {sign + "0", "", ""};
    if (behind > precision_) {
      const std::string fixed = written(magnitude, std::chars_format::fixed, precision);
      const std::size_t point = std::min(fixed.find('.'), fixed.size());
      std::string fraction = point < fixed.size() ? fixed.substr(point + 1) : "";
      fraction.resize(fraction.find_last_not_of('0') + 1);
      return {sign + fixed.substr(0, point), fraction, ""};
    }
    std::string whole = digits.substr(0, before);
    whole.resize(before, '0');
    return {sign + (before == 0 ? "0" : whole),
            std::string(zeros, '0') + (digits.size() > before ? digits.substr(before) : ""), ""};
  }

  std::size_t precision_;
  bool signs_, exponents_ = false;
  std::size_t left_ = 0, fraction_ = 0, exponent_ = 0, right_ = 0;  // widths
};

template <class T>
std::vector<std::string> real_texts(const std::vector<T>& values, int precision, bool signs) {
  std::vector<Real> numbers;
  for (const T& value : values) numbers.push_back(real_of(value));
  const RealFormat format(numbers, kind_of<T>(), precision, signs);
  std::vector<std::string> texts;
  for (const Real& number : numbers) texts.push_back(format.text(number));
  return texts;
}

template <class T>
std::vector<std::string> complex_texts(const std::vector<std::complex<T>>& values, int precision) {
  std::vector<T> real, imaginary;
  for (const std::complex<T>& value : values) {
    real.push_back(value.real());
    imaginary.push_back(value.imag());
  }
  std::vector<std::string> texts = real_texts(real, precision, false);
  const std::vector<std::string> others = real_texts(imaginary, precision, true);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t end = others[i].find_last_not_of(' ') + 1;
    texts[i] += others[i].substr(0, end) + 'j' + others[i].substr(end);
  }
  return texts;
}

template <class T>
std::vector<std::string> integer_texts(const std::vector<T>& values) {
  std::vector<std::string> texts;
  std::size_t width = 0;
  for (const T value : values) width = std::max(width, texts.emplace_back(std::to_string(value)).size());
  for (std::string& text : texts) text = right_aligned(text, width);
  return texts;
}

}  // namespace

std::vector<std::string> texts_of(Dtype dtype, const std::vector<std::string>& elements, int precision,
                                  bool alone) {
  return visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<std::string> texts;
      for (const std::string& bytes : elements)
        texts.emplace_back(bytes[0] == '\0' ? "False" : alone ? "True" : " True");
      return texts;
    } else {
      std::vector<T> values(elements.size());
      for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&values[i], elements[i].data(), sizeof(T));
      if constexpr (std::is_integral_v<T>) {
        return integer_texts(values);
      } else if constexpr (is_small_float_type<T> || std::is_floating_point_v<T>) {
        return real_texts(values, precision, false);
      } else {
        return complex_texts(values, precision);
      }
    }
  });
}

}  // namespace partita::arrays
