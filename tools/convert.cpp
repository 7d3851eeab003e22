// partita convert: .npy to HDF5 and back, read and written by all ranks, through any distribution.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <partita/io.hpp>
#include <partita/redistribute.hpp>

#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/progress.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools {
namespace convert_command {

struct Options {
  std::string input, output, distribution, dataset = "data", axes;
  std::string order;
  int ranks = std::min(4, usable_cores());
};

enum class Format : std::uint8_t { npy, hdf5 };

Format format_of(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (suffix == ".npy") return Format::npy;
  if (suffix == ".h5" || suffix == ".hdf5" || suffix == ".hdf") return Format::hdf5;
  throw UsageError(fmt::format("{}: the suffix must be .npy, .h5 or .hdf5", path));
}

FileHeader inspect(const Options& options) {
  return format_of(options.input) == Format::npy ? inspect_npy(options.input)
                                                 : inspect_hdf5(options.input, options.dataset);
}

// What every rank reads in one piece: slabs along the slowest dimension of the file.
Distribution file_distribution(const FileHeader& header) {
  if (header.shape.empty()) return Replicated{};
  return Slab(header.order == Order::row_major ? 0 : header.shape.size() - 1);
}

Array read(const Context& context, const Options& options, const Distribution& distribution) {
  return format_of(options.input) == Format::npy
             ? read_npy(context, options.input, distribution)
             : read_hdf5(context, options.input, options.dataset, distribution);
}

void write(const Options& options, Order order, const Array& array) {
  if (format_of(options.output) == Format::npy) return write_npy(options.output, array, order);
  write_hdf5(options.output, options.dataset, array);
}

// All that can be wrong is found before any rank starts.
struct Job {
  FileHeader header;
  Distribution through;
  std::vector<int> axes;
  Order order;
};

Job prepare(const Options& options) {
  const Format to = format_of(options.output);
  const FileHeader header = inspect(options);
  Job job{header, file_distribution(header), parse_axes(options.axes), Order::row_major};
  if (!job.axes.empty() && static_cast<int>(job.axes.size()) != header.shape.size()) {
    throw UsageError(fmt::format("--axes names {} dimensions; {} has {}", job.axes.size(), options.input,
                                 header.shape.size()));
  }
  if (!options.distribution.empty()) job.through = Distribution::parse(options.distribution);
  if (to == Format::npy && header.order == Order::column_major) job.order = Order::column_major;
  if (!options.order.empty()) job.order = options.order == "f" ? Order::column_major : Order::row_major;
  if (to == Format::hdf5 && options.order == "f") {
    throw UsageError("HDF5 has C order only; reverse the dimensions with --axes instead");
  }
  return job;
}

void report(const Options& options, const Array& array, const Context& context,
            const std::vector<double>& seconds) {
  const auto bytes = static_cast<double>(volume(array.shape()) * size_of(array.dtype()));
  fmt::print("{} -> {}: {} {}, {} through {} on {} rank{}\n", options.input, options.output,
             to_string(array.shape()), name(array.dtype()), describe_bytes(bytes),
             array.layout().distribution().to_string(), context.size(), context.size() == 1 ? "" : "s");
  const std::vector<const char*> phases{"read", "redistribute", "write"};
  double total = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (seconds[i] > 0) {
      fmt::print("  {:<13}{:>9}  {:>11}\n", phases[i], describe_seconds(seconds[i]),
                 describe_rate(bytes, seconds[i]));
    }
    total += seconds[i];
  }
  fmt::print("  {:<13}{:>9}  {:>11}\n", "in all", describe_seconds(total), describe_rate(bytes, total));
}

void convert_on(Context& context, const Options& options, const Job& job) {
  const bool speaks = context.rank() == 0;
  Progress progress({"read", "redistribute", "write"}, speaks);
  const Distribution as_read = file_distribution(job.header);
  Array array = read(context, options, as_read);
  progress.next();
  const bool moves = !job.axes.empty() || !(job.through == as_read);
  if (moves) array = redistribute(array, job.through, {.axes = job.axes, .order = job.order});
  progress.next();
  write(options, job.order, array);
  context.barrier();
  progress.done();
  std::vector<double> seconds = progress.seconds();
  if (!moves) seconds[1] = 0;
  if (speaks) report(options, array, context, seconds);
}

void add_convert(CLI::App& app) {
  auto* const command = app.add_subcommand("convert", ".npy to HDF5 and back, through any distribution");
  const auto options = std::make_shared<Options>();
  command->add_option("IN", options->input, "file to read: .npy, .h5 or .hdf5")->required();
  command->add_option("OUT", options->output, "file to write; it lands whole or not at all")->required();
  command->add_option("-d,--distribution", options->distribution, "through this one (slabs of the file)")
      ->type_name("slab:0");
  command->add_option("--dataset", options->dataset, "the dataset in the HDF5 file (data)")
      ->type_name("NAME");
  command->add_option("--order", options->order, "order of the elements in an .npy file: c or f (as it was)")
      ->check(CLI::IsMember({"c", "f"}).description(""))
      ->type_name("c|f");
  command->add_option("--axes", options->axes, "transpose: dimension i of OUT is dimension axes[i] of IN")
      ->type_name("2,1,0");
  command->add_option("-n,--ranks", options->ranks, "ranks to start (up to 4, one a core)")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N");
  command->footer(
      examples("partita convert brain.npy brain.h5\n"
               "partita convert -n 4 -d block-cyclic:2x2:64x64 a.h5 a.npy --dataset group/a --order f"));
  command->callback([options] {
    const Job job = prepare(*options);
    on_ranks(options->ranks, [&](Context& context) { convert_on(context, *options, job); });
  });
}

const Register registered("convert", add_convert);

}  // namespace convert_command
}  // namespace partita::tools
