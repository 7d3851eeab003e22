#include "tools/image.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "picture/picture.hpp"

namespace partita::tools {
namespace {

// Three dots a line, five lines a figure, from the top left.
constexpr std::array<unsigned, 10> figures{
    0b111'101'101'101'111, 0b010'110'010'010'111, 0b111'001'111'100'111, 0b111'001'011'001'111,
    0b101'101'111'001'001, 0b111'100'111'001'111, 0b111'100'111'101'111, 0b111'001'001'001'001,
    0b111'101'111'101'111, 0b111'101'111'001'111};

void write_figure(Image& image, unsigned dots, int x, int y, int size, Colour colour) {
  for (int dot = 0; dot < 15; ++dot) {
    if ((dots >> (14 - dot) & 1U) != 0)
      image.fill(x + dot % 3 * size, y + dot / 3 * size, size, size, colour);
  }
}

}  // namespace

Image::Image(int width_, int height_, Colour colour)
    : width(width_),
      height(height_),
      pixels(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), colour) {}

void Image::fill(int x, int y, int width_, int height_, Colour colour) {
  for (int row = std::max(0, y); row < std::min(height, y + height_); ++row) {
    for (int column = std::max(0, x); column < std::min(width, x + width_); ++column)
      at(column, row) = colour;
  }
}

void Image::paste(const Image& other, int x, int y) {
  for (int row = 0; row < std::min(other.height, height - y); ++row) {
    for (int column = 0; column < std::min(other.width, width - x); ++column) {
      at(x + column, y + row) =
          other.pixels[static_cast<std::size_t>(row) * static_cast<std::size_t>(other.width) +
                       static_cast<std::size_t>(column)];
    }
  }
}

void Image::write_number(int number, int x, int y, int size, Colour colour) {
  for (const char c : std::to_string(number)) {
    write_figure(*this, figures[static_cast<std::size_t>(c - '0')], x, y, size, colour);
    x += 4 * size;
  }
}

Image Image::enlarged(int factor) const {
  Image result(width * factor, height * factor);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      result.fill(x * factor, y * factor, factor, factor,
                  pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                         static_cast<std::size_t>(x)]);
    }
  }
  return result;
}

Image legend_of(int ranks, int width) {
  constexpr int swatch = 18, pitch = 44;
  const int shown = std::clamp(ranks, 0, std::max(1, width / pitch));
  Image image(width, swatch);
  for (int rank = 0; rank < shown; ++rank) {
    image.fill(rank * pitch, 0, swatch, swatch, colour_of(rank));
    image.write_number(rank, rank * pitch + swatch + 4, 4, 2, {40, 40, 40});
  }
  return image;
}

Image image_of(const Picture& picture, int cell_pixels) {
  Image image(picture.columns * cell_pixels, picture.rows * cell_pixels);
  const int line = cell_pixels >= 8 ? 1 : 0;
  for (int row = 0; row < picture.rows; ++row) {
    for (int column = 0; column < picture.columns; ++column) {
      image.fill(column * cell_pixels, row * cell_pixels, cell_pixels - line, cell_pixels - line,
                 picture.at(row, column).colour);
    }
  }
  return image;
}

void write_png(const std::string& path, const Image& image) {
  static_assert(sizeof(Colour) == 3, "the pixels are passed unchanged");
  picture::write_png(path, image.width, image.height, std::as_bytes(std::span(image.pixels)));
}

}  // namespace partita::tools
