// partita fft: Fourier, cosine and sine transforms of .npy files, read, transformed and written by all ranks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <partita/fft.hpp>
#include <partita/io.hpp>

#include "tools/command_line.hpp"
#include "tools/fft_options.hpp"
#include "tools/job.hpp"
#include "tools/progress.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools {
namespace fft_command {

const std::vector<std::string> phases{"read", "plan", "transform", "write"};

struct Options {
  std::string input, output, kind, axes, norm = "backward", distribution, method = "automatic", grid, order;
  std::string wisdom;
  std::int64_t last_length = 0;
  bool inverse = false, measure = false, explain = false;
  int ranks = std::min(4, usable_cores());
};

// What can be wrong is found before any rank starts.
struct Job {
  FileHeader header;
  Distribution as_read = Replicated{};
  FftOptions how;
};

Job prepare(const Options& options) {
  Job job;
  job.header = inspect_npy(options.input);
  const Shape& shape = job.header.shape;
  if (shape.empty()) throw UsageError(fmt::format("{}: a scalar has no transform", options.input));
  job.as_read = Slab(job.header.order == Order::row_major ? 0 : shape.size() - 1);
  FftOptions& how = job.how;
  how.kind = options.kind.empty() ? usual_kind(job.header.dtype) : parse_fft_kind(options.kind);
  how.axes = parse_axes(options.axes);
  how.inverse = options.inverse;
  how.norm = parse_norm(options.norm);
  how.last_length = options.last_length;
  how.method = parse_fft_method(options.method);
  how.order = options.order == "f" ? Order::column_major : Order::row_major;
  how.measure = options.measure;
  how.wisdom_file = options.wisdom;
  if (!options.grid.empty()) {
    for (const std::int64_t extent : parse_shape(options.grid)) how.grid.push_back(static_cast<int>(extent));
  }
  how.output = Output::cheapest;  // the file looks the same wherever its parts come from
  if (!options.distribution.empty()) {
    how.output = Output::given;
    how.distribution = Distribution::parse(options.distribution);
  }
  // Refuses what cannot be transformed, as every rank would.
  const Operand input = Operand::of(Layout(job.as_read, shape, 1), job.header.dtype);
  FftOptions alone = how;
  alone.output = Output::as_input;
  alone.distribution.reset();
  alone.method = FftMethod::automatic;
  alone.grid.clear();
  (void)result_layout(input, Topology::regular(1), alone);
  return job;
}

/// Operations of all ranks, a complex line of n as 5 n log2 n and a real one as half of that.
double operations(const Shape& from, const Shape& to, const FftOptions& how) {
  const double points = static_cast<double>(std::max(volume(from), volume(to)));
  double stages = 0;
  for (int axis = 0; axis < from.size(); ++axis) {
    const bool wanted = how.axes.empty() || std::ranges::find(how.axes, axis) != how.axes.end();
    if (wanted) stages += std::log2(static_cast<double>(std::max<std::int64_t>(2, from[axis])));
  }
  return (how.kind == FftKind::c2c ? 5 : 2.5) * points * stages;
}

void report(const Options& options, const Job& job, const FFT& plan, const Array& result,
            const Context& context, const std::vector<double>& seconds) {
  fmt::print("{} -> {}: {}{} of {} {} to {} {}, by {} into {} on {} rank{}\n", options.input, options.output,
             job.how.inverse ? "inverse " : "", name_of(job.how.kind), to_string(job.header.shape),
             name(job.header.dtype), to_string(result.shape()), name(result.dtype()), plan.plan().method,
             result.layout().distribution().to_string(), context.size(), context.size() == 1 ? "" : "s");
  double total = 0;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const bool computes = phases[i] == "transform";
    const double count = operations(job.header.shape, result.shape(), job.how);
    const std::string rate =
        computes && seconds[i] > 0 ? fmt::format("{:.2f} GF/s", count / seconds[i] / 1e9) : "";
    fmt::print("  {:<10}{:>9}  {:>11}\n", phases[i], describe_seconds(seconds[i]), rate);
    total += seconds[i];
  }
  fmt::print("  {:<10}{:>9}\n", "in all", describe_seconds(total));
}

