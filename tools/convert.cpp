// partita convert: .npy to HDF5 and back, read and written by all ranks, through any distribution.
#include <fmt/format.h>

#include <filesystem>
#include <partita/astype.hpp>
#include <partita/io.hpp>
#include <partita/redistribute.hpp>

#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/progress.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools::convert_command {

struct Options {
  std::string input, output, dataset = "data";
  std::optional<Distribution> through;
  std::optional<Order> order;
  std::optional<Dtype> dtype;
  std::vector<int> axes;
  int ranks = usual_ranks();
};

bool is_npy(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (suffix == ".npy") return true;
  if (suffix == ".h5" || suffix == ".hdf5" || suffix == ".hdf") return false;
  throw UsageError(fmt::format("{}: the suffix must be .npy, .h5 or .hdf5", path));
}

// All that can be wrong is found before any rank starts.
struct Job {
  FileHeader header;
  Distribution as_read, through;
  Order order;
};

Job prepare(const Options& options) {
  const bool to_npy = is_npy(options.output);
  const FileHeader header =
      is_npy(options.input) ? inspect_npy(options.input) : inspect_hdf5(options.input, options.dataset);
  if (!options.axes.empty() && static_cast<int>(options.axes.size()) != header.shape.size()) {
    throw UsageError(fmt::format("--axes names {} dimensions; {} has {}", options.axes.size(), options.input,
                                 header.shape.size()));
  }
  if (!to_npy && options.order == Order::column_major)
    throw UsageError("HDF5 has C order only; reverse the dimensions with --axes instead");
  if (options.dtype && is_complex(header.dtype) && !is_complex(*options.dtype)) {
    throw UsageError(
        fmt::format("--dtype {}: {} holds {}; which part of its complex numbers is meant is not said",
                    name(*options.dtype), options.input, name(header.dtype)));
  }
  const Distribution as_read = file_distribution(header);
  return {header, as_read, options.through.value_or(as_read),
          options.order.value_or(to_npy ? header.order : Order::row_major)};
}

void report(const Options& options, const Array& array, const Context& context, const Progress& progress,
            bool moved) {
  const auto bytes = static_cast<double>(volume(array.shape()) * size_of(array.dtype()));
  fmt::print("{} -> {}: {} {}, {} through {} on {}\n", options.input, options.output,
             to_string(array.shape()), name(array.dtype()), describe_bytes(bytes),
             array.layout().distribution().to_string(), count_of(context.size(), "rank"));
  progress.print([&](const std::string&, double seconds) { return describe_rate(bytes, seconds); },
                 moved ? "" : "redistribute");
}

void convert_on(Context& context, const Options& options, const Job& job) {
  const bool speaks = context.rank() == 0;
  Progress progress({"read", "redistribute", "write"}, speaks);
  Array array = is_npy(options.input) ? read_npy(context, options.input, job.as_read)
                                      : read_hdf5(context, options.input, options.dataset, job.as_read);
  if (options.dtype && *options.dtype != array.dtype()) array = astype(array, *options.dtype);
  progress.next();
  const bool moves = !options.axes.empty() || !(job.through == job.as_read);
  if (moves) array = redistribute(array, job.through, {.axes = options.axes, .order = job.order});
  progress.next();
  if (is_npy(options.output)) {
    write_npy(options.output, array, job.order);
  } else {
    write_hdf5(options.output, options.dataset, array);
  }
  context.barrier();
  progress.done();
  if (speaks) report(options, array, context, progress, moves);
}

void convert(const Options& options) {
  const Job job = prepare(options);
  on_ranks(options.ranks, [&](Context& context) { convert_on(context, options, job); });
}

void describe(Subcommand& command, Options& options) {
  command.word("IN", options.input, "file to read: .npy, .h5 or .hdf5").required();
  command.word("OUT", options.output, "file to write; it lands whole or not at all").required();
  command.distribution("-d,--distribution", options.through, "through this one (slabs of the file)",
                       "slab:0");
  command.word("--dataset", options.dataset, "the dataset in the HDF5 file (data)", "NAME");
  command.order(options.order, "order of the elements in an .npy file: c or f (as it was)");
  command.dtype(options.dtype, "of the elements in OUT (as they are): rounded, or for integers cut off");
  command.axes(options.axes, "transpose: dimension i of OUT is dimension axes[i] of IN");
  command.ranks(options.ranks);
  command.footer(
      examples("partita convert brain.npy brain.h5\n"
               "partita convert -n 4 -d block-cyclic:2x2:64x64 a.h5 a.npy --dataset group/a --order f\n"
               "partita convert counts.npy field.npy --dtype f32"));
}

const Register registered("convert", ".npy to HDF5 and back, through any distribution", describe, convert);

}  // namespace partita::tools::convert_command
