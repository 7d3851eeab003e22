// Predicts a function of the plane from noisy samples, by a Gaussian process (Rasmussen and Williams 2006,
// algorithm 2.1), and draws its mean and standard deviation in gaussian_process.pgm.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

namespace {

constexpr std::int64_t samples = 300, side = 64, pixels = side * side;
constexpr double length = 0.2, noise = 0.02;

struct Point {
  double x, y;
};

/// Of Weyl's sequence, but not in the corner that was not measured.
Point sample_at(std::int64_t i) {
  const double x = std::fmod(0.7548776662 * static_cast<double>(i + 1), 1);
  const double y = std::fmod(0.5698402910 * static_cast<double>(i + 1), 1);
  return x > 0.6 && y > 0.6 ? Point{x - 0.6, y - 0.6} : Point{x, y};
}

Point pixel_at(std::int64_t i) {
  const std::int64_t row = i / side, column = i % side;
  return {(static_cast<double>(column) + 0.5) / side, (static_cast<double>(row) + 0.5) / side};
}

double truth(const Point& p) {
  return std::sin(7 * p.x) * std::cos(5 * p.y);
}

double covariance(const Point& p, const Point& q) {
  return std::exp(-((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y)) / (2 * length * length));
}

/// Both from 0 to 1, as shades of grey.
void write_picture(const double* mean, const double* deviation) {
  std::ofstream file("gaussian_process.pgm", std::ios::binary);
  file << "P5\n" << 2 * side << ' ' << side << "\n255\n";
  const auto put = [&](double shade) { file.put(static_cast<char>(255 * std::clamp(shade, 0.0, 1.0))); };
  for (std::int64_t row = 0; row < side; ++row) {
    for (std::int64_t i = row * side; i < (row + 1) * side; ++i) put((mean[i] + 1) / 2);
    for (std::int64_t i = row * side; i < (row + 1) * side; ++i) put(deviation[i]);
  }
}

}  // namespace

int main() {
  const pt::Context context = pt::initialize();
  pt::Array k = pt::empty(context, {samples, samples}, pt::Slab(0), pt::Dtype::f64);
  pt::fill(k, [](const pt::Index& i) {
    return covariance(sample_at(i[0]), sample_at(i[1])) + (i[0] == i[1] ? noise * noise : 0.0);
  });
  pt::Array y = pt::empty(context, {samples}, pt::Slab(0), pt::Dtype::f64);
  pt::fill(y, [](const pt::Index& i) {
    return truth(sample_at(i[0])) + noise * std::sin(1e4 * static_cast<double>(i[0]));
  });
  pt::Array across = pt::empty(context, {samples, pixels}, pt::Slab(1), pt::Dtype::f64);
  pt::fill(across, [](const pt::Index& i) { return covariance(sample_at(i[0]), pixel_at(i[1])); });

  const pt::Cholesky factors(k);
  const pt::Array weights = factors.solve(y);
  const pt::Array mean =
      pt::matmul(across, weights, {.op_a = pt::Op::transpose, .distribution = pt::Slab(0)});
  const pt::Array explained = pt::sum(across * factors.solve(across), {0});
  const double likelihood = -0.5 * (pt::dot<double>(y, weights) + factors.log_determinant().log_absolute +
                                    samples * std::log(2 * M_PI));

  const pt::Array means = pt::gather(mean), shares = pt::gather(explained);
  double error = 0;
  if (context.rank() == 0) {
    std::vector<double> deviation(pixels);
    for (std::int64_t i = 0; i < pixels; ++i) {
      double& here = deviation[static_cast<std::size_t>(i)];
      here = std::sqrt(std::max(0.0, 1 - shares.data<double>()[i]));
      const double off = std::abs(means.data<double>()[i] - truth(pixel_at(i)));
      error = std::max(error, off / (here + noise));
    }
    write_picture(means.data<double>(), deviation.data());
    std::cout << "log likelihood " << likelihood << "; at most " << error << " standard deviations off\n";
  }
  return error < 5 ? 0 : 1;
}
