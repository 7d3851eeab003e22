// partita demo: the main job. A volume is spread block-cyclic, redistributed through slabs and pencils and
// back, checked bit for bit at each step, and drawn with its owners coloured.
#include "tools/demo.hpp"

#include <fmt/format.h>

#include <chrono>
#include <partita/redistribute.hpp>

#include "tools/command_line.hpp"
#include "tools/demo_apps.hpp"
#include "tools/job.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools {
namespace demo_command {

struct Options {
  std::string input;
  std::string output = "output";
  int ranks = 4;
  App app = App::redistribution;
  bool on_gpu = false;
};

// One redistribution, timed over all ranks, the first time with its plan and once again without.
struct Step {
  Array result;
  std::string method;
  double first_seconds = 0, seconds = 0;
};

Step take(const Context& context, const Array& source, const Distribution& destination) {
  Step step;
  step.first_seconds = seconds_of(context, [&] { step.result = redistribute(source, destination); });
  Redistribute planned(context, source.operand(), step.result.operand());
  step.method = planned.plan().method;
  planned.reset(source, step.result);
  step.seconds = seconds_of(context, [&] { planned.execute(); });
  return step;
}

void print_heading(const Volume& volume, const Context& context, double bytes) {
  const std::string origin = volume.path ? *volume.path : "a generated phantom (there is no data/mni152.npy)";
  fmt::print("demo: {}: {} {}, {} on {} ranks\n\n", origin, to_string(volume.shape), name(volume.dtype),
             describe_bytes(bytes), context.size());
  fmt::print("{:<28} {:<28} {:<10} {:>9} {:>10} {:>10} {:>11}  same bits\n", "from", "to", "method", "bytes",
             "first", "again", "bandwidth");
}

void print_step(const Distribution& from, const Distribution& to, const Step& step, double bytes,
                bool equal) {
  fmt::print("{:<28} {:<28} {:<10} {:>9} {:>10} {:>10} {:>11}  {}\n", from.to_string(), to.to_string(),
             step.method, describe_bytes(bytes), describe_seconds(step.first_seconds),
             describe_seconds(step.seconds), describe_rate(bytes, step.seconds), equal ? "yes" : "NO");
}

// Returns how many of the steps gave other bits.
int walk(const Context& context, const Array& original, const std::vector<Distribution>& distributions,
         double bytes) {
  Array current = original;
  int wrong = 0;
  for (std::size_t i = 1; i < distributions.size(); ++i) {
    const Step step = take(context, current, distributions[i]);
    const bool equal = compare(original, step.result).equal;
    if (context.rank() == 0) print_step(distributions[i - 1], distributions[i], step, bytes, equal);
    wrong += equal ? 0 : 1;
    current = step.result;
  }
  return wrong;
}

void draw(const Context& context, const Options& options, const Array& volume,
          const std::vector<Distribution>& distributions) {
  // What shows in the plane of the picture: blocks, slabs along the first axis, pencils along the last.
  const std::vector<Distribution> shown{distributions[0], distributions[1],
                                        distributions[static_cast<std::size_t>(volume.shape().size()) + 1]};
  const Array whole = gather(numbers_of(volume));
  if (context.rank() != 0) return;
  const std::string path = tools::draw(options.output, "demo.png", picture_of(whole, shown, context.size()));
  fmt::print("\ndemo: {} shows the middle slice by owner: {}, {}, {}\n", path, shown[0].to_string(),
             shown[1].to_string(), shown[2].to_string());
}

void demonstrate(Context& context, const Options& options, const Volume& volume) {
  const auto bytes = static_cast<double>(partita::volume(volume.shape) * size_of(volume.dtype));
  const auto distributions = way(volume.shape, context.size());
  const Array original = load(context, volume, distributions.front());
  if (context.rank() == 0) print_heading(volume, context, bytes);
  const int wrong = walk(context, original, distributions, bytes);
  draw(context, options, original, distributions);
  const std::size_t steps = distributions.size() - 1;
  if (wrong > 0)
    throw std::runtime_error(
        fmt::format("demo: {} of {} redistributions differ from the original", wrong, steps));
  if (context.rank() == 0) fmt::print("demo: all {} redistributions bit for bit equal\n", steps);
  demonstrate_matmul(context, options.output, volume);
  demonstrate_fourier(context, options.output, volume);
}

void run(const Options& options) {
  if (options.app != App::redistribution) {
    if (!options.input.empty()) throw UsageError("demo --app: these programs have no INPUT");
    ContextOptions where;
    where.device = options.on_gpu ? usable_gpu() : Device::cpu();
    return on_ranks(
        options.ranks, [&](Context& context) { demonstrate_app(context, options.app, options.output); },
        where);
  }
  if (options.on_gpu) throw UsageError("demo --device cuda needs a program: --app NAME");
  const Volume volume = choose_volume(options.input);
  on_ranks(options.ranks, [&](Context& context) { demonstrate(context, options, volume); });
}

void describe(Subcommand& command, Options& options) {
  command.word("INPUT", options.input, ".npy of two or three dimensions (data/mni152.npy)");
  command.ranks(options.ranks, "ranks to start (4)");
  command.choice(
      "--app", options.app, apps,
      "run another program: density (N-body), shallow-water (ocean) or transformer (language model)");
  command.device(options.on_gpu, "device of the program (cpu)");
  command.word("-o,--output", options.output, "folder for the picture (output)", "FOLDER");
  command.footer(
      "\"first\" includes planning and allocation, \"again\" neither; the bandwidth is that of "
      "\"again\".\n\n" +
      examples("partita demo\npartita demo my.npy -n 6\npartita demo --app density -n 2"));
}

const Register registered("demo", "redistribute a volume through all distributions and back", describe, run);

}  // namespace demo_command

double seconds_of(const Context& context, const std::function<void()>& work) {
  context.barrier();
  const auto begin = std::chrono::steady_clock::now();
  work();
  context.barrier();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace partita::tools
