// Pictures of pixels, and PNG files of them.
#pragma once

#include <partita/layout.hpp>
#include <string>
#include <vector>

#include "tools/pictures/picture.hpp"

namespace partita::tools {

/// Row by row from the top.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<Colour> pixels;

  Image() = default;
  Image(int width_, int height_, Colour colour = {});
  Colour& at(int x, int y) {
    return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(x)];
  }
  void fill(int x, int y, int width_, int height_, Colour colour);
  void paste(const Image& other, int x, int y);
  /// A whole number in small figures, `size` pixels a dot (3 x 5 dots a figure).
  void write_number(int number, int x, int y, int size, Colour colour);
  Image enlarged(int factor) const;
};

/// A picture with a small legend of the ranks below it.
Image image_of(const Picture& picture, int cell_pixels);
/// Swatches with the numbers of the first ranks.
Image legend_of(int ranks, int width);

/// Throws FileError that names the file. The file is written whole or not at all.
void write_png(const std::string& path, const Image& image);

}  // namespace partita::tools
