// Pictures of layouts in a terminal.
#pragma once

#include <string>

#include "tools/pictures/picture.hpp"
#include "tools/terminal.hpp"

namespace partita::tools {

/// With colours where the terminal has them, and the labels.
std::string text_of(const Picture& picture, const Terminal& terminal);

}  // namespace partita::tools
