#include "shallow_water/program.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "picture/picture.hpp"

namespace shallow_water {
namespace pt = partita;
namespace {

using Clock = std::chrono::steady_clock;

void say(const pt::Context& context, const std::string& line) {
  pt::rank_zero(context, [&] {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  });
}

/// How far the surface is from its mean, up to 10 m: blue below, red above; y upwards.
void draw(const pt::Context& context, const Ocean<float>& ocean, const Settings& settings,
          const std::string& path) {
  const pt::Array surface = pt::gather(ocean.state().window({0, 0, 0}, {1, settings.rows, settings.columns}));
  pt::rank_zero(context, [&] {
    const std::int64_t thin = (settings.columns + 899) / 900;
    const auto width = static_cast<int>(settings.columns / thin),
               height = static_cast<int>(settings.rows / thin);
    const float* const h = surface.data<float>();
    std::vector<picture::Colour> pixels;
    for (int y = height - 1; y >= 0; --y) {
      for (int x = 0; x < width; ++x) {
        const double off = static_cast<double>(h[y * thin * settings.columns + x * thin]) - settings.depth;
        pixels.push_back(picture::blue_white_red(0.5 + off / 20));
      }
    }
    picture::write_png(path, width, height, std::as_bytes(std::span(pixels)));
  });
}

}  // namespace

void run(const pt::Context& context, const Program& program) {
  namespace fs = std::filesystem;
  const fs::path folder = program.output;
  pt::rank_zero(context, [&] { fs::create_directories(folder); });
  context.barrier();
  const pt::Distribution distribution =
      program.distribution.empty() ? squares(context.size()) : pt::Distribution::parse(program.distribution);
  Ocean<float> ocean(context, program.settings, distribution);
  const Budget begin = ocean.budget();
  say(context, fmt::format("shallow-water: {} x {} cells, {}, {} ranks", program.settings.rows,
                           program.settings.columns, distribution.to_string(), context.size()));
  std::string book = "# days  mass and energy over those of the beginning\n";
  double seconds = 0;
  for (;;) {
    const std::int64_t step = ocean.steps();
    const Budget now = ocean.budget();
    const double days = static_cast<double>(step) * program.settings.time_step() / 86400;
    book += fmt::format("{:.4f} {:.9f} {:.9f}\n", days, now.mass / begin.mass, now.energy / begin.energy);
    say(context, fmt::format("step {:6}  day {:6.2f}  energy {:.6f}  {:.2f} s", step, days,
                             now.energy / begin.energy, seconds));
    draw(context, ocean, program.settings, folder / fmt::format("surface-{:06}.png", step));
    if (program.snapshots) pt::write_npy(folder / fmt::format("state-{:06}.npy", step), ocean.state());
    if (std::abs(now.mass / begin.mass - 1) > 1e-5) throw pt::Error("shallow-water: mass is lost");
    if (step >= program.steps) break;
    const auto start = Clock::now();
    while (ocean.steps() < std::min(step + program.look_every, program.steps)) ocean.step();
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  pt::rank_zero(context, [&] { pt::write_file(folder / "budget.txt", book); });
  say(context,
      fmt::format("shallow-water: mass is conserved; {} has its surface and budget.txt", folder.string()));
}

}  // namespace shallow_water
