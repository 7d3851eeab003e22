#include "transformer/chart.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "picture/picture.hpp"

namespace transformer {
namespace {

constexpr int width = 640, height = 360;
constexpr picture::Colour paper{255, 255, 255}, line{222, 222, 222}, ink{16, 52, 120};

}  // namespace

void draw_losses(const std::string& path, std::span<const double> losses) {
  std::vector<picture::Colour> pixels(static_cast<std::size_t>(width) * height, paper);
  const double top = std::ceil(*std::max_element(losses.begin(), losses.end()) + 0.1);
  const auto row = [&](double loss) {
    const double at = (1 - loss / top) * (height - 1);
    return std::clamp(static_cast<int>(std::lround(at)), 0, height - 1);
  };
  const auto mark = [&](int x, int y, const picture::Colour& colour) {
    pixels[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)] = colour;
  };
  for (int nat = 0; nat <= static_cast<int>(top); ++nat) {
    for (int x = 0; x < width; ++x) mark(x, row(nat), line);
  }
  const auto last = static_cast<double>(losses.size() - 1);
  int before = row(losses.front());
  for (int x = 0; x < width; ++x) {
    const double at = last * x / (width - 1);
    const auto below = static_cast<std::size_t>(at), above = std::min(below + 1, losses.size() - 1);
    const double part = at - std::floor(at);
    const int y = row((1 - part) * losses[below] + part * losses[above]);
    for (int i = std::min(y, before); i <= std::min(std::max(y, before) + 1, height - 1); ++i)
      mark(x, i, ink);
    before = y;
  }
  picture::write_png(path, width, height, std::as_bytes(std::span(pixels)));
}

}  // namespace transformer
