#include "tools/picture_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace partita::tools {
namespace {

std::string background(Colour colour, const Terminal& terminal) {
  const Colour ink = ink_on(colour);
  const int ink_number = ink == Colour{0, 0, 0} ? 16 : 231;
  if (!terminal.true_colour) return fmt::format("\x1b[48;5;{};38;5;{}m", nearest_of_256(colour), ink_number);
  return fmt::format("\x1b[48;2;{};{};{};38;5;{}m", colour.red, colour.green, colour.blue, ink_number);
}

std::size_t label_width(const Picture& picture) {
  std::size_t width = 1;
  for (const Cell& cell : picture.cells) width = std::max(width, label_of(cell).size());
  return width;
}

// Owners of many replicas would make the cells too wide: then the first one, and a plus.
std::string shorten(const std::string& label, std::size_t width) {
  if (label.size() <= width) return label;
  return label.substr(0, label.find(',')) + "+";
}

}  // namespace

std::string text_of(const Picture& picture, const Terminal& terminal) {
  constexpr std::size_t widest = 7;
  std::size_t width = std::min(label_width(picture), widest);
  for (const Cell& cell : picture.cells) width = std::max(width, shorten(label_of(cell), width).size());
  std::string text;
  for (int row = 0; row < picture.rows; ++row) {
    text += "  ";
    for (int column = 0; column < picture.columns; ++column) {
      const Cell& cell = picture.at(row, column);
      const std::string label = shorten(label_of(cell), width);
      if (terminal.colours) {
        text += fmt::format("{} {:>{}} ", background(cell.colour, terminal), label, width);
      } else {
        text += fmt::format("{}{:>{}}", column == 0 ? "" : " ", label, width);
      }
    }
    text += terminal.colours ? "\x1b[0m\n" : "\n";
  }
  return text;
}

}  // namespace partita::tools
