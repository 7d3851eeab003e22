// A curve as a picture.
#pragma once

#include <span>
#include <string>

namespace transformer {

/// Losses by step as a PNG, from 0 at the bottom; a line at every nat. Throws partita::FileError.
void draw_losses(const std::string& path, std::span<const double> losses);

}  // namespace transformer
