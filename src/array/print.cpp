#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <partita/print.hpp>

#include "array/array_name.hpp"
#include "array/array_state.hpp"
#include "array/elements.hpp"
#include "base/check.hpp"
#include "base/visit_dtype.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/agree.hpp"

namespace partita {
namespace {

/// What is written along one dimension: all, or the two ends.
struct Shown {
  std::int64_t extent = 0;
  std::int64_t edge = 0;  // 0: all

  int pieces() const { return edge == 0 ? 1 : 2; }
  std::int64_t lower(int piece) const { return piece == 0 ? 0 : extent - edge; }
  std::int64_t length() const { return edge == 0 ? extent : edge; }
};

std::vector<Shown> shown_of(const Shape& shape, const PrintOptions& options) {
  const bool cut = volume(shape) > options.threshold;
  std::vector<Shown> shown;
  for (const std::int64_t extent : shape)
    shown.push_back({extent, cut && extent - options.edge > options.edge ? options.edge : 0});
  return shown;
}

template <class T>
std::string text_of(const T& value, int precision) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (is_small_float_type<T>) {
    return text_of(to_float(value), precision);
  } else if constexpr (std::is_floating_point_v<T>) {
    return fmt::format("{:.{}g}", value, precision);
  } else {
    return fmt::format("{:.{}g}{:+.{}g}i", value.real(), precision, value.imag(), precision);
  }
}

/// What one rank has to give: the row-major number of an element in the whole array, and its text.
struct Written {
  std::int64_t number = 0;
  std::string text;
};

auto members_of(is_a<Written> auto& written) {
  return std::tie(written.number, written.text);
}

/// Of the sub-array [lower, lower + shape).
void write_window(const Array& array, const Index& lower, const Shape& shape, int precision,
                  std::vector<Written>& written) {
  const Array part = arrays::on_host(array.window(lower, shape));
  const Strides strides = dense_strides(array.shape()), inside = dense_strides(shape);
  visit_dtype(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    arrays::for_each_element<T>(part.local(), part.layout(), array.context_state()->rank(),
                                [&](std::int64_t number, const T& element) {
                                  std::int64_t place = 0;
                                  for (int d = 0; d < shape.size(); ++d)
                                    place += (lower[d] + number / inside[d] % shape[d]) * strides[d];
                                  written.push_back({place, text_of(element, precision)});
                                });
  });
}

/// The corners that are shown, or all, of what this rank is the first to hold.
std::vector<Written> written_here(const Array& array, const std::vector<Shown>& shown, int precision) {
  std::vector<Written> written;
  if (!arrays::is_first_holder(array.layout(), array.context_state()->rank())) return written;
  int corners = 1;
  for (const Shown& one : shown) corners *= one.pieces();
  for (int corner = 0; corner < corners; ++corner) {
    Index lower;
    Shape shape;
    int rest = corner;
    for (const Shown& one : shown) {
      lower.push_back(one.lower(rest % one.pieces()));
      shape.push_back(one.length());
      rest /= one.pieces();
    }
    write_window(array, lower, shape, precision, written);
  }
  return written;
}

/// The brackets around the texts, which are all of one width.
class Writer {
 public:
  Writer(std::map<std::int64_t, std::string> texts, const std::vector<Shown>& shown, const Shape& shape)
      : texts_(std::move(texts)), shown_(shown), strides_(dense_strides(shape)) {
    for (const auto& [number, text] : texts_) width_ = std::max(width_, text.size());
  }

  std::string write(std::size_t depth = 0, std::int64_t number = 0) const {
    if (depth == shown_.size()) return fmt::format("{:>{}}", texts_.at(number), width_);
    const Shown& one = shown_[depth];
    const bool innermost = depth + 1 == shown_.size();
    // As NumPy: rows below each other, and an empty line more between matrices, cubes, ...
    const std::string gap =
        innermost ? " " : std::string(shown_.size() - depth - 1, '\n') + std::string(depth + 1, ' ');
    std::string text = "[";
    for (int piece = 0; piece < one.pieces(); ++piece) {
      if (piece > 0) text.append(gap).append("...").append(gap);
      for (std::int64_t i = 0; i < one.length(); ++i) {
        if (i > 0) text += gap;
        text += write(depth + 1, number + (one.lower(piece) + i) * strides_[static_cast<int>(depth)]);
      }
    }
    return text + "]";
  }

 private:
  std::map<std::int64_t, std::string> texts_;
  const std::vector<Shown>& shown_;
  Strides strides_;
  std::size_t width_ = 0;
};

}  // namespace

std::string to_string(const Array& array, const PrintOptions& options) {
  ContextState& context = *array.context_state();
  context.require_usable("to_string");
  runtime::collectively(context, "to_string", [&]() -> std::vector<Fact> {
    arrays::check_has_values("to_string", array);
    if (array.local().space == MemorySpace::device) devices::require_no_capture(context, "to_string");
    check(options.threshold >= 0 && options.edge >= 1 && options.precision >= 1 && options.precision <= 17,
          "to_string: a threshold of {} (0 or more), an edge of {} (1 or more), a precision of {} (1 to 17)",
          options.threshold, options.edge, options.precision);
    return {{"array", arrays::name_of(array)},
            {"options", fmt::format("{} {} {}", options.threshold, options.edge, options.precision)}};
  });
  const std::vector<Shown> shown = shown_of(array.shape(), options);
  std::map<std::int64_t, std::string> texts;
  std::vector<Written> mine;
  runtime::check_or_tell_all(context, "to_string",
                             [&] { mine = written_here(array, shown, options.precision); });
  for (std::vector<Written>& of_rank : runtime::exchange_values(context, "to_string", mine)) {
    for (Written& one : of_rank) texts.emplace(one.number, std::move(one.text));
  }
  if (volume(array.shape()) == 0) return "[]";
  return Writer(std::move(texts), shown, array.shape()).write();
}

std::ostream& operator<<(std::ostream& stream, const Array& array) {
  return stream << to_string(array);
}

}  // namespace partita
