#include <algorithm>
#include <cmath>
#include <limits>
#include <partita/context.hpp>
#include <partita/redistribute.hpp>

#include "tools/demo.hpp"

namespace partita::tools {
namespace {

constexpr int most_pixels = 1024;  // a larger slice is thinned out
constexpr int gap = 14;

template <class T>
double number_at(const void* data, std::int64_t offset) {
  return static_cast<double>(static_cast<const T*>(data)[offset]);
}

}  // namespace

double value_at(const View& view, std::int64_t offset) {
  switch (view.dtype) {
    case Dtype::boolean:
    case Dtype::u8:
      return number_at<std::uint8_t>(view.data, offset);
    case Dtype::i8:
      return number_at<std::int8_t>(view.data, offset);
    case Dtype::i16:
      return number_at<std::int16_t>(view.data, offset);
    case Dtype::u16:
      return number_at<std::uint16_t>(view.data, offset);
    case Dtype::i32:
      return number_at<std::int32_t>(view.data, offset);
    case Dtype::u32:
      return number_at<std::uint32_t>(view.data, offset);
    case Dtype::i64:
      return number_at<std::int64_t>(view.data, offset);
    case Dtype::u64:
      return number_at<std::uint64_t>(view.data, offset);
    case Dtype::f32:
      return number_at<float>(view.data, offset);
    case Dtype::f64:
      return number_at<double>(view.data, offset);
    case Dtype::c64:
      return number_at<float>(view.data, 2 * offset);
    case Dtype::c128:
      return number_at<double>(view.data, 2 * offset);
    case Dtype::f16:
    case Dtype::bf16:
      break;
  }
  throw UnsupportedError("the demo's picture takes no half precision; convert the volume to f32");
}

namespace {

Index element(const Shape& shape, std::int64_t x, std::int64_t y) {
  return shape.size() == 2 ? Index{x, y} : Index{x, y, shape[2] / 2};
}

// The slice, whole on every rank: each gives what it owns and zeros elsewhere, and the sum over ranks is a
// redistribution from a partial array to a replicated one.
Array collect_slice(const Context& context, const Array& volume, const Shape& shape, std::int64_t step) {
  const Mesh mesh({{"r", context.size()}});
  PartitionSpec partial;
  partial.dimensions.resize(2);
  partial.partial_axes = {"r"};
  Array mine = zeros(context, shape, Partitioned{mesh, partial}, Dtype::f64);
  const View& local = volume.local();
  double* const values = mine.data<double>();
  for (std::int64_t x = 0; x < shape[0]; ++x) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      const auto at = volume.layout().to_local(context.rank(), element(volume.shape(), x * step, y * step));
      if (!at) continue;
      std::int64_t offset = 0;
      for (int axis = 0; axis < at->size(); ++axis) offset += (*at)[axis] * local.strides[axis];
      values[x * mine.local().strides[0] + y * mine.local().strides[1]] = value_at(local, offset);
    }
  }
  return redistribute(mine, Replicated{});
}

struct Greys {
  double darkest, brightest;
  double of(double value) const {
    return brightest > darkest ? std::clamp((value - darkest) / (brightest - darkest), 0.0, 1.0) : 0.5;
  }
};

// The first axis to the right, the second upwards.
Image panel(const Array& slice, const Greys& greys, const Layout& layout, std::int64_t step) {
  const Shape& shape = slice.shape();
  const auto width = static_cast<int>(shape[0]), height = static_cast<int>(shape[1]);
  Image image(width, height);
  const double* const values = slice.data<double>();
  for (int x = 0; x < width; ++x) {
    for (int y = 0; y < height; ++y) {
      const double grey = greys.of(values[x * slice.local().strides[0] + y * slice.local().strides[1]]);
      const auto level = static_cast<std::uint8_t>(std::lround(35 + 220 * grey));
      const Colour owner = colour_of(layout.owner(element(layout.shape(), x * step, y * step)));
      image.at(x, height - 1 - y) = blend({level, level, level}, owner, 0.42);
    }
  }
  return image;
}

}  // namespace

namespace {

/// How a slice is drawn: every `step`-th voxel, `factor` pixels each.
struct Scale {
  Shape shape;
  std::int64_t step = 1;
  int factor = 1;

  explicit Scale(const Shape& full) {
    step = (std::max(full[0], full[1]) + most_pixels - 1) / most_pixels;
    shape = {(full[0] + step - 1) / step, (full[1] + step - 1) / step};
    factor = std::max(1, static_cast<int>(480 / std::max(shape[0], shape[1])));
  }
  int width() const { return static_cast<int>(shape[0]) * factor; }
  int height() const { return static_cast<int>(shape[1]) * factor; }
};

Greys greys_of(const Array& slice) {
  const double* const values = slice.data<double>();
  const auto [darkest, brightest] = std::minmax_element(values, values + slice.local_size());
  return {*darkest, *brightest};
}

}  // namespace

Image picture_of(const Context& context, const Array& volume,
                 const std::vector<Distribution>& distributions) {
  const Shape& full = volume.shape();
  const Scale scale(full);
  const Array slice = collect_slice(context, volume, scale.shape, scale.step);
  if (context.rank() != 0) return {};
  const Greys greys = greys_of(slice);
  const int width = scale.width(), height = scale.height();
  const auto panels = static_cast<int>(distributions.size());
  const Image legend = legend_of(context.size(), panels * (width + gap) - gap);
  Image image(panels * (width + gap) + gap, height + legend.height + 3 * gap);
  for (int i = 0; i < panels; ++i) {
    const Layout layout(distributions[static_cast<std::size_t>(i)], full, context.size());
    image.paste(panel(slice, greys, layout, scale.step).enlarged(scale.factor), gap + i * (width + gap), gap);
  }
  image.paste(legend, gap, height + 2 * gap);
  return image;
}

Image grey_pictures(const Context& context, const std::vector<Array>& volumes) {
  const Scale scale(volumes.front().shape());
  const auto panels = static_cast<int>(volumes.size());
  Image image(panels * (scale.width() + gap) + gap, scale.height() + 2 * gap);
  std::optional<Greys> greys;  // the first one's for all, so that they can be compared
  for (int i = 0; i < panels; ++i) {
    const Array slice = collect_slice(context, volumes[static_cast<std::size_t>(i)], scale.shape, scale.step);
    if (!greys) greys = greys_of(slice);
    const auto grey_at = [&](std::int64_t x, std::int64_t y) {
      const double value = slice.data<double>()[x * slice.local().strides[0] + y * slice.local().strides[1]];
      return static_cast<std::uint8_t>(std::lround(255 * greys->of(value)));
    };
    Image grey(static_cast<int>(scale.shape[0]), static_cast<int>(scale.shape[1]));
    for (int x = 0; x < grey.width; ++x) {
      for (int y = 0; y < grey.height; ++y) {
        const std::uint8_t level = grey_at(x, y);
        grey.at(x, grey.height - 1 - y) = {level, level, level};
      }
    }
    image.paste(grey.enlarged(scale.factor), gap + i * (scale.width() + gap), gap);
  }
  return context.rank() == 0 ? image : Image{};
}

}  // namespace partita::tools
