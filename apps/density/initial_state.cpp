// Gaussian noise, coloured by the linear spectrum, becomes displacements.
#include <cmath>
#include <complex>
#include <numbers>

#include "density/universe.hpp"
#include "device/host_copy.hpp"

namespace density {
namespace pt = partita;
namespace {

using Complex = std::complex<double>;

const pt::ArrayOptions on_host{.space = pt::MemorySpace::host};

/// Wavenumbers of a cube's lattice, by index, in h/Mpc.
struct Waves {
  std::vector<double> k;
  explicit Waves(const Settings& settings) {
    const double spacing = settings.box / static_cast<double>(settings.particles);
    for (const double f : pt::fftfreq(settings.particles, spacing)) k.push_back(2 * std::numbers::pi * f);
  }
  double along(const pt::Index& index, int axis) const { return k[static_cast<std::size_t>(index[axis])]; }
  double squared(const pt::Index& index) const {
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) sum += along(index, axis) * along(index, axis);
    return sum;
  }
};

/// psi(k) = i k / k^2 delta(k) along an axis. The wave that turns at every point has no sign, so no slope.
void displace(pt::Array& spectrum, const pt::Array& field, const Waves& waves, int axis) {
  const auto half = static_cast<std::int64_t>(waves.k.size()) / 2;
  const bool even = waves.k.size() % 2 == 0;
  const Complex* from = field.data<Complex>();
  const Complex* const to = spectrum.data<Complex>();
  pt::for_each_local<Complex>(spectrum, [&](const pt::Index& index, Complex& value) {
    const double square = waves.squared(index);
    const bool still = square == 0 || (even && index[axis] == half);
    value = still ? 0 : Complex(0, waves.along(index, axis) / square) * from[&value - to];
  });
}

/// White noise of variance 1 has transforms of variance n^3, the field has n^6 P / V.
void colour(pt::Array& spectrum, const Settings& settings, const Waves& waves) {
  const LinearSpectrum linear(settings.cosmology);
  const double scale = std::pow(static_cast<double>(settings.particles) / settings.box, 3);
  pt::for_each_local<Complex>(spectrum, [&](const pt::Index& index, Complex& value) {
    const double k = std::sqrt(waves.squared(index));
    value *= k == 0 ? 0 : std::sqrt(scale * linear(k));
  });
}

/// The number of a lattice's point among those of its box: by bricks of 8 x 8 x 8, so that particles which
/// follow each other touch few cells.
std::size_t in_bricks(const Cells& box, const pt::Index& point) {
  constexpr std::int64_t brick = 8;
  std::int64_t before = 0, inside = 0, size = 1;  // `size`: of what is as wide as the brick so far
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t at = point[static_cast<int>(d)] - box.lower[d], corner = at / brick * brick;
    std::int64_t layers = corner * size;
    for (std::size_t other = d + 1; other < 3; ++other) layers *= box.upper[other] - box.lower[other];
    const std::int64_t width = std::min(brick, box.upper[d] - box.lower[d] - corner);
    before += layers;
    size *= width;
    inside = inside * width + at - corner;
  }
  return static_cast<std::size_t>(before + inside);
}

}  // namespace

State initial_state(const pt::Context& context, const Settings& settings, const pt::Layout& mesh) {
  const std::int64_t n = settings.particles;
  const Waves waves(settings);
  pt::Array noise = pt::empty(context, {n, n, n}, pt::Slab(0), pt::Dtype::f64);
  pt::fill_normal(noise, settings.seed);
  pt::Array spectrum = pt::rfft(noise, {.output = pt::Output::cheapest});
  pt::Array field = on_device::host_copy(spectrum);  // a device transforms, the host does the rest
  colour(field, settings, waves);

  const double a = 1 / (1 + settings.redshift);
  const double growth = settings.cosmology.growth(a);
  const double speed = a * a * settings.cosmology.expansion(a) * settings.cosmology.growth_rate(a) * growth;
  const double in_cells = static_cast<double>(settings.cells) / settings.box;  // a displacement of 1 Mpc/h
  const double spacing = static_cast<double>(settings.cells) / static_cast<double>(n);
  const auto length = static_cast<double>(settings.cells);
  State state{Particles(static_cast<std::size_t>(noise.local_size())), a, 0};
  const bool is_there = spectrum.local().space == pt::MemorySpace::host;
  const Cells lattice(noise.layout(), context.rank());
  pt::Array slope = pt::empty(context, field.layout(), pt::Dtype::c128, on_host);
  for (int axis = 0; axis < 3; ++axis) {
    displace(slope, field, waves, axis);
    if (is_there) {
      pt::irfft_into(slope, noise, {.last_length = n});
    } else {
      pt::copy(slope, spectrum);
      pt::irfft_into(spectrum, noise, {.last_length = n});
    }
    const auto d = static_cast<std::size_t>(axis);
    pt::for_each_local<double>(on_device::host_copy(noise), [&](const pt::Index& index, double psi) {
      Particle& particle = state.particles[in_bricks(lattice, index)];
      const double x = static_cast<double>(index[axis]) * spacing + growth * psi * in_cells;
      particle.position[d] = std::min(x - length * std::floor(x / length), std::nextafter(length, 0));
      particle.momentum[d] = speed * psi * in_cells;
    });
  }
  migrate(context, mesh, state.particles);
  return state;
}

}  // namespace density
