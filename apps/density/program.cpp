#include "density/program.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "device/host_copy.hpp"
#include "picture/picture.hpp"
#include "report/report.hpp"

namespace density {
namespace pt = partita;
namespace {

double scale_factor(const Program& program, std::int64_t step) {
  const double first = std::log(1 + program.settings.redshift), last = std::log(1 + program.redshift);
  return std::exp(-first + (first - last) * static_cast<double>(step) / program.steps);
}

Universe begin(const pt::Context& context, const Program& program, const std::string& checkpoint) {
  return program.restart ? Universe(context, program.settings, checkpoint)
                         : Universe(context, program.settings);
}

void step(const pt::Context& context, Universe& universe, const Program& program) {
  const std::int64_t next = universe.steps() + 1;
  const double to = scale_factor(program, next);
  if (!program.trace || next < program.steps) return universe.step(to);
  report::record_step(context, program.output, [&] { universe.step(to); });
}

double largest(const std::array<double, 3>& vector) {
  return std::max({std::abs(vector[0]), std::abs(vector[1]), std::abs(vector[2])});
}

/// Nothing is lost: every particle is somewhere, and what pulls is pulled.
void check_conservation(const pt::Context& context, const Universe& universe, const Settings& settings) {
  const Particles particles = universe.particles();
  const std::int64_t total = count(context, particles);
  const std::int64_t wanted = settings.particles * settings.particles * settings.particles;
  if (total != wanted) throw pt::Error(fmt::format("{} particles became {}", wanted, total));
  double sizes = 0;
  for (const Particle& particle : particles) sizes += largest(particle.momentum);
  pt::all_reduce(context, pt::view(sizes), pt::view(sizes));
  const double sum = largest(momentum(context, particles));
  // Where nothing moves, momenta are what rounding makes of displacements.
  const double rounding = 1e-14 * settings.box * static_cast<double>(wanted);
  if (sum > 1e-9 * sizes + rounding)
    throw pt::Error(fmt::format("momenta with magnitudes of {} in total add up to {}", sizes, sum));
}

/// Beside linear theory.
std::string table(const Power& power, const LinearSpectrum& linear, double growth) {
  std::string text = "# k [h/Mpc]  P(k) [(Mpc/h)^3]  linear theory  modes\n";
  for (std::size_t i = 0; i < power.k.size(); ++i) {
    text += fmt::format("{:.6e} {:.6e} {:.6e} {}\n", power.k[i], power.power[i],
                        growth * growth * linear(power.k[i]), power.modes[i]);
  }
  return text;
}

}  // namespace

void draw(const pt::Context& context, const Mesh& mesh, const std::string& path) {
  const pt::Array columns =
      on_device::host_copy(pt::sum(mesh.density(), 2, {.distribution = pt::Replicated()}));
  pt::rank_zero(context, [&] {
    const auto n = static_cast<int>(mesh.cells());
    const int each = (512 + n - 1) / n, width = n * each;  // pixels
    const double* const mass = columns.data<double>();
    std::vector<picture::Colour> pixels;
    for (int y = 0; y < width; ++y) {
      for (int x = 0; x < width; ++x) {  // from 0.3 to 10 times the mean
        const double level = std::log10(std::max(mass[y / each * n + x / each] / n, 1e-3));
        pixels.push_back(picture::glow((level + 0.5) / 1.5));
      }
    }
    picture::write_png(path, width, width, std::as_bytes(std::span(pixels)));
  });
}

void run(const pt::Context& context, const Program& program) {
  namespace fs = std::filesystem;
  const fs::path folder = program.output;
  report::make_folder(context, folder);
  const std::string checkpoint = folder / "checkpoint.h5";
  Universe universe = begin(context, program, checkpoint);
  report::print_line(context,
                     fmt::format("density: {}^3 particles, {}^3 cells, {} Mpc/h, {} ranks, from z = {:.2f}",
                                 program.settings.particles, program.settings.cells, program.settings.box,
                                 context.size(), universe.redshift()));
  while (universe.steps() < program.steps) {
    const auto start = std::chrono::steady_clock::now();
    step(context, universe, program);
    context.synchronize();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const std::int64_t made = universe.steps();
    report::print_line(
        context, fmt::format("step {:3}  z = {:6.2f}  {:.3f} s", made, universe.redshift(), taken.count()));
    if (program.checkpoint_every > 0 && made % program.checkpoint_every == 0) universe.write(checkpoint);
  }
  check_conservation(context, universe, program.settings);
  draw(context, universe.mesh(), folder / "density.png");
  const Power power = power_spectrum(context, universe.mesh(), program.settings.box);
  const double growth = program.settings.cosmology.growth(universe.scale_factor());
  const std::string text = table(power, LinearSpectrum(program.settings.cosmology), growth);
  pt::rank_zero(context, [&] { pt::write_file(folder / "power.txt", text); });
  report::print_line(context,
                     fmt::format("density: mass and momentum are conserved; {} has density.png and power.txt",
                                 folder.string()));
}

}  // namespace density
