// The demo in Fourier space: the volume smoothed by a Gaussian, and a Poisson problem with a known solution.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <partita/spectral.hpp>

#include "tools/command_line.hpp"
#include "tools/demo.hpp"

namespace partita::tools {
namespace {

constexpr double width = 2.5;        // of the Gaussian, in voxels
constexpr std::int64_t reach = 20;   // eight widths: the Gaussian is below 1e-14 there
constexpr std::int64_t fewest = 32;  // points along an axis that resolve the solution of the problem
constexpr double tolerance = 1e-10;

/// A Gaussian of unit sum has the Fourier transform exp(-width^2 |k|^2 / 2), k in radians a voxel.
Array smoothed(const Array& field) {
  SpectralOptions options;
  for (const std::int64_t extent : field.shape()) options.lengths.push_back(static_cast<double>(extent));
  return spectral_apply(
      field,
      [](const WaveVector& wave) -> std::complex<double> {
        return std::exp(-width * width * wave.squared() / 2);
      },
      options);
}

/// The smoothed value in the middle, as the sum over the periodic surroundings, by rank 0 alone.
double direct_sum(const Array& whole) {
  const Shape& shape = whole.shape();
  const Strides strides = dense_strides(shape);
  const auto* const values = static_cast<const double*>(whole.local().data);
  const std::int64_t deep = shape.size() == 3 ? reach : 0;
  const auto place = [&](int axis, std::int64_t step) {
    const std::int64_t n = shape[axis], at = (n / 2 + step) % n;
    return (at < 0 ? at + n : at) * strides[axis];
  };
  double sum = 0, weights = 0;
  for (std::int64_t i = -reach; i <= reach; ++i) {
    for (std::int64_t j = -reach; j <= reach; ++j) {
      for (std::int64_t k = -deep; k <= deep; ++k) {
        const auto squared = static_cast<double>(i * i + j * j + k * k);
        const double weight = std::exp(-squared / (2 * width * width));
        const std::int64_t offset = place(0, i) + place(1, j) + (shape.size() == 3 ? place(2, k) : 0);
        sum += weight * values[offset];
        weights += weight;
      }
    }
  }
  return sum / weights;
}

double middle(const Array& whole) {
  const Strides strides = dense_strides(whole.shape());
  std::int64_t offset = 0;
  for (int d = 0; d < strides.size(); ++d) offset += whole.shape()[d] / 2 * strides[d];
  return static_cast<const double*>(whole.local().data)[offset];
}

void smooth(const Context& context, const std::string& folder, const Volume& volume) {
  const Array field = numbers_of(load(context, volume, Slab(0)));
  Array result;
  const double first = seconds_of(context, [&] { result = smoothed(field); });
  const double again = seconds_of(context, [&] { result = smoothed(field); });
  const Array before = gather(field), after = gather(result);
  if (context.rank() != 0) return;
  const std::string path = draw(folder, "smoothed.png", grey_pictures({before, after}));
  const double direct = direct_sum(before), difference = std::abs(middle(after) - direct);
  fmt::print(
      "\ndemo: smoothed by a Gaussian of {} voxels in Fourier space: {}, again {}; {} shows before and "
      "after\n",
      width, describe_seconds(first), describe_seconds(again), path);
  fmt::print("demo: in the middle {:.6f} became {:.6f}, {:.1e} from the sum over its surroundings\n",
             middle(before), middle(after), difference);
  if (difference > tolerance * (1 + std::abs(direct)))
    throw std::runtime_error("demo: the smoothed volume is wrong");
}

/// u = exp(cos x) sin(2 y) [cos(3 z)] on [0, 2 pi) along each axis, and its Laplacian.
struct Known {
  Shape shape;

  double coordinate(const Index& at, int axis) const {
    return 2 * std::numbers::pi * static_cast<double>(at[axis]) / static_cast<double>(shape[axis]);
  }
  double solution(const Index& at) const {
    const double plane = std::exp(std::cos(coordinate(at, 0))) * std::sin(2 * coordinate(at, 1));
    return at.size() == 3 ? plane * std::cos(3 * coordinate(at, 2)) : plane;
  }
  double laplacian(const Index& at) const {
    const double x = coordinate(at, 0);
    const double along_x = std::sin(x) * std::sin(x) - std::cos(x);
    return (along_x - 4 - (at.size() == 3 ? 9 : 0)) * solution(at);
  }
};

void solve(const Context& context, const Volume& volume) {
  Known known{volume.shape};
  for (std::int64_t& extent : known.shape) extent = std::max(extent, fewest);
  Array right_side = empty(context, known.shape, Slab(0), Dtype::f64);
  Array expected = empty(context, known.shape, Slab(0), Dtype::f64);
  auto* const given = right_side.data<double>();
  auto* const wanted = expected.data<double>();
  for_each_element(expected, [&](const Index& at, std::int64_t offset) {
    given[offset] = known.laplacian(at);
    wanted[offset] = known.solution(at);
  });
  Array solution;
  const double first = seconds_of(context, [&] { solution = solve_poisson(right_side); });
  const double again = seconds_of(context, [&] { solution = solve_poisson(right_side); });
  const double error = compare(expected, solution).largest_difference;
  if (context.rank() == 0) {
    fmt::print(
        "demo: a Poisson problem of {} points with a known solution: {}, again {}; largest error {:.1e}\n",
        to_string(known.shape), describe_seconds(first), describe_seconds(again), error);
  }
  if (!(error <= tolerance)) throw std::runtime_error("demo: the Poisson problem was not solved");
}

}  // namespace

void demonstrate_fourier(const Context& context, const std::string& folder, const Volume& volume) {
  smooth(context, folder, volume);
  solve(context, volume);
}

}  // namespace partita::tools
