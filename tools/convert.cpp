// partita convert: .npy to HDF5 and back, read and written by all ranks, through any distribution.
#include <fmt/format.h>

#include <partita/astype.hpp>
#include <partita/redistribute.hpp>

#include "tools/array_file.hpp"
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

// All that can be wrong is found before any rank starts.
struct Job {
  ArrayFile input, output;
  FileHeader header;
  Distribution as_read, through;
  Order order;
};

Job prepare(const Options& options) {
  const ArrayFile output = array_file(options.output, options.dataset);
  const ArrayFile input = array_file(options.input, options.dataset);
  const FileHeader header = inspect(input);
  if (!options.axes.empty() && static_cast<int>(options.axes.size()) != header.shape.size()) {
    throw UsageError(fmt::format("--axes names {} dimensions; {} has {}", options.axes.size(), options.input,
                                 header.shape.size()));
  }
  check_order(output, options.order.value_or(Order::row_major), "reverse the dimensions with --axes instead");
  if (options.dtype && is_complex(header.dtype) && !is_complex(*options.dtype)) {
    throw UsageError(fmt::format("--dtype {}: {} holds {}; complex numbers cannot be converted to real ones",
                                 name(*options.dtype), options.input, name(header.dtype)));
  }
  const Distribution as_read = file_distribution(header);
  return {input,
          output,
          header,
          as_read,
          options.through.value_or(as_read),
          options.order.value_or(output.dataset ? Order::row_major : header.order)};
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
  Array array = read(context, job.input, job.as_read);
  if (options.dtype && *options.dtype != array.dtype()) array = astype(array, *options.dtype);
  progress.next();
  const bool moves = !options.axes.empty() || !(job.through == job.as_read);
  if (moves) array = redistribute(array, job.through, {.axes = options.axes, .order = job.order});
  progress.next();
  write(job.output, array, job.order);
  context.barrier();
  progress.done();
  if (speaks) report(options, array, context, progress, moves);
}

void convert(const Options& options) {
  const Job job = prepare(options);
  on_ranks(options.ranks, [&](Context& context) { convert_on(context, options, job); });
}

void describe(Subcommand& command, Options& options) {
  command.word("IN", options.input, "file to read: .npy, .h5 or .hdf5; FILE.h5:NAME names the dataset")
      .required();
  command.word("OUT", options.output, "file to write; written completely or not at all").required();
  command.distribution("-d,--distribution", options.through,
                       "distribution to convert through (slabs of the file)", "slab:0");
  command.word("--dataset", options.dataset, "dataset of an HDF5 file given without one (data)", "NAME");
  command.order(options.order, "order of the elements in an .npy file: c or f (unchanged)");
  command.dtype(options.dtype,
                "dtype of the elements in OUT (unchanged): rounded, or truncated for integers");
  command.axes(options.axes, "transpose: dimension i of OUT is dimension axes[i] of IN");
  command.ranks(options.ranks);
  command.footer(
      examples("partita convert brain.npy brain.h5\n"
               "partita convert -n 4 -d block-cyclic:2x2:64x64 a.h5 a.npy --dataset group/a --order f\n"
               "partita convert counts.npy field.npy --dtype f32"));
}

const Register registered("convert", "convert .npy to HDF5 and back, through any distribution", describe,
                          convert);

}  // namespace partita::tools::convert_command
