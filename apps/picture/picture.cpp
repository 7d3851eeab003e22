#include "picture/picture.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <partita/partita.hpp>

namespace picture {
namespace {

/// Between colours that stand evenly from 0 to 1.
Colour between(std::span<const std::array<double, 3>> colours, double level) {
  const double last = static_cast<double>(colours.size()) - 1;
  const double at = std::clamp(level, 0.0, 1.0) * last;
  const double below = std::min(std::floor(at), last - 1), part = at - below;
  const auto& a = colours[static_cast<std::size_t>(below)];
  const auto& b = colours[static_cast<std::size_t>(below) + 1];
  Colour colour{};
  for (std::size_t i = 0; i < 3; ++i) {
    colour[i] = static_cast<std::uint8_t>(std::lround((1 - part) * a[i] + part * b[i]));
  }
  return colour;
}

}  // namespace

Colour glow(double level) {
  static constexpr std::array<std::array<double, 3>, 5> colours{
      {{2, 2, 12}, {58, 16, 110}, {176, 50, 90}, {248, 149, 32}, {252, 250, 190}}};
  return between(colours, level);
}

Colour blue_white_red(double level) {
  static constexpr std::array<std::array<double, 3>, 5> colours{
      {{16, 52, 120}, {110, 160, 206}, {247, 247, 247}, {226, 138, 108}, {132, 16, 38}}};
  return between(colours, level);
}

void write_png(const std::string& path, int width, int height, std::span<const std::byte> pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(bytes, '\0');
  if (png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels.data(), 0, nullptr) == 0) {
    throw partita::FileError(path + " could not be written: " + image.message);
  }
  file.resize(bytes);
  partita::write_file(path, file);
}

}  // namespace picture
