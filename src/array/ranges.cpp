// New arrays of one value, of a range of numbers, of ones on a diagonal.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <partita/create.hpp>
#include <partita/scalar.hpp>

#include "array/array_state.hpp"
#include "array/fill_by_number.hpp"
#include "base/check.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

/// A range in the numbers that it is computed in.
template <class Number>
struct Range {
  Number start, stop, step;
  bool counted_in_f32 = false;

  /// With the rounding of the numbers that the caller has given: 0.3F / 0.1F is 3, and as f64 it is more.
  double steps() const {
    if (!counted_in_f32) return std::ceil((stop - start) / step);
    const float whole = static_cast<float>(stop) - static_cast<float>(start);
    return std::ceil(static_cast<double>(whole / static_cast<float>(step)));
  }
  std::int64_t count() const {
    check(step != 0, "arange: the step is 0");
    if constexpr (std::is_floating_point_v<Number>) {
      const double steps = this->steps();
      check(std::isfinite(steps) && steps < 0x1p63, "arange: from {} to {} by {}", start, stop, step);
      return steps > 0 ? static_cast<std::int64_t>(steps) : 0;
    } else {
      const bool up = step > 0;
      if (up ? start >= stop : start <= stop) return 0;
      // Differences as unsigned numbers: they may be larger than any signed one.
      const auto whole =
          static_cast<std::uint64_t>(up ? stop : start) - static_cast<std::uint64_t>(up ? start : stop);
      const auto by =
          up ? static_cast<std::uint64_t>(step) : std::uint64_t{0} - static_cast<std::uint64_t>(step);
      const std::uint64_t steps = (whole - 1) / by + 1;
      check(steps <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()),
            "arange: from {} to {} by {} are more than 2^63 - 1 numbers", start, stop, step);
      return static_cast<std::int64_t>(steps);
    }
  }
  std::string text() const { return fmt::format("{}:{}:{}", start, stop, step); }
  Number at(std::int64_t i) const { return start + static_cast<Number>(i) * step; }
};

template <class Number>
Array arange_of(const Context& context, const Range<Number>& range, const Distribution& distribution,
                Dtype dtype, const ArrayOptions& options, SourcePlace where) {
  const runtime::PublicCall call("arange");
  std::int64_t count = 0;
  context.state()->require_usable("arange");
  runtime::collectively(*context.state(), "arange", [&]() -> std::vector<Fact> {
    count = range.count();
    return {{"range", range.text()}};
  });
  Array array = empty(context, {count}, distribution, dtype, options, where);
  arrays::fill_by_number(array, [&](std::int64_t number, auto& element) {
    using T = std::remove_reference_t<decltype(element)>;
    if constexpr (std::is_arithmetic_v<T>) {
      element = static_cast<T>(range.at(number));
    } else if constexpr (is_small_float_type<T> && std::is_floating_point_v<Number>) {
      element = nearest<T>(range.at(number));
    }
  });
  return array;
}

template <class Number>
Range<Number> range_of(const void* start, const void* stop, const void* step) {
  return {*static_cast<const Number*>(start), *static_cast<const Number*>(stop),
          *static_cast<const Number*>(step)};
}

}  // namespace

Array detail::full(const Context& context, const Shape& shape, const Distribution& distribution, Dtype dtype,
                   const void* value, const ArrayOptions& options, SourcePlace where) {
  const runtime::PublicCall call("full");
  context.state()->require_usable("full");
  runtime::collectively(*context.state(), "full", [&]() -> std::vector<Fact> {
    return {{"value", Scalar::of(dtype, value).to_string()}};
  });
  Array array = empty(context, shape, distribution, dtype, options, where);
  fill(array, value);
  return array;
}

Array detail::arange(const Context& context, Dtype number, Dtype counted, const void* start, const void* stop,
                     const void* step, const Distribution& distribution, Dtype dtype,
                     const ArrayOptions& options, SourcePlace where) {
  if (number == Dtype::f64) {
    auto range = range_of<double>(start, stop, step);
    range.counted_in_f32 = counted == Dtype::f32;
    return arange_of(context, range, distribution, dtype, options, where);
  }
  if (number == Dtype::u64)
    return arange_of(context, range_of<std::uint64_t>(start, stop, step), distribution, dtype, options,
                     where);
  return arange_of(context, range_of<std::int64_t>(start, stop, step), distribution, dtype, options, where);
}

