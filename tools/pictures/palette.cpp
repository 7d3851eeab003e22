#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tools/pictures/picture.hpp"

namespace partita::tools {
namespace {

// "Tableau 10" (Stone, 2016), softened for black labels.
constexpr std::array<Colour, 10> named{{{0x5b, 0x8f, 0xc7},
                                        {0xf2, 0x8e, 0x2b},
                                        {0x59, 0xa1, 0x4f},
                                        {0xe1, 0x57, 0x59},
                                        {0xb0, 0x7a, 0xa1},
                                        {0xed, 0xc9, 0x48},
                                        {0x76, 0xb7, 0xb2},
                                        {0x9c, 0x75, 0x5f},
                                        {0xff, 0x9d, 0xa7},
                                        {0xba, 0xb0, 0xac}}};

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::lround(std::fmin(255, std::fmax(0, value))));
}

// Hue in turns, at a fixed saturation and lightness.
Colour of_hue(double hue, double lightness) {
  const auto channel = [&](double shift) {
    const double k = std::fmod(shift + hue * 12, 12);
    return to_byte(255 * (lightness - 0.28 * std::fmax(-1, std::fmin(std::fmin(k - 3, 9 - k), 1))));
  };
  return {channel(0), channel(8), channel(4)};
}

double luminance(Colour colour) {
  return 0.299 * colour.red + 0.587 * colour.green + 0.114 * colour.blue;
}

}  // namespace

Colour colour_of(int rank) {
  const auto index = static_cast<std::size_t>(rank);
  if (index < named.size()) return named[index];
  constexpr double golden_angle = 0.381966;  // in turns
  return of_hue(std::fmod(rank * golden_angle, 1.0), rank % 2 == 0 ? 0.58 : 0.70);
}

Colour blend(Colour a, Colour b, double share_of_b) {
  const auto mix = [&](std::uint8_t x, std::uint8_t y) { return to_byte(x + (y - x) * share_of_b); };
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

Colour ink_on(Colour background) {
  return luminance(background) > 110 ? Colour{0, 0, 0} : Colour{255, 255, 255};
}

std::string hexadecimal(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

int nearest_of_256(Colour colour) {
  const auto level = [](std::uint8_t value) { return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40; };
  return 16 + 36 * level(colour.red) + 6 * level(colour.green) + level(colour.blue);
}

}  // namespace partita::tools
