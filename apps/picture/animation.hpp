// Pictures one after the other, as a GIF file that begins again when it has ended.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "picture/picture.hpp"

namespace picture {

/// By level, from 0 to 255.
using Palette = std::array<Colour, 256>;

/// Frames of one size in the colours of one palette, kept until they are written. Local.
class Animation {
 public:
  Animation(int width, int height, const Palette& palette)
      : width_(width), height_(height), palette_(palette) {}

  /// Levels row by row from the top, width times height of them.
  void add(std::span<const std::uint8_t> levels);
  /// Each frame for so many hundredths of a second. Throws partita::FileError; the file is written whole or
  /// not at all.
  void write(const std::string& path, int hundredths) const;

 private:
  int width_, height_;
  Palette palette_;
  std::vector<std::vector<std::uint8_t>> frames_;
};

}  // namespace picture
