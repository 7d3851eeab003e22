#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>
#include <partita/print.hpp>

#include "array/array_name.hpp"
#include "array/array_state.hpp"
#include "array/elements.hpp"
#include "array/number_texts.hpp"
#include "base/check.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

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

/// What one rank has to give: the row-major number of an element in the whole array, and its bytes.
struct Given {
  std::int64_t number = 0;
  std::string bytes;
};

auto members_of(is_a<Given> auto& given) {
  return std::tie(given.number, given.bytes);
}

/// Of the sub-array [lower, lower + shape).
void give_window(const Array& array, const Index& lower, const Shape& shape, std::vector<Given>& given) {
  const Array part = arrays::on_host(array.window(lower, shape));
  const Strides strides = dense_strides(array.shape()), inside = dense_strides(shape);
  const auto bytes = static_cast<std::size_t>(size_of(array.dtype()));
  arrays::for_each_row(part.local(), part.layout(), array.context_state()->rank(),
                       [&](const arrays::ElementRow& row) {
                         const char* at = row.first;
                         for (const std::int64_t more : row.numbers) {
                           const std::int64_t number = row.number + more;
                           std::int64_t place = 0;
                           for (int d = 0; d < shape.size(); ++d)
                             place += (lower[d] + number / inside[d] % shape[d]) * strides[d];
                           given.push_back({place, {at, bytes}});
                           at += row.stride;
                         }
                       });
}

/// The corners that are shown, or all, of what this rank is the first to hold.
std::vector<Given> given_here(const Array& array, const std::vector<Shown>& shown) {
  std::vector<Given> given;
  if (!arrays::is_first_holder(array.layout(), array.context_state()->rank())) return given;
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
    give_window(array, lower, shape, given);
  }
  return given;
}

/// The brackets around the texts, in lines of at most 75 characters.
class Writer {
 public:
  Writer(std::map<std::int64_t, std::string> texts, const std::vector<Shown>& shown, const Shape& shape)
      : texts_(std::move(texts)), shown_(shown), strides_(dense_strides(shape)) {}

  std::string write(std::size_t depth = 0, std::int64_t number = 0) const {
    if (depth == shown_.size()) return texts_.at(number);
    if (depth + 1 == shown_.size()) return row(depth, number);
    // Rows below each other, and an empty line more between matrices, cubes, ...
    const std::string gap = std::string(shown_.size() - depth - 1, '\n') + std::string(depth + 1, ' ');
    std::string text = "[";
    for_each_shown(depth, number, [&](std::int64_t next, bool first) {
      if (!first) text += gap;
      text += next < 0 ? "..." : write(depth + 1, next);
    });
    return text + "]";
  }

 private:
  static constexpr std::size_t line_width = 75;

  /// body(number of what is shown next, or -1: the ellipsis; whether it is the first)
  template <class Body>
  void for_each_shown(std::size_t depth, std::int64_t number, const Body& body) const {
    const Shown& one = shown_[depth];
    for (int piece = 0; piece < one.pieces(); ++piece) {
      if (piece > 0) body(-1, false);
      for (std::int64_t i = 0; i < one.length(); ++i)
        body(number + (one.lower(piece) + i) * strides_[static_cast<int>(depth)], piece == 0 && i == 0);
    }
  }

  /// Along the innermost dimension.
  std::string row(std::size_t depth, std::int64_t number) const {
    const std::string indent(depth + 1, ' ');
    const std::size_t width = line_width - depth - 1;  // a bracket for each dimension comes behind
    std::string text, line = indent;
    for_each_shown(depth, number, [&](std::int64_t next, bool first) {
      if (!first) line += ' ';
      const std::string& word = next < 0 ? ellipsis_ : texts_.at(next);
      if (line.size() + word.size() > width && line.size() > indent.size()) {
        line.resize(line.find_last_not_of(' ') + 1);
        text += line + '\n';
        line = indent;
      }
      line += word;
    });
    text += line;
    return '[' + text.substr(indent.size()) + ']';
  }

  std::map<std::int64_t, std::string> texts_;
  const std::vector<Shown>& shown_;
  Strides strides_;
  const std::string ellipsis_ = "...";
};

/// Of the elements that ranks have given, by number.
std::map<std::int64_t, std::string> texts_by_number(const std::map<std::int64_t, std::string>& elements,
                                                    const Array& array, int precision) {
  std::vector<std::string> bytes;
  for (const auto& [number, element] : elements) bytes.push_back(element);
  const std::vector<std::string> texts =
      arrays::texts_of(array.dtype(), bytes, precision, array.shape().empty());
  std::map<std::int64_t, std::string> by_number;
  for (std::size_t i = 0; const auto& [number, element] : elements) by_number.emplace(number, texts[i++]);
  return by_number;
}

}  // namespace

std::string to_string(const Array& array, const PrintOptions& options) {
  const runtime::PublicCall call("to_string");
  ContextState& context = *array.context_state();
  context.require_usable("to_string");
  runtime::collectively(context, "to_string", [&]() -> std::vector<Fact> {
    arrays::check_has_values("to_string", array);
    if (array.local().space == MemorySpace::device) devices::require_no_capture(context, "to_string");
    check(options.threshold >= 0 && options.edge >= 1 && options.precision >= 0 && options.precision <= 17,
          "to_string: a threshold of {} (0 or more), an edge of {} (1 or more), a precision of {} (0 to 17)",
          options.threshold, options.edge, options.precision);
    return {{"array", arrays::name_of(array)},
            {"options", fmt::format("{} {} {}", options.threshold, options.edge, options.precision)}};
  });
  const std::vector<Shown> shown = shown_of(array.shape(), options);
  std::map<std::int64_t, std::string> elements;
  std::vector<Given> mine;
  runtime::check_or_tell_all(context, "to_string", [&] { mine = given_here(array, shown); });
  for (std::vector<Given>& of_rank : runtime::exchange_values(context, "to_string", mine)) {
    for (Given& one : of_rank) elements.emplace(one.number, std::move(one.bytes));
  }
  if (volume(array.shape()) == 0) return "[]";
  return Writer(texts_by_number(elements, array, options.precision), shown, array.shape()).write();
}

void print(const Array& array, const PrintOptions& options) {
  const std::string text = to_string(array, options) + "\n";
  if (array.context_state()->rank() == 0) (void)std::fputs(text.c_str(), stdout);
}

std::ostream& operator<<(std::ostream& stream, const Array& array) {
  return stream << to_string(array);
}

}  // namespace partita
