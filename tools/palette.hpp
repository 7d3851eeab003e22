// The colours of ranks: the same in the terminal, in SVG and in PNG.
#pragma once

#include <cstdint>
#include <string>

namespace partita::tools {

struct Colour {
  std::uint8_t red = 255;
  std::uint8_t green = 255;
  std::uint8_t blue = 255;
  friend bool operator==(const Colour&, const Colour&) = default;
};

/// The first ten are told apart at a glance, also by most colour-blind eyes; further ones go round the colour
/// circle by the golden angle, so that neighbours differ.
Colour colour_of(int rank);

Colour blend(Colour a, Colour b, double share_of_b);
/// Black or white, whichever is easier to read on `background`.
Colour ink_on(Colour background);
std::string hexadecimal(Colour colour);  ///< "#4e79a7"
int nearest_of_256(Colour colour);       ///< of the terminal's 6 x 6 x 6 cube

}  // namespace partita::tools
