#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tools/demo.hpp"

namespace partita::tools {
namespace {

constexpr int most_pixels = 1024;  // a larger slice is thinned out
constexpr int gap = 14;

/// The middle slice of a volume: every `step`-th voxel, `factor` pixels each.
struct Plane {
  const Array& whole;
  std::int64_t step;
  int width, height, factor;

  explicit Plane(const Array& array) : whole(array) {
    const Shape& shape = whole.shape();
    step = (std::max(shape[0], shape[1]) + most_pixels - 1) / most_pixels;
    width = static_cast<int>((shape[0] + step - 1) / step);
    height = static_cast<int>((shape[1] + step - 1) / step);
    factor = std::max(1, 480 / std::max(width, height));
  }
  Index voxel(int x, int y) const {
    return whole.shape().size() == 2 ? Index{x * step, y * step}
                                     : Index{x * step, y * step, whole.shape()[2] / 2};
  }
  double value(int x, int y) const {
    const Index at = voxel(x, y);
    std::int64_t offset = 0;
    for (int axis = 0; axis < at.size(); ++axis) offset += at[axis] * whole.local().strides[axis];
    return whole.data<double>()[offset];
  }
  /// colour(x, y), the first axis to the right, the second upwards.
  template <class ColourOf>
  Image drawn(const ColourOf& colour) const {
    Image image(width, height);
    for (int x = 0; x < width; ++x) {
      for (int y = 0; y < height; ++y) image.at(x, height - 1 - y) = colour(x, y);
    }
    return image.enlarged(factor);
  }
};

/// From 0 for the darkest voxel of a slice to 1 for the brightest.
struct Greys {
  double darkest, brightest;

  explicit Greys(const Plane& plane) : darkest(plane.value(0, 0)), brightest(darkest) {
    for (int x = 0; x < plane.width; ++x) {
      for (int y = 0; y < plane.height; ++y) {
        darkest = std::min(darkest, plane.value(x, y));
        brightest = std::max(brightest, plane.value(x, y));
      }
    }
  }
  double of(double value) const {
    return brightest > darkest ? std::clamp((value - darkest) / (brightest - darkest), 0.0, 1.0) : 0.5;
  }
};

Colour grey(double level) {
  const auto byte = static_cast<std::uint8_t>(std::lround(level));
  return {byte, byte, byte};
}

/// Panels of one size.
Image side_by_side(const std::vector<Image>& panels) {
  const int pitch = panels.front().width + gap;
  Image image(static_cast<int>(panels.size()) * pitch + gap, panels.front().height + 2 * gap);
  int x = gap;
  for (const Image& panel : panels) {
    image.paste(panel, x, gap);
    x += pitch;
  }
  return image;
}

}  // namespace

Image picture_of(const Array& whole, const std::vector<Distribution>& distributions, int ranks) {
  const Plane plane(whole);
  const Greys greys(plane);
  std::vector<Image> panels;
  for (const Distribution& distribution : distributions) {
    const Layout layout(distribution, whole.shape(), ranks);
    panels.push_back(plane.drawn([&](int x, int y) {
      return blend(grey(35 + 220 * greys.of(plane.value(x, y))), colour_of(layout.owner(plane.voxel(x, y))),
                   0.42);
    }));
  }
  const Image pictures = side_by_side(panels), legend = legend_of(ranks, pictures.width - 2 * gap);
  Image image(pictures.width, pictures.height + legend.height + gap);
  image.paste(pictures, 0, 0);
  image.paste(legend, gap, pictures.height);
  return image;
}

Image grey_pictures(const std::vector<Array>& wholes) {
  const Greys greys(Plane{wholes.front()});  // for all, so that they can be compared
  std::vector<Image> panels;
  for (const Array& whole : wholes) {
    const Plane plane(whole);
    panels.push_back(plane.drawn([&](int x, int y) { return grey(255 * greys.of(plane.value(x, y))); }));
  }
  return side_by_side(panels);
}

std::string draw(const std::string& folder, const std::string& name, const Image& image) {
  std::filesystem::create_directories(folder);
  write_png(folder + "/" + name, image);
  return folder + "/" + name;
}

}  // namespace partita::tools
