// The programs of apps/ beside those that do the same: one step of the particle-mesh universe, beside JaxPM
// in a process of its own with all cores. Where PARTITA_BENCH_PYTHON (python3) has no JaxPM, it stands alone.
// Bound: the transforms of a step alone, one forward and one back. And one step of the language model,
// tensor- parallel; bound: a product of BLAS of as many operations as all those of weights, no rank with
// another.
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "benchmarks/apart.hpp"
#include "benchmarks/benchmark.hpp"
#include "density/universe.hpp"
#include "transformer/model.hpp"

namespace partita::benchmarks {
namespace {

/// A program of benchmarks/peers, warmed up; null: it does not run here. On rank 0.
std::shared_ptr<Apart> peer_program(const std::string& script, const std::string& argument) {
  const std::string path = std::string(PARTITA_PEERS) + "/" + script;
  const char* const given = std::getenv("PARTITA_BENCH_PYTHON");
  if (!std::filesystem::exists(path)) return nullptr;
  auto peer =
      std::make_shared<Apart>(std::vector<std::string>{given != nullptr ? given : "python3", path, argument});
  try {
    (void)peer->work();
  } catch (const Error&) {
    return nullptr;  // it has said why
  }
  return peer;
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
      {"partita", [&] { universe.step(universe.state().a * 1.1); }},
      {"transforms",
       [&] {
         transform.execute(field, spectrum);
         transform.inverse(spectrum, field);
       }},
  };
  std::shared_ptr<Apart> peer;
  if (context.rank() == 0) peer = peer_program("jaxpm_step.py", std::to_string(cells));
  int has_peer = peer ? 1 : 0;
  broadcast(context, view(has_peer));
  if (has_peer == 1) contenders.push_back({"JaxPM", {}, {}, [&] { return peer->work(); }});
  const std::vector<double> seconds = measure(context, contenders, options.runs);
  Result result;
  result.operation = "apps";
  result.benchmark = "density-" + std::to_string(cells);
  result.ranks = context.size();
  result.bytes = cells * cells * cells * static_cast<std::int64_t>(sizeof(density::Particle));
  result.ours_s = seconds[0];
  result.bound = "its transforms";
  result.bound_s = seconds[1];
  if (has_peer == 1) result.peers["JaxPM"] = seconds[2];
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
  for (const std::int64_t hidden : {128, 512}) {
    cases.push_back({"apps",
                     "transformer-" + std::to_string(hidden),
                     {2, 4},
                     [hidden](const Context& context, const Options& options) {
                       return transformer_step(context, options, hidden);
                     }});
  }
  return cases;
}

}  // namespace partita::benchmarks
