// The programs of apps/ on devices.
//   density        one step of the particle-mesh universe, in f64. Bound: its parts alone, one after the
//                  other, which are listed too; the deposit next to a copy of the bytes that it must touch:
//                  positions read, mass written; 256^3 on one device also with JaxPM
//   shallow-water  20 steps of the ocean. Bound: its fields and their rates of change read once and written
//                  once a step, as the library copies as many bytes
#include <fmt/format.h>

#include <partita/device_report.hpp>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/python_peers.hpp"
#include "density/universe.hpp"
#include "shallow_water/ocean.hpp"

namespace partita::benchmarks {
namespace {

std::optional<Context> on_devices() {
  if (report_devices().devices.empty()) return std::nullopt;
  ContextOptions options;
  options.device = Device::cuda();
  return initialize(options);
}

std::optional<Result> density_step(const Context& world, const Options& options, const std::string& name,
                                   std::int64_t cells) {
  const std::optional<Context> context = on_devices();
  if (!context) return std::nullopt;
  density::Settings settings;
  settings.cells = settings.particles = cells;
  settings.box = 4 * static_cast<double>(cells);
  density::Universe universe(*context, settings);
  density::Mesh mesh(*context, cells, Slab(0), 1);
  density::Swarm swarm(*context, mesh.layout(), universe.particles());
  mesh.deposit(swarm.local());
  mesh.solve();
  const std::int64_t count = cells * cells * cells;
  const std::int64_t touched = count * static_cast<std::int64_t>(3 * sizeof(double) + sizeof(double));
  const Array bytes = zeros(*context, {touched / 2}, Slab(0), Dtype::u8);  // read, and written
  Array copied = empty(*context, {touched / 2}, Slab(0), Dtype::u8);
  Array field = empty(*context, mesh.layout(), Dtype::f64);
  fill_random(field, 1);
  FFT transform(*context, field.operand(), {.kind = FftKind::r2c, .output = Output::cheapest});
  Array spectrum = empty(*context, transform.output().layout, Dtype::c128);
  const auto alone = [&](const std::string& part, std::function<void()> work) {
    return Contender{part, [&context, work = std::move(work)] {
                       work();
                       context->synchronize();
                     }};
  };
  std::vector<Contender> contenders{
      alone("partita", [&] { universe.step(universe.scale_factor() * 1.02); }),
      alone("deposit", [&] { mesh.deposit(swarm.local()); }),
      alone("force", [&] { mesh.solve(); }),
      alone("two pushes",
            [&] {
              mesh.push(swarm.local(), 1e-9, 0);
              mesh.push(swarm.local(), 1e-9, 1e-9);
            }),
      alone("migration", [&] { swarm.migrate(); }),
      alone("transforms of the force",
            [&] {
              transform.execute(field, spectrum, 1, Stream());
              transform.inverse(spectrum, field, 1, Stream());
            }),
      alone("bytes of the deposit copied", [&] { copy(bytes, copied, Stream()); }),
  };
  if (world.size() == 1 && cells <= 256)
    add_python_peer(world, contenders, "JaxPM", {"jaxpm_step.py", std::to_string(cells)});
  const std::vector<double> seconds = measure(world, contenders, options.runs);
  Result result;
  result.operation = "apps";
  result.benchmark = name;
  result.ranks = world.size();
  result.bytes = count * static_cast<std::int64_t>(sizeof(density::Particle));
  result.ours_s = seconds[0];
  for (std::size_t i = 1; i < contenders.size(); ++i) result.peers[contenders[i].name] = seconds[i];
  result.bound = "its parts alone";
  result.bound_s = seconds[1] + seconds[2] + seconds[3] + seconds[4];
  return result;
}

template <class T>
std::optional<Result> shallow_water_steps(const Context& world, const Options& options,
                                          const std::string& name, std::int64_t rows, std::int64_t columns) {
  const std::optional<Context> context = on_devices();
  if (!context) return std::nullopt;
  constexpr int steps = 20;
  shallow_water::Settings settings;
  settings.rows = rows;
  settings.spacing *=
      static_cast<double>(settings.columns) / static_cast<double>(columns);  // the same domain
  settings.columns = columns;
  shallow_water::Ocean<T> ocean(*context, settings, shallow_water::squares(context->size()));
  const Shape all{6, rows * columns};  // h, u, v and their rates
  const Array fields = zeros(*context, all, Slab(1), dtype_of<T>());
  Array copied = empty(*context, all, Slab(1), dtype_of<T>());
  const std::vector<double> seconds = measure(world,
                                              {{"partita",
                                                [&] {
                                                  for (int i = 0; i < steps; ++i) ocean.step();
                                                  context->synchronize();
                                                }},
                                               {"its fields once a step",
                                                [&] {
                                                  for (int i = 0; i < steps; ++i)
                                                    copy(fields, copied, Stream());
                                                  context->synchronize();
                                                }}},
                                              options.runs);
  Result result;
  result.operation = "apps";
  result.benchmark = name;
  result.ranks = world.size();
  result.bytes = 6 * rows * columns * size_of(dtype_of<T>());
  result.ours_s = seconds[0];
  result.bound = "its fields once a step";
  result.bound_s = seconds[1];
  return result;
}

}  // namespace

std::vector<Case> apps_on_devices_cases() {
  std::vector<Case> cases;
  for (const std::int64_t cells : {256, 512}) {
    const std::string name = fmt::format("density-{}/cuda", cells);
    cases.push_back({"apps",
                     name,
                     {1, 2, 4},
                     [=](const Context& world, const Options& options) {
                       return density_step(world, options, name, cells);
                     },
                     Device::Kind::cuda});
  }
  const auto ocean = [&](Dtype dtype, std::int64_t rows, std::int64_t columns) {
    const std::string name =
        fmt::format("shallow-water-20-steps/cuda/{}/{}x{}", partita::name(dtype), columns, rows);
    cases.push_back({"apps",
                     name,
                     {1, 2, 4},
                     [=](const Context& world, const Options& options) {
                       return dtype == Dtype::f32
                                  ? shallow_water_steps<float>(world, options, name, rows, columns)
                                  : shallow_water_steps<double>(world, options, name, rows, columns);
                     },
                     Device::Kind::cuda});
  };
  ocean(Dtype::f32, 1800, 3600);
  ocean(Dtype::f32, 7200, 14400);
  ocean(Dtype::f64, 7200, 14400);
  return cases;
}

}  // namespace partita::benchmarks
