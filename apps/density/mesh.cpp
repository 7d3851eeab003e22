#include "density/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace density {
namespace pt = partita;
namespace {

using Complex = std::complex<double>;

const pt::HaloOptions one_behind{{0, 0, 0}, {1, 1, 1}, {true, true, true}};
// The gradient needs two cells on either side, in one cell more than the own.
const pt::HaloOptions two_around{{2, 2, 2}, {3, 3, 3}, {true, true, true}};
const pt::FftOptions real_to_complex{.kind = pt::FftKind::r2c, .output = pt::Output::cheapest};

/// A row-major block of cells.
struct Block {
  std::int64_t rows, columns;  // along dimensions 1 and 2
  explicit Block(const pt::Shape& shape) : rows(shape[1]), columns(shape[2]) {}
  std::int64_t at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (i * rows + j) * columns + k;
  }
};

/// Where a particle is: the first of the 8 cells that it shares in, and its share of them along each
/// dimension.
struct Cloud {
  std::array<std::int64_t, 3> cell;
  std::array<std::array<double, 2>, 3> share;

  Cloud(const std::array<double, 3>& position, const std::array<std::int64_t, 3>& corner) {
    for (std::size_t d = 0; d < 3; ++d) {
      const auto below = static_cast<std::int64_t>(position[d]);
      const double part = position[d] - static_cast<double>(below);
      cell[d] = below - corner[d];
      share[d] = {1 - part, part};
    }
  }
  /// Calls `visit(offset, share)` for each of the cells.
  template <class Visit>
  void for_each(const Block& block, const Visit& visit) const {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        const std::int64_t first =
            block.at(cell[0] + static_cast<std::int64_t>(i), cell[1] + static_cast<std::int64_t>(j), cell[2]);
        const double both = share[0][i] * share[1][j];
        visit(first, both * share[2][0]);
        visit(first + 1, both * share[2][1]);
      }
    }
  }
};

std::size_t size_of_block(const pt::Shape& shape) {
  return static_cast<std::size_t>(pt::volume(shape));
}

}  // namespace

Mesh::Mesh(const pt::Context& context, std::int64_t cells, const pt::Distribution& distribution, double mean)
    : context_(context),
      cells_(cells),
      mean_(mean),
      own_(pt::Layout(distribution, {cells, cells, cells}, context.size()), context.rank()),
      density_(pt::empty(context, {cells, cells, cells}, distribution, pt::Dtype::f64)),
      potential_(pt::empty(context, {cells, cells, cells}, distribution, pt::Dtype::f64)),
      transform_(context, density_.operand(), real_to_complex),
      spectrum_(pt::empty(context, transform_.output().layout, pt::Dtype::c128)),
      deposited_(context, density_.operand(), one_behind),
      surrounded_(context, density_.operand(), two_around),
      mass_(size_of_block(deposited_.extended_shape())),
      surroundings_(size_of_block(surrounded_.extended_shape())),
      gradient_(mass_.size()) {}

void Mesh::deposit(std::span<const Particle> particles) {
  const pt::Shape shape = deposited_.extended_shape();
  const Block block(shape);
  std::fill(mass_.begin(), mass_.end(), 0.0);
  const double each = 1 / mean_;
  for (const Particle& particle : particles) {
    Cloud(particle.position, own_.lower).for_each(block, [&](std::int64_t cell, double share) {
      mass_[static_cast<std::size_t>(cell)] += each * share;
    });
  }
  deposited_.start_accumulate(pt::view(mass_, shape), density_);  // in halves: one wait for each neighbour
  deposited_.finish();
}

const pt::Array& Mesh::transformed() {
  transform_.execute(density_, spectrum_);
  return spectrum_;
}

void Mesh::solve() {
  solve_in_fourier_space();
  differentiate();
}

// u(k) = -(density(k) - [k = 0]) / k^2, and over the transforms of the two clouds, of the deposit and of the
// force: sinc(k/2)^2 along each dimension.
void Mesh::solve_in_fourier_space() {
  (void)transformed();
  const std::vector<double> clouds = two_clouds(cells_);
  std::vector<double> squares;
  for (const double frequency : pt::fftfreq(cells_)) {
    squares.push_back(std::pow(2 * std::numbers::pi * frequency, 2));
  }
  pt::for_each_local<Complex>(spectrum_, [&](const pt::Index& index, Complex& value) {
    const auto i = static_cast<std::size_t>(index[0]), j = static_cast<std::size_t>(index[1]),
               k = static_cast<std::size_t>(index[2]);
    const double square = squares[i] + squares[j] + squares[k];
    value *= square == 0 ? 0 : -1 / (clouds[i] * clouds[j] * clouds[k] * square);
  });
  transform_.inverse(spectrum_, potential_);
}

// Of fourth order: (8 (u[1] - u[-1]) - (u[2] - u[-2])) / 12.
void Mesh::differentiate() {
  const pt::Shape around = surrounded_.extended_shape(), inside = deposited_.extended_shape();
  surrounded_.start(potential_, pt::view(surroundings_, around));
  surrounded_.finish();
  const Block from(around), to(inside);
  const std::array<std::int64_t, 3> steps{from.at(1, 0, 0), from.at(0, 1, 0), 1};
  for (std::int64_t i = 0; i < inside[0]; ++i) {
    for (std::int64_t j = 0; j < inside[1]; ++j) {
      const double* const u = surroundings_.data() + from.at(i + 2, j + 2, 2);
      std::array<double, 3>* const gradient = gradient_.data() + to.at(i, j, 0);
      for (std::int64_t k = 0; k < inside[2]; ++k) {
        for (std::size_t d = 0; d < 3; ++d) {
          const std::int64_t step = steps[d];
          gradient[k][d] = (8 * (u[k + step] - u[k - step]) - (u[k + 2 * step] - u[k - 2 * step])) / 12;
        }
      }
    }
  }
}

void Mesh::push(std::span<Particle> particles, double kick, double drift) const {
  const Block block(deposited_.extended_shape());
  const auto length = static_cast<double>(cells_);
  for (Particle& particle : particles) {
    std::array<double, 3> slope{};
    Cloud(particle.position, own_.lower).for_each(block, [&](std::int64_t cell, double share) {
      const std::array<double, 3>& there = gradient_[static_cast<std::size_t>(cell)];
      for (std::size_t d = 0; d < 3; ++d) slope[d] += share * there[d];
    });
    for (std::size_t d = 0; d < 3; ++d) {
      particle.momentum[d] -= kick * slope[d];
      double x = particle.position[d] + drift * particle.momentum[d];
      x -= length * std::floor(x / length);
      particle.position[d] = x < length ? x : 0;  // what is just below 0 rounds up to the length
    }
  }
}

std::vector<double> two_clouds(std::int64_t cells) {
  std::vector<double> result;
  for (const double frequency : pt::fftfreq(cells)) {
    const double half = std::numbers::pi * frequency, sinc = half == 0 ? 1 : std::sin(half) / half;
    result.push_back(std::pow(sinc, 4));
  }
  return result;
}

}  // namespace density
