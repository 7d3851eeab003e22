#include "density/universe.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <sstream>
#include <utility>

#include "device/host_copy.hpp"

namespace density {
namespace pt = partita;
namespace {

double mean_of(const Settings& settings) {
  return std::pow(static_cast<double>(settings.particles) / static_cast<double>(settings.cells), 3);
}

}  // namespace

std::string Settings::text() const {
  std::ostringstream text;
  text.precision(17);
  text << "box " << box << " cells " << cells << " particles " << particles << " redshift " << redshift
       << " seed " << seed << " matter " << cosmology.matter << " baryons " << cosmology.baryons << " hubble "
       << cosmology.hubble << " index " << cosmology.index << " sigma8 " << cosmology.sigma8
       << " temperature " << cosmology.temperature;
  return text.str();
}

Universe::Universe(const pt::Context& context, const Settings& settings, State state)
    : context_(context),
      settings_(settings),
      mesh_(context, settings.cells, pt::Slab(0), mean_of(settings)),
      swarm_(context, mesh_.layout(), std::move(state.particles)),
      a_(state.a),
      step_(state.step) {
  feel();
}

Universe::Universe(const pt::Context& context, const Settings& settings)
    : Universe(
          context, settings,
          initial_state(context, settings,
                        {pt::Slab(0), {settings.cells, settings.cells, settings.cells}, context.size()})) {}

Universe::Universe(const pt::Context& context, const Settings& settings, const std::string& checkpoint)
    : Universe(
          context, settings,
          read_checkpoint(context, checkpoint,
                          {pt::Slab(0), {settings.cells, settings.cells, settings.cells}, context.size()},
                          settings.text())) {}

// With momentum p = a^2 dx/dt, the potential u of `Mesh` and times in units of 1/H0:
//   dx/dt = p / a^2,  dp/dt = -3/2 Omega_m grad(u) / a
void Universe::step(double to) {
  const Cosmology& cosmology = settings_.cosmology;
  const double from = a_, middle = std::sqrt(from * to), pull = 1.5 * cosmology.matter;
  mesh_.push(swarm_.local(), pull * cosmology.kick(from, middle), cosmology.drift(from, to), swarm_.watch());
  swarm_.migrate();
  feel();
  mesh_.push(swarm_.local(), pull * cosmology.kick(middle, to), 0);
  a_ = to;
  ++step_;
}

void Universe::feel() {
  mesh_.deposit(swarm_.local());
  mesh_.solve();
}

void Universe::write(const std::string& checkpoint) const {
  write_checkpoint(context_, checkpoint, {swarm_.on_host(), a_, step_}, settings_.text());
}

Power power_spectrum(const pt::Context& context, Mesh& mesh, double box) {
  using Complex = std::complex<double>;
  const std::int64_t n = mesh.cells();
  const std::vector<double> window = two_clouds(n);
  const auto shells = static_cast<std::size_t>(n / 2);
  std::vector<double> sums(3 * shells);  // of k, of power, of modes
  pt::for_each_local<Complex>(on_device::host_copy(mesh.transformed()), [&](const pt::Index& index,
                                                                            const Complex& value) {
    double square = 0, clouds = 1;
    for (const std::int64_t i : index) {
      const auto wave = static_cast<double>(pt::signed_frequency(i, n));
      square += wave * wave;
      clouds *= window[static_cast<std::size_t>(i)];
    }
    const double k = std::sqrt(square);
    const auto shell = static_cast<std::size_t>(std::lround(k));
    if (shell == 0 || shell > shells) return;
    const double waves = index[2] == 0 || 2 * index[2] == n ? 1 : 2;  // and the one that has its conjugate
    sums[shell - 1] += waves * k;
    sums[shells + shell - 1] += waves * std::norm(value) / clouds;
    sums[2 * shells + shell - 1] += waves;
  });
  pt::all_reduce(context, pt::view(sums), pt::view(sums));
  Power result;
  for (std::size_t i = 0; i < shells; ++i) {
    const double modes = sums[2 * shells + i];
    result.k.push_back(2 * std::numbers::pi / box * sums[i] / modes);
    result.power.push_back(std::pow(box / std::pow(n, 2), 3) * sums[shells + i] / modes);
    result.modes.push_back(static_cast<std::int64_t>(modes));
  }
  return result;
}

}  // namespace density
