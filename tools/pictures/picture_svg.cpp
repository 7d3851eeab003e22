#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tools/pictures/picture.hpp"

namespace partita::tools {
namespace {

constexpr double longest_side = 360;  // of the array, in pixels
constexpr double margin = 16;
constexpr double title_height = 30;
constexpr double legend_line = 20;
constexpr int most_legend_lines = 16;

/// A line of the file.
template <class... Values>
void add_line(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  text += fmt::format(format, std::forward<Values>(values)...) + "\n";
}

// Cells of the same owners, put together: along the row first, then down.
struct Patch {
  int row, column, rows, columns;
};

std::vector<Patch> join(const Picture& picture) {
  std::vector<Patch> patches;
  std::vector<bool> taken(picture.cells.size(), false);
  const auto index = [&](int row, int column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(picture.columns) +
           static_cast<std::size_t>(column);
  };
  for (int row = 0; row < picture.rows; ++row) {
    for (int column = 0; column < picture.columns; ++column) {
      if (taken[index(row, column)]) continue;
      Patch patch{row, column, 1, 1};
      // The cells of a row that are free and alike.
      const auto length = [&](int i) {
        int j = column;
        while (i < picture.rows && j < picture.columns && !taken[index(i, j)] &&
               picture.at(i, j) == picture.at(row, column))
          ++j;
        return j - column;
      };
      patch.columns = length(row);
      while (length(row + patch.rows) >= patch.columns) ++patch.rows;
      for (int i = 0; i < patch.rows; ++i) {
        for (int j = 0; j < patch.columns; ++j) taken[index(row + i, column + j)] = true;
      }
      patches.push_back(patch);
    }
  }
  return patches;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return result;
}

// Several owners: diagonal stripes of their colours, as an SVG pattern.
std::string pattern_name(const Cell& cell) {
  std::string name = "of";
  for (const int rank : cell.owners) name += fmt::format("-{}", rank);
  return name;
}

bool is_striped(const Cell& cell) {
  return !cell.mixed && cell.owners.size() > 1;
}

void write_patterns(std::string& text, const Picture& picture) {
  constexpr int stripe = 12;
  std::set<std::string> written;
  for (const Cell& cell : picture.cells) {
    if (!is_striped(cell) || !written.insert(pattern_name(cell)).second) continue;
    const std::size_t period = stripe * cell.owners.size();
    text += fmt::format(R"(<pattern id="{0}" width="{1}" height="{1}" patternUnits="userSpaceOnUse" )"
                        R"x(patternTransform="rotate(45)">)x",
                        pattern_name(cell), period);
    int x = 0;
    for (const int rank : cell.owners) {
      text += fmt::format(R"(<rect x="{}" width="{}" height="{}" fill="{}"/>)", x, stripe, period,
                          hexadecimal(colour_of(rank)));
      x += stripe;
    }
    text += "</pattern>\n";
  }
}

void write_patch(std::string& text, const Picture& picture, const Patch& patch, double side) {
  const Cell& cell = picture.at(patch.row, patch.column);
  const double x = margin + patch.column * side, y = title_height + patch.row * side;
  const double width = patch.columns * side, height = patch.rows * side;
  add_line(text, R"(<rect x="{:.5g}" y="{:.5g}" width="{:.5g}" height="{:.5g}" fill="{}" stroke="#fff"/>)", x,
           y, width, height,
           is_striped(cell) ? "url(#" + pattern_name(cell) + ")" : hexadecimal(cell.colour));
  const std::string label = cell.mixed ? "" : label_of(cell);
  const double size =
      std::min(18.0, std::min(height * 0.7, width / (0.62 * static_cast<double>(label.size()))));
  if (label.empty() || size < 7) return;
  add_line(text, R"(<text x="{:.5g}" y="{:.5g}" font-size="{:.3g}" text-anchor="middle" fill="{}">{}</text>)",
           x + width / 2, y + height / 2 + size * 0.36, size, hexadecimal(ink_on(cell.colour)), label);
}

// Thin lines between elements, where they are large enough to be seen one by one.
void write_grid(std::string& text, const Picture& picture, double side) {
  if (side < 8 || picture.row_step * picture.column_step > 1) return;
  const double right = margin + picture.columns * side, bottom = title_height + picture.rows * side;
  std::string path;
  for (int row = 1; row < picture.rows; ++row) {
    path += fmt::format("M{:.5g} {:.5g}H{:.5g}", margin, title_height + row * side, right);
  }
  for (int column = 1; column < picture.columns; ++column) {
    path += fmt::format("M{:.5g} {:.5g}V{:.5g}", margin + column * side, title_height, bottom);
  }
  if (!path.empty()) add_line(text, R"(<path d="{}" stroke="#fff" stroke-opacity=".35" fill="none"/>)", path);
}

void write_legend(std::string& text, const Layout& layout, double x) {
  const int lines = std::min(layout.ranks(), most_legend_lines);
  for (int rank = 0; rank < lines; ++rank) {
    const double y = title_height + rank * legend_line;
    const bool more = rank + 1 == most_legend_lines && layout.ranks() > most_legend_lines;
    const std::string line = more ? fmt::format("... {} ranks", layout.ranks())
                                  : fmt::format("rank {}: {}", rank, to_string(layout.local_shape(rank)));
    if (!more)
      add_line(text, R"(<rect x="{:.5g}" y="{:.5g}" width="14" height="14" rx="2" fill="{}"/>)", x, y,
               hexadecimal(colour_of(rank)));
    add_line(text, R"(<text x="{:.5g}" y="{:.5g}" font-size="13" fill="#333">{}</text>)", x + 21, y + 12,
             line);
  }
}

}  // namespace

std::string svg_of(const Picture& picture, const Layout& layout, const Slice& slice) {
  const double side = std::min(48.0, longest_side / std::max({picture.rows, picture.columns, 1}));
  const double width = picture.columns * side, height = picture.rows * side;
  const int lines = std::min(layout.ranks(), most_legend_lines);
  const std::string title = layout.to_string();
  const std::string note = describe(picture, slice, layout.shape());
  const double legend_x = margin + width + 24;
  const double full_width = std::max(legend_x + 150, margin * 2 + 7.4 * static_cast<double>(title.size()));
  const double bottom = title_height + std::max(height, lines * legend_line) + margin;
  const double full_height = bottom + (note.empty() ? 0 : 16);
  std::string text;
  add_line(text,
           R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.5g}" height="{1:.5g}" )"
           R"(viewBox="0 0 {0:.5g} {1:.5g}" font-family="sans-serif">)",
           full_width, full_height);
  add_line(text, "<title>{}</title>", escaped(title));
  add_line(text, R"(<rect width="100%" height="100%" fill="#fff"/>)");
  add_line(text, R"(<text x="{:.5g}" y="20" font-size="14" fill="#111">{}</text>)", margin, escaped(title));
  write_patterns(text, picture);
  for (const Patch& patch : join(picture)) write_patch(text, picture, patch, side);
  write_grid(text, picture, side);
  write_legend(text, layout, legend_x);
  if (!note.empty())
    add_line(text, R"(<text x="{:.5g}" y="{:.5g}" font-size="12" fill="#666">{}</text>)", margin, bottom + 4,
             escaped(note));
  text += "</svg>\n";
  return text;
}

}  // namespace partita::tools
