#include "tools/pictures/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace partita::tools {
namespace {

constexpr int hole = -1;  // a dimension that the picture does not have

// Elements along one direction, cut into cells.
struct Scale {
  std::int64_t extent = 1;
  std::int64_t step = 1;
  int cells = 0;
};

Scale scale(const Shape& shape, int axis, int most) {
  Scale result;
  result.extent = axis == hole ? 1 : shape[axis];
  result.step = std::max<std::int64_t>(1, (result.extent + most - 1) / most);
  result.cells = static_cast<int>((result.extent + result.step - 1) / result.step);
  return result;
}

// How many of each cell's elements are in the set.
std::vector<std::int64_t> shares(const Region& region, int axis, const Scale& scale) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(scale.cells), 1);
  if (axis == hole) return counts;
  const IndexSet& set = region.sets[static_cast<std::size_t>(axis)];
  for (int cell = 0; cell < scale.cells; ++cell) {
    const std::int64_t first = cell * scale.step;
    const std::int64_t end = std::min(scale.extent, first + scale.step);
    counts[static_cast<std::size_t>(cell)] = set.position(end) - set.position(first);
  }
  return counts;
}

bool meets(const Region& region, const Slice& slice) {
  if (region.empty()) return false;
  for (int axis = 0; axis < slice.at.size(); ++axis) {
    if (axis == slice.row || axis == slice.column) continue;
    if (!region.sets[static_cast<std::size_t>(axis)].contains(slice.at[axis])) return false;
  }
  return true;
}

using Parts = std::map<int, std::int64_t>;  // elements that each rank owns of a cell

// Replicas own the same region, so of one cell the same number; the largest part is theirs together.
Cell cell_of(const Parts& parts, std::int64_t elements) {
  Cell cell;
  std::int64_t largest = 0;
  for (const auto& [rank, count] : parts) largest = std::max(largest, count);
  cell.mixed = largest < elements;
  double weight = 0;
  for (const auto& [rank, count] : parts) {
    const bool belongs = cell.mixed ? cell.owners.empty() && count == largest : true;
    if (belongs) cell.owners.push_back(rank);
    if (!cell.mixed && cell.owners.size() > 1) continue;
    weight += static_cast<double>(count);
    cell.colour = blend(cell.colour, colour_of(rank), static_cast<double>(count) / weight);
  }
  return cell;
}

Picture paint_scaled(const Layout& layout, const Slice& slice, const Scale& rows, const Scale& columns) {
  std::vector<Parts> parts(static_cast<std::size_t>(rows.cells) * static_cast<std::size_t>(columns.cells));
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region region = layout.region(rank);
    if (!meets(region, slice)) continue;
    const auto of_rows = shares(region, slice.row, rows);
    const auto of_columns = shares(region, slice.column, columns);
    for (std::size_t i = 0; i < of_rows.size(); ++i) {
      for (std::size_t j = 0; of_rows[i] > 0 && j < of_columns.size(); ++j) {
        if (of_columns[j] > 0) parts[i * of_columns.size() + j][rank] = of_rows[i] * of_columns[j];
      }
    }
  }
  Picture picture{rows.cells, columns.cells, rows.step, columns.step, true, {}};
  for (int i = 0; i < rows.cells; ++i) {
    const std::int64_t height = std::min(rows.step, rows.extent - i * rows.step);
    for (int j = 0; j < columns.cells; ++j) {
      const std::int64_t width = std::min(columns.step, columns.extent - j * columns.step);
      const auto index = static_cast<std::size_t>(i) * static_cast<std::size_t>(columns.cells);
      picture.cells.push_back(cell_of(parts[index + static_cast<std::size_t>(j)], height * width));
    }
  }
  return picture;
}

// The largest step at which no cell has two owners along the axis: every run begins and ends at a multiple of
// it.
std::int64_t pattern_of(const Layout& layout, int axis) {
  const std::int64_t extent = layout.shape()[axis];
  std::int64_t step = 0;
  for (int rank = 0; rank < std::min(layout.ranks(), 1024); ++rank) {
    const Region region = layout.region(rank);
    for (const Interval& interval : region.sets[static_cast<std::size_t>(axis)].intervals()) {
      step = std::gcd(step, interval.first);
      const bool ends_early =
          interval.first + (interval.count - 1) * interval.period + interval.length < extent;
      if (ends_early || interval.count > 1) step = std::gcd(step, interval.length);
      if (interval.count > 1) step = std::gcd(step, interval.period);
    }
  }
  return step == 0 ? extent : step;
}

Scale sharpened(Scale scale, const Layout& layout, int axis, int most) {
  if (axis == hole || scale.step == 1) return scale;
  scale.step = std::min(scale.step, pattern_of(layout, axis));
  scale.extent = std::min(scale.extent, scale.step * most);
  scale.cells = static_cast<int>((scale.extent + scale.step - 1) / scale.step);
  return scale;
}

}  // namespace

Slice usual_slice(const Shape& shape) {
  Slice slice;
  std::vector<int> shown;
  for (int axis = 0; axis < shape.size(); ++axis) {
    slice.at.push_back(shape[axis] / 2);
    if (shape[axis] > 1 && shown.size() < 2) shown.push_back(axis);
  }
  // A plane is shown as a plane, also where one of its extents is 1.
  for (int axis = 0; axis < shape.size() && shown.size() < 2; ++axis) {
    if (std::find(shown.begin(), shown.end(), axis) == shown.end()) shown.push_back(axis);
  }
  std::sort(shown.begin(), shown.end());
  if (shown.size() == 2) slice.row = shown[0];
  if (!shown.empty()) slice.column = shown.back();
  return slice;
}

Picture paint(const Layout& layout, const Slice& slice, int most_rows, int most_columns) {
  const Scale rows = scale(layout.shape(), slice.row, most_rows);
  const Scale columns = scale(layout.shape(), slice.column, most_columns);
  Picture picture = paint_scaled(layout, slice, rows, columns);
  const auto blurred =
      std::count_if(picture.cells.begin(), picture.cells.end(), [](const Cell& cell) { return cell.mixed; });
  if (static_cast<std::size_t>(blurred) * 4 <= picture.cells.size()) return picture;
  Picture part = paint_scaled(layout, slice, sharpened(rows, layout, slice.row, most_rows),
                              sharpened(columns, layout, slice.column, most_columns));
  part.whole = false;
  return part;
}

std::string label_of(const Cell& cell) {
  if (cell.mixed) return "*";
  std::string text;
  for (const int rank : cell.owners) text += fmt::format("{}{}", text.empty() ? "" : ",", rank);
  return text;
}

std::string describe(const Picture& picture, const Slice& slice, const Shape& shape) {
  std::string text;
  if (shape.size() > 2) {
    if (slice.row != hole) text += fmt::format("down: axis {}; ", slice.row);
    text += fmt::format("across: axis {}", slice.column);
    for (int axis = 0; axis < shape.size(); ++axis) {
      if (axis == slice.row || axis == slice.column) continue;
      text += fmt::format("; at {} of axis {}", slice.at[axis], axis);
    }
  }
  const auto say = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (!picture.whole) say("the first rows and columns only");
  if (picture.row_step * picture.column_step > 1) {
    say(fmt::format("each cell represents {}{} elements",
                    slice.row == hole ? "" : fmt::format("{}x", picture.row_step), picture.column_step));
    const bool mixed =
        std::any_of(picture.cells.begin(), picture.cells.end(), [](const Cell& cell) { return cell.mixed; });
    if (mixed) text += " (*: of several ranks)";
  }
  return text;
}

}  // namespace partita::tools
