// The programs of apps/ on devices, in f32 and f64 as they compute.
//   shallow-water  20 steps of the ocean. Bound: its fields and their rates of change read once and written
//                  once a step, as the library copies as many bytes
#include <fmt/format.h>

#include <partita/device_report.hpp>

#include "benchmarks/benchmark.hpp"
#include "shallow_water/ocean.hpp"

namespace partita::benchmarks {
namespace {

std::optional<Context> on_devices() {
  if (report_devices().devices.empty()) return std::nullopt;
  ContextOptions options;
  options.device = Device::cuda();
  return initialize(options);
}

template <class T>
std::optional<Result> shallow_water_steps(const Context& world, const Options& options,
                                          const std::string& name, std::int64_t rows, std::int64_t columns) {
  const std::optional<Context> context = on_devices();
  if (!context) return std::nullopt;
  constexpr int steps = 20;
  shallow_water::Settings settings;
  settings.rows = rows;
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
