// The programs of apps/ and peers that do the same, in separate processes that have all cores. If
// PARTITA_BENCH_PYTHON (python3) lacks what they need, ours are measured alone.
//   density        one step of the particle-mesh universe; peer: JaxPM. Bound: the transforms of a step
//                  alone, one forward and one back
//   shallow-water  20 steps of the ocean; peers: its form with mpi4jax on as many ranks, and for 2 of them
//                  NumPy. Bound: its fields, written and read as often as one step must
//   transformer    one step of the language model, tensor-parallel. Bound: a product of BLAS of as many
//                  operations as all those of weights, no rank with another
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/python_peers.hpp"
#include "benchmarks/transformer.hpp"
#include "density/universe.hpp"
#include "shallow_water/ocean.hpp"
#include "transformer/model.hpp"

namespace partita::benchmarks {
namespace {

/// What the contenders took: ours, the bound, and a peer if there is one.
Result result_of(const Context& context, const std::vector<Contender>& contenders, const Options& options) {
  const std::vector<double> seconds = measure(context, contenders, options.runs);
  Result result;
  result.operation = "apps";
  result.ranks = context.size();
  result.ours_s = seconds[0];
  result.bound = contenders[1].name;
  result.bound_s = seconds[1];
  if (seconds.size() > 2) result.peers[contenders[2].name] = seconds[2];
  return result;
}

std::optional<Result> density_step(const Context& context, const Options& options, std::int64_t cells) {
  density::Settings settings;
  settings.cells = settings.particles = cells;
  settings.box = 4 * static_cast<double>(cells);
  density::Universe universe(context, settings);
  Array field = empty(context, universe.mesh().layout(), Dtype::f64);
  fill_random(field, 1);
  FFT transform(context, field.operand(), {.kind = FftKind::r2c, .output = Output::cheapest});
  Array spectrum = empty(context, transform.output().layout, Dtype::c128);
  std::vector<Contender> contenders{
      {"partita", [&] { universe.step(universe.scale_factor() * 1.1); }},
      {"its transforms",
       [&] {
         transform.execute(field, spectrum);
         transform.inverse(spectrum, field);
       }},
  };
  add_python_peer(context, contenders, "JaxPM", {"jaxpm_step.py", std::to_string(cells)});
  Result result = result_of(context, contenders, options);
  result.benchmark = "density-" + std::to_string(cells);
  result.bytes = cells * cells * cells * static_cast<std::int64_t>(sizeof(density::Particle));
  return result;
}

/// h, u, v and their rates of change: each read once and written once.
void pass(std::vector<float>& fields) {
  for (float& value : fields) value = 0.5F * value + 1.0F;
}

std::optional<Result> shallow_water_steps(const Context& context, const Options& options,
                                          const std::string& form, int steps) {
  const bool on_ranks = form == "mpi4jax";
  if (!on_ranks && context.size() > 1) return std::nullopt;
  const shallow_water::Settings settings;
  shallow_water::Ocean<float> ocean(context, settings, shallow_water::squares(context.size()));
  const std::int64_t cells = settings.rows * settings.columns;
  std::vector<float> fields(static_cast<std::size_t>(6 * cells / context.size()));
  std::vector<Contender> contenders{
      {"partita",
       [&] {
         for (int i = 0; i < steps; ++i) ocean.step();
       }},
      {"its fields once a step",
       [&] {
         for (int i = 0; i < steps; ++i) pass(fields);
       }},
  };
  add_python_peer(context, contenders, form,
                  {"shallow_water.py", form, std::to_string(settings.rows), std::to_string(settings.columns),
                   std::to_string(steps)},
                  on_ranks ? context.size() : 0);
  Result result = result_of(context, contenders, options);
  result.benchmark = fmt::format("shallow-water-{}-steps", steps);
  result.bytes = 6 * cells * static_cast<std::int64_t>(sizeof(float));
  return result;
}

/// Six operations a parameter and token, forwards and backwards, as one cube of a product on each rank.
std::function<void()> as_one_product(const Context& context, const transformer::Settings& settings) {
  const double flops = 6 * static_cast<double>(settings.parameters()) *
                       static_cast<double>(settings.tokens()) / context.size();
  const auto n = static_cast<std::int64_t>(std::cbrt(flops / 2));
  const auto alone = std::make_shared<std::array<Array, 3>>();
  const Context own = context.subgroup({context.rank()});
  for (Array& matrix : *alone) {
    matrix = empty(own, {n, n}, Replicated(), Dtype::f32);
    fill_random(matrix, 1);
  }
  return [alone] { matmul_into((*alone)[0], (*alone)[1], nullptr, (*alone)[2]); };
}

std::optional<Result> transformer_step(const Context& context, const Options& options, std::int64_t hidden) {
  transformer::Settings settings;
  settings.hidden = hidden;
  settings.sequence = 128;
  settings.batch = 8;
  transformer::Execution execution(context);
  transformer::Model model(execution, settings, transformer::mesh_of(context.size(), 1));
  model.parameters().initialize(1);
  const transformer::Batch batch(static_cast<std::size_t>(settings.batch * (settings.sequence + 1)), 'a');
  std::int64_t step = 0;
  const std::vector<double> seconds = measure(
      context,
      {{"partita", [&] { model.train(batch, ++step); }}, {"product", as_one_product(context, settings)}},
      options.runs);
  Result result;
  result.operation = "apps";
  result.benchmark = "transformer-" + std::to_string(hidden);
  result.ranks = context.size();
  result.bytes = settings.parameters() * size_of(settings.dtype);
  result.ours_s = seconds[0];
  result.bound = "its products";
  result.bound_s = seconds[1];
  return result;
}

}  // namespace

std::vector<Case> apps_cases() {
  std::vector<Case> cases;
  for (const std::int64_t cells : {64, 128}) {
    cases.push_back({"apps",
                     "density-" + std::to_string(cells),
                     {2, 4},
                     [cells](const Context& context, const Options& options) {
                       return density_step(context, options, cells);
                     }});
  }
  const auto ocean = [&](const std::string& form, int steps, std::vector<int> ranks) {
    cases.push_back({"apps", fmt::format("shallow-water-{}-steps", steps), std::move(ranks),
                     [form, steps](const Context& context, const Options& options) {
                       return shallow_water_steps(context, options, form, steps);
                     }});
  };
  ocean("mpi4jax", 20, {1, 2});
  ocean("numpy", 2, {1});
  for (const std::int64_t hidden : {128, 512}) {
    cases.push_back({"apps",
                     "transformer-" + std::to_string(hidden),
                     {2, 4},
                     [hidden](const Context& context, const Options& options) {
                       return transformer_step(context, options, hidden);
                     }});
  }
  for (Case& one : transformer_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace partita::benchmarks
