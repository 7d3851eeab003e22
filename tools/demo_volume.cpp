#include <fmt/format.h>

#include <array>
#include <cmath>
#include <complex>
#include <filesystem>
#include <partita/io.hpp>

#include "tools/demo.hpp"

namespace partita::tools {
namespace {

constexpr const char* usual_path = "data/mni152.npy";

// The processes along each axis so that the grid is as even as its number of ranks allows.
std::array<int, 2> even_grid(int ranks) {
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  return {rows, ranks / rows};
}

struct Ellipsoid {
  double x, y, z, a, b, c, value;  // centre and half axes in [-1, 1]
};

// After Shepp and Logan's phantom (1974), with the contrast of its later variants.
constexpr std::array<Ellipsoid, 6> phantom{{{0, 0, 0, 0.69, 0.92, 0.81, 1.0},
                                            {0, -0.02, 0, 0.66, 0.87, 0.78, -0.7},
                                            {0.22, 0, 0, 0.11, 0.31, 0.22, -0.2},
                                            {-0.22, 0, 0, 0.16, 0.41, 0.28, -0.2},
                                            {0, 0.35, -0.15, 0.21, 0.25, 0.41, 0.3},
                                            {0, -0.1, 0.25, 0.06, 0.06, 0.05, 0.3}}};

float phantom_at(const Shape& shape, const Index& at) {
  const auto place = [&](int axis) {
    return 2.0 * static_cast<double>(at[axis]) / static_cast<double>(shape[axis] - 1) - 1.0;
  };
  double value = 0;
  for (const Ellipsoid& e : phantom) {
    const double x = (place(0) - e.x) / e.a, y = (place(1) - e.y) / e.b, z = (place(2) - e.z) / e.c;
    if (x * x + y * y + z * z <= 1) value += e.value;
  }
  // A gentle ramp, so that no two places of a plane look alike to the check.
  return static_cast<float>(value + 1e-3 * place(0) + 1e-4 * place(1) + 1e-5 * place(2));
}

/// Of `Number` to f64, where that is what the array holds.
template <class Number>
bool convert(const Array& array, double* to) {
  if (array.dtype() != dtype_of<Number>()) return false;
  const Number* const from = array.data<Number>();
  for_each_element(array, [&](const Index&, std::int64_t offset) {
    *to++ = static_cast<double>(std::real(from[offset]));
  });
  return true;
}

template <class... Numbers>
bool convert_any(const Array& array, double* to) {
  return (convert<Numbers>(array, to) || ...);
}

}  // namespace

Volume choose_volume(const std::string& input) {
  Volume volume;
  if (!input.empty()) {
    volume.path = input;
  } else if (std::error_code ignored; std::filesystem::exists(usual_path, ignored)) {
    volume.path = usual_path;
  }
  if (!volume.path) {
    volume.shape = {197, 233, 189};
    return volume;
  }
  const FileHeader header = inspect_npy(*volume.path);
  volume.shape = header.shape;
  volume.dtype = header.dtype;
  const int dimensions = header.shape.size();
  if (dimensions < 2 || dimensions > 3 || partita::volume(header.shape) == 0) {
    throw ArgumentError(fmt::format("{}: the demo needs a volume with two or three dimensions; this is {}",
                                    *volume.path, to_string(header.shape)));
  }
  return volume;
}

Array load(const Context& context, const Volume& volume, const Distribution& distribution) {
  if (volume.path) return read_npy(context, *volume.path, distribution);
  Array array = empty(context, volume.shape, distribution, volume.dtype);
  auto* const data = array.data<float>();
  for_each_element(
      array, [&](const Index& at, std::int64_t offset) { data[offset] = phantom_at(array.shape(), at); });
  return array;
}

Array numbers_of(const Array& array) {
  Array numbers = empty(array.context(), array.layout(), Dtype::f64);
  const bool done =
      convert_any<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                  std::int64_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>>(
          array, numbers.data<double>());
  if (!done)
    throw UnsupportedError("the demo's picture does not support half precision; convert the volume to f32");
  return numbers;
}

std::vector<Distribution> way(const Shape& shape, int ranks) {
  const auto [rows, columns] = even_grid(ranks);
  const int dimensions = shape.size();
  Extents grid = Extents::filled(dimensions, 1);
  grid[0] = rows, grid[1] = columns;
  const Distribution cyclic = BlockCyclic(ProcessGrid(grid), Extents::filled(dimensions, 24));
  std::vector<Distribution> distributions{cyclic};
  for (int axis = 0; axis < dimensions; ++axis) distributions.emplace_back(Slab(axis));
  for (int along = dimensions - 1; along >= 0; --along) {
    Extents pencils = Extents::filled(dimensions, 1);
    const int first = along == 0 ? 1 : 0, second = dimensions == 2 ? first : 3 - along - first;
    if (first == second) {
      pencils[first] = ranks;
    } else {
      pencils[first] = rows, pencils[second] = columns;
    }
    distributions.emplace_back(BlockNonCyclic(ProcessGrid(pencils)));
  }
  distributions.push_back(cyclic);
  return distributions;
}

}  // namespace partita::tools
