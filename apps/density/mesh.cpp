#include "density/mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "density/deposit.hpp"

namespace density {
namespace pt = partita;
namespace {

using Complex = std::complex<double>;

const pt::HaloOptions one_behind{.lower = {0, 0, 0}, .upper = {1, 1, 1}, .periodic = {true, true, true}};
// The gradient needs two cells on either side, in one cell more than the own.
const pt::HaloOptions two_around{.lower = {2, 2, 2}, .upper = {3, 3, 3}, .periodic = {true, true, true}};
const pt::FftOptions real_to_complex{
    .kind = pt::FftKind::r2c, .output = pt::Output::cheapest, .overwrite_input = true};

Block block_of(const pt::Shape& shape) {
  return {shape[1], shape[2]};
}

std::array<std::int64_t, 3> extents_of(const pt::Shape& shape) {
  return {shape[0], shape[1], shape[2]};
}

std::vector<double> squares_of_waves(std::int64_t cells) {
  std::vector<double> squares;
  for (const double frequency : pt::fftfreq(cells)) {
    squares.push_back(std::pow(2 * std::numbers::pi * frequency, 2));
  }
  return squares;
}

}  // namespace

Mesh::Mesh(const pt::Context& context, std::int64_t cells, const pt::Distribution& distribution, double mean)
    : context_(context),
      queue_(on_device::Queue::of(context)),
      cells_(cells),
      mean_(mean),
      own_(pt::Layout(distribution, {cells, cells, cells}, context.size()), context.rank()),
      density_(pt::empty(context, {cells, cells, cells}, distribution, pt::Dtype::f64)),
      potential_(pt::empty(context, {cells, cells, cells}, distribution, pt::Dtype::f64)),
      transform_(context, density_.operand(), real_to_complex),
      spectrum_(pt::empty(context, transform_.output().layout, pt::Dtype::c128)),
      deposited_(context, operand_of(is_on_device() ? pt::Dtype::i64 : pt::Dtype::f64), one_behind),
      surrounded_(context, operand_of(pt::Dtype::f64), two_around),
      mass_(memory_of(pt::volume(deposited_.extended_shape()))),
      surroundings_(memory_of(pt::volume(surrounded_.extended_shape()))),
      gradient_(memory_of(3 * pt::volume(deposited_.extended_shape()))),
      waves_(memory_of(2 * cells)) {
  std::vector<double> waves = squares_of_waves(cells);
  for (const double clouds : two_clouds(cells)) waves.push_back(clouds);
  pt::copy(context_, pt::view(waves), waves_.view(pt::Dtype::f64, {2 * cells}));
}

pt::Operand Mesh::operand_of(pt::Dtype dtype) const {
  pt::Operand operand = pt::Operand::of(layout(), dtype);
  operand.space = density_.local().space;
  return operand;
}

pt::SymmetricMemory Mesh::memory_of(std::int64_t numbers) const {
  return pt::SymmetricMemory::make_symmetric(context_, numbers * static_cast<std::int64_t>(sizeof(double)));
}

void Mesh::deposit(std::span<const Particle> particles) {
  is_on_device() ? deposit_on_device(particles) : deposit_on_host(particles);
}

void Mesh::deposit_on_host(std::span<const Particle> particles) {
  const pt::Shape shape = deposited_.extended_shape();
  const Block block = block_of(shape);
  auto* const mass = static_cast<double*>(mass_.data());
  std::fill_n(mass, pt::volume(shape), 0.0);
  const double each = 1 / mean_;
  for (const Particle& particle : particles) {
    Cloud(particle.position.data(), own_.lower.data()).for_each(block, [&](std::int64_t cell, double share) {
      mass[cell] += each * share;
    });
  }
  deposited_.accumulate(mass_.view(pt::Dtype::f64, shape), density_);
}

void Mesh::deposit_on_device(std::span<const Particle> particles) {
  const pt::Shape shape = deposited_.extended_shape();
  auto* const mass = static_cast<std::int64_t*>(mass_.data());
  const auto* const numbers = reinterpret_cast<const double*>(particles.data());
  const auto count = static_cast<std::int64_t>(particles.size());
  constexpr std::int64_t group = passes::Deposit::threads;
  on_device::for_each(queue_, pt::volume(shape), passes::Clear{mass});
  on_device::for_each_group(queue_, (count + group - 1) / group,
                            passes::Deposit{numbers, count, corner(), block_of(shape), unit(), mass});
  deposited_.accumulate(mass_.view(pt::Dtype::i64, shape), queue_.stream);
  const double each = 1 / (mean_ * static_cast<double>(unit()));
  on_device::for_each_cell(
      queue_, extents_of(density_.local_shape()),
      passes::Weigh{mass, block_of(shape), block_of(density_.local_shape()), each, density_.data<double>()});
}

// As small as it may be where all particles are in one cell, but for two bits.
std::int64_t Mesh::unit() const {
  const double particles = mean_ * std::pow(static_cast<double>(cells_), 3);
  return std::int64_t{1} << std::clamp(61 - static_cast<int>(std::ceil(std::log2(particles))), 1, 44);
}

const pt::Array& Mesh::transformed() {
  if (is_on_device()) {
    transform_.execute(density_, spectrum_, 1, queue_.stream);
  } else {
    transform_.execute(density_, spectrum_);
  }
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
  if (is_on_device()) {
    solve_on_device();
    return transform_.inverse(spectrum_, potential_, 1, queue_.stream);
  }
  const auto* const squares = static_cast<const double*>(waves_.data());
  const double* const clouds = squares + cells_;
  pt::for_each_local<Complex>(spectrum_, [&](const pt::Index& index, Complex& value) {
    const std::int64_t i = index[0], j = index[1], k = index[2];
    value *= formulas::potential(squares[i] + squares[j] + squares[k], clouds[i] * clouds[j] * clouds[k]);
  });
  transform_.inverse(spectrum_, potential_);
}

void Mesh::solve_on_device() const {
  const pt::View& part = spectrum_.local();
  const pt::Region region = spectrum_.layout().region(context_.rank());
  std::array<int, 3> axes{0, 1, 2};
  std::sort(axes.begin(), axes.end(), [&](int a, int b) { return part.strides[a] > part.strides[b]; });
  passes::Solve pass{};
  std::array<std::int64_t, 3> extents{};
  pass.spectrum = static_cast<double*>(part.data);
  pass.squares = static_cast<const double*>(waves_.data());
  pass.clouds = pass.squares + cells_;
  for (std::size_t d = 0; d < 3; ++d) {
    extents[d] = part.extents[axes[d]];
    pass.strides[d] = part.strides[axes[d]];
    pass.first[d] = region.empty() ? 0 : region.sets[static_cast<std::size_t>(axes[d])].front();
  }
  on_device::for_each_cell(queue_, extents, pass);
}

void Mesh::differentiate() {
  const pt::Shape around = surrounded_.extended_shape(), inside = deposited_.extended_shape();
  const Block from = block_of(around), to = block_of(inside);
  const pt::View extended = surroundings_.view(pt::Dtype::f64, around);
  const auto* const potential = static_cast<const double*>(surroundings_.data());
  if (is_on_device()) {
    surrounded_.execute(potential_, extended, queue_.stream);
    return on_device::for_each_cell(queue_, extents_of(inside),
                                    passes::Differentiate{potential, from, to, gradient<double>()});
  }
  surrounded_.execute(potential_, extended);
  auto* const numbers = static_cast<double*>(gradient_.data());
  const std::int64_t steps[3] = {from.at(1, 0, 0), from.at(0, 1, 0), 1};
  for (std::int64_t i = 0; i < inside[0]; ++i) {
    for (std::int64_t j = 0; j < inside[1]; ++j) {
      const double* const u = potential + from.at(i + 2, j + 2, 2);
      double* const row = numbers + 3 * to.at(i, j, 0);
      for (std::int64_t k = 0; k < inside[2]; ++k) {
        for (std::int64_t d = 0; d < 3; ++d) row[3 * k + d] = formulas::slope(u + k, steps[d]);
      }
    }
  }
}

void Mesh::push(std::span<Particle> particles, double kick, double drift,
                const passes::Departures& departures) const {
  const Block block = block_of(deposited_.extended_shape());
  const auto length = static_cast<double>(cells_);
  if (is_on_device()) {
    auto* const numbers = reinterpret_cast<double*>(particles.data());
    return on_device::for_each(
        queue_, static_cast<std::int64_t>(particles.size()),
        passes::Push{numbers, gradient<const double>(), corner(), block, length, kick, drift, departures});
  }
  const Gradient<const double> slopes{static_cast<const double*>(gradient_.data()), 3, 1};
  for (Particle& particle : particles) {
    formulas::push(particle.position.data(), particle.momentum.data(), slopes, block, own_.lower.data(),
                   length, kick, drift);
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
