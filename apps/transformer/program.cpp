#include "transformer/program.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

#include "report/report.hpp"
#include "transformer/chart.hpp"
#include "transformer/checkpoint.hpp"
#include "transformer/estimate.hpp"
#include "transformer/kernels.hpp"
#include "transformer/model.hpp"
#include "transformer/text.hpp"

namespace transformer {
namespace pt = partita;
namespace {

using Clock = std::chrono::steady_clock;

std::string heading(const Program& program, const Estimate& estimate, int ranks) {
  return fmt::format("transformer: {:.3g} M parameters on {} x {} ranks (data x tensor), {:.4g} MB each\n",
                     static_cast<double>(program.settings.parameters()) / 1e6, program.data,
                     ranks / program.data, static_cast<double>(estimate.bytes()) / 1e6) +
         fmt::format("planned for a step: {:.3g} s", estimate.seconds());
}

Settings with_attention(const Settings& settings, bool has_kernels) {
  Settings with = settings;
  with.fused_attention = has_kernels && settings.can_fuse_attention();
  return with;
}

pt::MemorySpace space_of(const pt::Device& device) {
  return device.kind == pt::Device::Kind::cuda ? pt::MemorySpace::device : pt::MemorySpace::host;
}

/// As contexts take it.
pt::Machine usual_machine(pt::MemorySpace space) {
  const bool named = std::getenv("PARTITA_MACHINE") != nullptr;
  return space == pt::MemorySpace::host || named ? pt::Machine::here() : pt::Machine::find("node-8-gpu");
}

/// The last one is recorded where that is asked for.
double train(const pt::Context& context, Model& model, const Program& program, const std::string& text,
             std::int64_t step) {
  const Batch batch = batch_of(text, program.settings, step - 1);
  if (!program.trace || step < program.steps) return model.train(batch, step);
  double loss = 0;
  report::record_step(context, program.output, [&] { loss = model.train(batch, step); });
  return loss;
}

struct Losses {
  std::string book = "# step  loss\n";
  std::vector<double> list;

  void add(std::int64_t step, double loss) {
    book += fmt::format("{} {:.6f}\n", step, loss);
    list.push_back(loss);
  }
};

}  // namespace

void run(const pt::Context& context, const Program& program) {
  const Settings settings = with_attention(program.settings, has_fused_attention(context.device()));
  const Estimate estimate = estimate_step(settings, program.data, context.topology(), context.machine(),
                                          context.rank(), space_of(context.device()));
  require_memory(estimate, settings, memory_of_a_rank(context));
  const std::filesystem::path folder = program.output;
  report::make_folder(context, folder);
  const std::string path = program.text.empty() ? usual_text() : program.text;
  const std::string text = read_text(context, path);
  Execution execution(context);
  Model model(execution, settings, mesh_of(context.size(), program.data));
  std::int64_t step = 0;
  if (program.restart.empty()) {
    model.parameters().initialize(settings.seed);
  } else {
    step = read_checkpoint(context, program.restart, model);
  }
  report::print_line(context, heading(program, estimate, context.size()));
  report::print_line(context, fmt::format("text: {}, {} bytes", path, text.size()));
  Losses losses;
  while (step < program.steps) {
    const std::int64_t from = step, to = std::min(step + program.look_every, program.steps);
    const auto start = Clock::now();
    while (step < to) {
      ++step;
      losses.add(step, train(context, model, program, text, step));
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    report::print_line(context, fmt::format("step {:6}  loss {:.4f}  {:.3f} s a step", step,
                                            losses.list.back(), seconds / static_cast<double>(to - from)));
    if (program.checkpoint) write_checkpoint(folder / "checkpoint.h5", model, step);
  }
  const std::string written = sample(execution, model, program.sample);
  pt::rank_zero(context, [&] {
    pt::write_file(folder / "loss.txt", losses.book);
    pt::write_file(folder / "sample.txt", written);
    if (!losses.list.empty()) draw_losses(folder / "loss.png", losses.list);
    fmt::print("transformer: {} has {}loss.txt, loss.png and sample.txt. It writes:\n{}{}\n", folder.string(),
               program.checkpoint ? "checkpoint.h5, " : "", program.sample.prompt, written);
  });
}

void dry_run(const Program& program, int ranks, const std::string& machine, const pt::Device& device) {
  const pt::MemorySpace space = space_of(device);
  const pt::Machine described = machine.empty() ? usual_machine(space) : pt::Machine::find(machine);
  const pt::Topology topology = pt::Topology::regular(ranks, described.ranks_per_node);
  // Of devices that are described rather than there, it is taken that they have all kernels.
  const Settings settings = with_attention(program.settings, space == pt::MemorySpace::device);
  const Estimate estimate = estimate_step(settings, program.data, topology, described, 0, space);
  fmt::print("{}, on \"{}\"\n", heading(program, estimate, ranks), described.name);
  struct Sum {
    int times = 0;
    double node = 0, network = 0;
  };
  std::map<std::string, Sum> sums;
  for (const pt::ExecutedTraffic& one : estimate.executions()) {
    for (Sum* const sum : {&sums[one.operation + " " + one.method], &sums["together"]}) {
      ++sum->times;
      sum->node += static_cast<double>(one.traffic.node_bytes) / 1e6;
      sum->network += static_cast<double>(one.traffic.network_bytes) / 1e6;
    }
  }
  fmt::print("{:<40} {:>6} {:>16} {:>16}\n", "what rank 0 receives in a step", "times", "of its node, MB",
             "of others, MB");
  for (const auto& [name, sum] : sums) {
    fmt::print("{:<40} {:>6} {:>16.3f} {:>16.3f}\n", name, sum.times, sum.node, sum.network);
  }
  fmt::print("memory of a rank: {} bytes of arrays, {} of plans", estimate.array_bytes(),
             estimate.scratch_bytes());
  if (estimate.context_bytes() > 0) fmt::print(", {} of the device's context", estimate.context_bytes());
  fmt::print("\n");
}

}  // namespace transformer