void transform_on(Context& context, const Options& options, const Job& job) {
  const bool speaks = context.rank() == 0;
  Progress progress(phases, speaks);
  const ArrayOptions as_it_lies{Residency::heap, job.header.order};
  const Array input = read_npy(context, options.input, job.as_read, as_it_lies);
  progress.next();
  FFT plan(context, input.operand(), job.how);
  Array result = empty(context, plan.output().layout, plan.output().dtype, {Residency::heap, job.how.order});
  progress.next();
  plan.execute(input, result);
  progress.next();
  write_npy(options.output, result, job.how.order);
  context.barrier();
  progress.done();
  if (!speaks) return;
  if (options.explain) fmt::print("{}", plan.explain());
  report(options, job, plan, result, context, progress.seconds());
}

void add_transform(CLI::App& command, Options& options) {
  command.add_option("IN", options.input, ".npy of f32, f64, c64 or c128")->required();
  command.add_option("-o,--output", options.output, "the result, .npy; it lands whole or not at all")
      ->required()
      ->type_name("OUT.npy");
  command.add_option("--kind", options.kind, "of the transform (r2c of real numbers, c2c of complex ones)")
      ->check(CLI::IsMember(fft_kind_names()).description(""))
      ->type_name("c2c|r2c|c2r|dct2|...");
  command.add_option("--axes", options.axes, "which to transform; r2c halves the last named (all)")
      ->type_name("0,1,2");
  command.add_flag("--inverse", options.inverse, "the inverse of the kind");
  command
      .add_option("--norm", options.norm, "who has the 1/N: the inverse, each its root, or the forward one")
      ->check(CLI::IsMember({"backward", "ortho", "forward"}).description(""))
      ->type_name("backward|ortho|forward");
  command
      .add_option("--last-length", options.last_length, "of c2r: points along the last axis (the even one)")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("N");
}

void add_ways(CLI::App& command, Options& options) {
  command.add_option("-d,--distribution", options.distribution, "of the result (what costs least)")
      ->type_name("slab:1");
  command.add_option("--method", options.method, "the decomposition (the cheapest by the cost model)")
      ->check(CLI::IsMember(fft_method_names()).description(""))
      ->type_name("NAME");
  command.add_option("--grid", options.grid, "process grid of --method pencil (chosen)")->type_name("2x2");
  command.add_option("--order", options.order, "order of the elements of the result (c)")
      ->check(CLI::IsMember({"c", "f"}).description(""))
      ->type_name("c|f");
  command.add_flag("--measure", options.measure, "time local transforms when planning them");
  command.add_option("--wisdom", options.wisdom, "FFTW's wisdom, read before and written after")
      ->type_name("FILE");
  command.add_flag("--explain", options.explain, "print the plan too");
  command.add_option("-n,--ranks", options.ranks, "ranks to start (up to 4, one a core)")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N");
}

void add_fft(CLI::App& app) {
  auto* const command =
      app.add_subcommand("fft", "Fourier, cosine and sine transforms of .npy files, on all ranks");
  const auto options = std::make_shared<Options>();
  add_transform(*command, *options);
  add_ways(*command, *options);
  command->footer(
      examples("partita fft brain.npy -o spectrum.npy -n 4 --explain\n"
               "partita fft spectrum.npy -o brain.npy --kind c2r --last-length 189\n"
               "partita fft x.npy -o y.npy --kind dct2 --axes 0,2 --norm ortho"));
  command->callback([options] {
    const Job job = prepare(*options);
    on_ranks(options->ranks, [&](Context& context) { transform_on(context, *options, job); });
  });
}

const Register registered("fft", add_fft);

}  // namespace fft_command
}  // namespace partita::tools