Array ones(const Context& context, const Shape& shape, const Distribution& distribution, Dtype dtype,
           const ArrayOptions& options, SourcePlace where) {
  const runtime::PublicCall call("ones");
  Array array = empty(context, shape, distribution, dtype, options, where);
  dtype == Dtype::boolean ? fill(array, true) : fill(array, 1);
  return array;
}

Array empty_like(const Array& array, SourcePlace where) {
  const runtime::PublicCall call("empty_like");
  return empty(array.context(), array.layout(), array.dtype(),
               {.order = arrays::order_of(array.operand()), .space = array.local().space}, where);
}

Array zeros_like(const Array& array, SourcePlace where) {
  const runtime::PublicCall call("zeros_like");
  Array result = empty_like(array, where);
  constexpr std::array<unsigned char, 16> zero{};
  fill(result, static_cast<const void*>(zero.data()));
  return result;
}

Array linspace(const Context& context, double start, double stop, std::int64_t count,
               const Distribution& distribution, Dtype dtype, const ArrayOptions& options,
               SourcePlace where) {
  const runtime::PublicCall call("linspace");
  context.state()->require_usable("linspace");
  runtime::collectively(*context.state(), "linspace", [&]() -> std::vector<Fact> {
    check(count >= 0, "linspace: {} numbers", count);
    check(dtype == Dtype::f16 || dtype == Dtype::bf16 || dtype == Dtype::f32 || dtype == Dtype::f64,
          "linspace: the dtype is {}, not f16, bf16, f32 or f64", name(dtype));
    return {{"numbers", fmt::format("{} to {}", start, stop)}};
  });
  Array array = empty(context, {count}, distribution, dtype, options, where);
  const double step = count > 1 ? (stop - start) / static_cast<double>(count - 1) : 0;
  arrays::fill_by_number(array, [&](std::int64_t number, auto& element) {
    using T = std::remove_reference_t<decltype(element)>;
    const double value = count > 1 && number == count - 1 ? stop : start + static_cast<double>(number) * step;
    if constexpr (std::is_floating_point_v<T>) {
      element = static_cast<T>(value);
    } else if constexpr (is_small_float_type<T>) {
      element = nearest<T>(value);
    }
  });
  return array;
}

Array random(const Context& context, const Shape& shape, const Distribution& distribution, std::uint64_t seed,
             Dtype dtype, const ArrayOptions& options, SourcePlace where) {
  const runtime::PublicCall call("random");
  context.state()->require_usable("random");
  runtime::collectively(*context.state(), "random", [&]() -> std::vector<Fact> {
    return {{"seed", std::to_string(seed)}};
  });
  Array array = empty(context, shape, distribution, dtype, options, where);
  fill_random(array, seed);
  return array;
}

Array eye(const Context& context, std::int64_t rows, std::int64_t columns, const Distribution& distribution,
          Dtype dtype, std::int64_t diagonal, const ArrayOptions& options, SourcePlace where) {
  const runtime::PublicCall call("eye");
  context.state()->require_usable("eye");
  runtime::collectively(*context.state(), "eye", [&]() -> std::vector<Fact> {
    return {{"diagonal", std::to_string(diagonal)}};
  });
  Array array = empty(context, {rows, columns}, distribution, dtype, options, where);
  arrays::fill_by_number(array, [&](std::int64_t number, auto& element) {
    using T = std::remove_reference_t<decltype(element)>;
    const bool one = number / columns + diagonal == number % columns;
    if constexpr (is_small_float_type<T>) {
      element = from_float<T>(one ? 1.0F : 0.0F);
    } else {
      element = static_cast<T>(one ? 1 : 0);
    }
  });
  return array;
}

}  // namespace partita
