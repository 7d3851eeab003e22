// Pictures of numbers, as PNG files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace picture {

using Colour = std::array<std::uint8_t, 3>;

/// From dark (0) to bright (1).
Colour glow(double level);
/// From blue (0) over white (1/2) to red (1).
Colour blue_white_red(double level);

/// Row by row from the top, three bytes per pixel: red, green, blue. Throws partita::FileError that names the
/// file, which is written whole or not at all.
void write_png(const std::string& path, int width, int height, std::span<const std::byte> pixels);

}  // namespace picture
