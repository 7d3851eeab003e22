// partita fft: Fourier, cosine and sine transforms of .npy and HDF5 files, read, transformed and written by
// all ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <partita/fft.hpp>

#include "tools/array_file.hpp"
#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/progress.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools::fft_command {

struct Options {
  std::string input, output, dataset = "data";
  std::optional<FftKind> kind;
  std::optional<bool> orthogonalize;
  Shape grid;
  FftOptions how;
  bool explain = false;
  bool on_gpu = false;
  int ranks = usual_ranks();
};

// What can be wrong is found before any rank starts.
struct Job {
  ArrayFile input, output;
  FileHeader header;
  Distribution as_read;
  FftOptions how;
};

Job prepare(const Options& options) {
  const ArrayFile input = array_file(options.input, options.dataset);
  const ArrayFile output = array_file(options.output, options.dataset);
  check_order(output, options.how.order, "omit --order");
  const FileHeader header = inspect(input);
  if (header.shape.empty()) throw UsageError(fmt::format("{}: a scalar has no transform", options.input));
  Job job{input, output, header, file_distribution(header), options.how};
  FftOptions& how = job.how;
  how.kind = options.kind.value_or(usual_kind(header.dtype));
  how.orthogonalize = options.orthogonalize;
  for (const std::int64_t extent : options.grid) how.grid.push_back(static_cast<int>(extent));
  // Without a wish the cheapest: the file looks the same wherever its parts come from.
  how.output = how.distribution ? Output::given : Output::cheapest;
  // Refuses what cannot be transformed, as every rank would.
  FftOptions alone = how;
  alone.output = Output::as_input;
  alone.distribution.reset();
  alone.method = FftMethod::automatic;
  alone.grid.clear();
  alone.exchange = FftExchange::automatic;
  (void)result_layout(Operand::of(Layout(job.as_read, header.shape, 1), header.dtype), Topology::regular(1),
                      alone);
  return job;
}

/// Operations of all ranks, a complex line of n as 5 n log2 n and a real one as half of that.
double operations_of(const Shape& from, const Shape& to, const FftOptions& how) {
  const double points = static_cast<double>(std::max(volume(from), volume(to)));
  double stages = 0;
  for (int axis = 0; axis < from.size(); ++axis) {
    const bool wanted = how.axes.empty() || std::ranges::find(how.axes, axis) != how.axes.end();
    if (wanted) stages += std::log2(static_cast<double>(std::max<std::int64_t>(2, from[axis])));
  }
  return (how.kind == FftKind::c2c ? 5 : 2.5) * points * stages;
}

void report(const Options& options, const Job& job, const FFT& plan, const Array& result,
            const Context& context, const Progress& progress) {
  fmt::print("{} -> {}: {}{} of {} {} to {} {}, by {} into {} on {}\n", options.input, options.output,
             job.how.inverse ? "inverse " : "", fft_kinds.of(job.how.kind), to_string(job.header.shape),
             name(job.header.dtype), to_string(result.shape()), name(result.dtype()), plan.plan().method,
             result.layout().distribution().to_string(), count_of(context.size(), "rank"));
  const double count = operations_of(job.header.shape, result.shape(), job.how);
  progress.print([&](const std::string& phase, double seconds) {
    return phase == "transform" && seconds > 0 ? fmt::format("{:.2f} GF/s", count / seconds / 1e9) : "";
  });
}

void transform_on(Context& context, const Options& options, const Job& job) {
  const bool speaks = context.rank() == 0;
  Progress progress({"read", "plan", "transform", "write"}, speaks);
  const ArrayOptions as_it_lies{.order = job.header.order};
  const Array input = read(context, job.input, job.as_read, as_it_lies);
  progress.next();
  FFT plan(context, input.operand(), job.how);
  Array result = empty(context, plan.output().layout, plan.output().dtype, {.order = job.how.order});
  progress.next();
  plan.execute(input, result);
  progress.next();
  write(job.output, result, job.how.order);
  context.barrier();
  progress.done();
  if (!speaks) return;
  if (options.explain) fmt::print("{}", plan.explain());
  report(options, job, plan, result, context, progress);
}

void transform(const Options& options) {
  const Job job = prepare(options);
  ContextOptions where;
  where.device = options.on_gpu ? usable_gpu() : Device::cpu();
  on_ranks(
      options.ranks, [&](Context& context) { transform_on(context, options, job); }, where);
}

void describe(Subcommand& command, Options& options) {
  FftOptions& how = options.how;
  command.word("IN", options.input, ".npy, .h5 or .h5:DATASET, of f32, f64, c64 or c128").required();
  command
      .word("-o,--output", options.output, "the result, .npy or HDF5; written completely or not at all",
            "OUT")
      .required();
  command.word("--dataset", options.dataset, "dataset of an HDF5 file given without one (data)", "NAME");
  command.choice("--kind", options.kind, fft_kinds,
                 "kind of the transform (r2c for real input, c2c for complex)", "c2c|r2c|c2r|dct2|...");
  command.axes(how.axes, "axes to transform; r2c halves the last one named (all)");
  command.flag("--inverse", how.inverse, "compute the inverse transform");
  command.choice("--norm", how.norm, norms,
                 "which transform has the factor 1/N: the inverse, each its root, or the forward",
                 "backward|ortho|forward");
  command.choice("--orthogonalize", options.orthogonalize, yes_or_no,
                 "for dct and dst: weight the ends of lines as SciPy does (with --norm ortho)", "yes|no");
  command.number("--last-length", how.last_length, 0,
                 "for c2r: points along the last axis (the even number)");
  command.distribution("-d,--distribution", how.distribution, "distribution of the result (the cheapest)",
                       "slab:1");
  command.choice("--method", how.method, fft_methods, "the decomposition (the cheapest by the cost model)");
  command.parsed("--grid", options.grid, parse_shape, "process grid of --method pencil (chosen)", "2x2");
  command.choice("--exchange", how.exchange, fft_exchanges,
                 "exchange between GPUs: copies, or stores by the preceding transform (the cheapest)");
  command.order(how.order, "order of the elements of the result (c)");
  command.flag("--measure", how.measure, "time local transforms during planning");
  command.word("--wisdom", how.wisdom_file, "FFTW's wisdom, read before and written after", "FILE");
  command.device(options.on_gpu, "device to transform on (cpu)");
  command.flag("--explain", options.explain, "also print the plan");
  command.ranks(options.ranks);
  command.footer(
      examples("partita fft brain.npy -o spectrum.npy -n 4 --explain\n"
               "partita fft spectrum.npy -o brain.npy --kind c2r --last-length 189\n"
               "partita fft x.npy -o y.npy --kind dct2 --axes 0,2 --norm ortho\n"
               "partita fft brain.npy -o spectrum.npy --device cuda -n 4"));
}

const Register registered("fft", "Fourier, cosine and sine transforms of .npy and HDF5 files, on all ranks",
                          describe, transform);

}  // namespace partita::tools::fft_command
