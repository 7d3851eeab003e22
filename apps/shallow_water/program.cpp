#include "shallow_water/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <span>

#include "picture/animation.hpp"
#include "picture/picture.hpp"
#include "report/report.hpp"

namespace shallow_water {
namespace pt = partita;
namespace {

const pt::ArrayOptions on_host{.residency = pt::Residency::ordinary, .space = pt::MemorySpace::host};

using Clock = std::chrono::steady_clock;

/// How far the surface is from its mean, up to 10 m: blue below, red above; y upwards.
class Surface {
 public:
  explicit Surface(const Settings& settings)
      : settings_(settings),
        thin_((settings.columns + 899) / 900),
        width_(static_cast<int>(settings.columns / thin_)),
        height_(static_cast<int>(settings.rows / thin_)),
        animation_(width_, height_, palette()) {}

  /// As a picture, and as the next frame of the animation. Collective.
  void draw(const pt::Context& context, const Ocean<float>& ocean, const std::string& path) {
    const pt::Array surface =
        pt::gather(ocean.state().window({0, 0, 0}, {1, settings_.rows, settings_.columns}), 0, on_host);
    pt::rank_zero(context, [&] {
      const std::vector<std::uint8_t> levels = levels_of(surface.data<float>());
      std::vector<picture::Colour> pixels;
      for (const std::uint8_t level : levels) pixels.push_back(palette()[level]);
      animation_.add(levels);
      picture::write_png(path, width_, height_, std::as_bytes(std::span(pixels)));
    });
  }

  const picture::Animation& animation() const { return animation_; }

 private:
  static const picture::Palette& palette() {
    static const picture::Palette colours = [] {
      picture::Palette made{};
      for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = picture::blue_white_red(static_cast<double>(i) / 255);
      return made;
    }();
    return colours;
  }

  std::vector<std::uint8_t> levels_of(const float* h) const {
    std::vector<std::uint8_t> levels;
    for (int y = height_ - 1; y >= 0; --y) {
      for (int x = 0; x < width_; ++x) {
        const auto depth = static_cast<double>(h[y * thin_ * settings_.columns + x * thin_]);
        const double level = std::clamp(0.5 + (depth - settings_.depth) / 20, 0.0, 1.0);
        levels.push_back(static_cast<std::uint8_t>(std::lround(255 * level)));
      }
    }
    return levels;
  }

  Settings settings_;
  std::int64_t thin_;  // of so many cells in each direction one is drawn
  int width_, height_;
  picture::Animation animation_;
};

/// The same on all ranks.
void check(const Budget& now, const Budget& begin, std::int64_t step) {
  if (!std::isfinite(now.mass) || !std::isfinite(now.energy))
    throw pt::Error(
        fmt::format("shallow-water: after {} steps mass is {} and energy {}", step, now.mass, now.energy));
  if (std::abs(now.mass / begin.mass - 1) > 1e-5) throw pt::Error("shallow-water: mass is not conserved");
}

}  // namespace

void run(const pt::Context& context, const Program& program) {
  namespace fs = std::filesystem;
  if (program.look_every < 1)
    throw pt::ArgumentError(fmt::format("a picture every {} steps: must be at least 1", program.look_every));
  const fs::path folder = program.output;
  report::make_folder(context, folder);
  const pt::Distribution distribution =
      program.distribution.empty() ? squares(context.size()) : pt::Distribution::parse(program.distribution);
  const std::string checkpoint = folder / "checkpoint.h5";
  Ocean<float> ocean = program.restart ? Ocean<float>(context, program.settings, distribution, checkpoint)
                                       : Ocean<float>(context, program.settings, distribution);
  const Budget begin = ocean.budget();
  report::print_line(context,
                     fmt::format("shallow-water: {} x {} cells, {}, {} ranks", program.settings.rows,
                                 program.settings.columns, distribution.to_string(), context.size()));
  Surface surface(program.settings);
  std::string book = "# days  mass and energy over those of the beginning\n";
  double seconds = 0;
  for (;;) {
    const std::int64_t step = ocean.steps();
    const Budget now = ocean.budget();
    const double days = static_cast<double>(step) * program.settings.time_step() / 86400;
    book += fmt::format("{:.4f} {:.9f} {:.9f}\n", days, now.mass / begin.mass, now.energy / begin.energy);
    report::print_line(context, fmt::format("step {:6}  day {:6.2f}  energy {:.6f}  {:.2f} s", step, days,
                                            now.energy / begin.energy, seconds));
    surface.draw(context, ocean, folder / fmt::format("surface-{:06}.png", step));
    if (program.snapshots) pt::write_npy(folder / fmt::format("state-{:06}.npy", step), ocean.state());
    if (program.checkpoints) ocean.write(checkpoint);
    check(now, begin, step);
    if (step >= program.steps) break;
    const auto start = Clock::now();
    while (ocean.steps() < std::min(step + program.look_every, program.steps)) ocean.step();
    context.synchronize();
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  if (program.trace) report::record_step(context, program.output, [&] { ocean.step(); });
  pt::rank_zero(context, [&] {
    pt::write_file(folder / "budget.txt", book);
    if (!program.animation.empty()) surface.animation().write(program.animation, 8);
  });
  report::print_line(
      context,
      fmt::format("shallow-water: mass is conserved; {} has its surface and budget.txt", folder.string()));
}

}  // namespace shallow_water
