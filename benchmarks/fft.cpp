// Three-dimensional transforms in f64, one thread per rank. Bound ("fftw_threads"): FFTW, a thread per core,
// out of place, planned with FFTW_MEASURE, in a separate process while our ranks sleep. Peer: FFTW-MPI on
// the same ranks, in place; it leaves the result where ours does: as the input was, or transposed.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <partita/fft.hpp>

#include "benchmarks/apart.hpp"
#include "benchmarks/benchmark.hpp"
#include "benchmarks/cuda_fft.hpp"
#include "benchmarks/fft_on_devices.hpp"
#include "benchmarks/fftw.hpp"
#include "benchmarks/fftw_mpi.hpp"

namespace partita::benchmarks {
namespace {

struct Size {
  std::string name;
  Shape shape;
  bool real = false;
};

/// A benchmark of wrong numbers is worth nothing: a serial transform of the whole array.
void check_result(const Context& context, const Size& size, const Array& input, const Array& output,
                  const std::string& name) {
  const Array whole = gather(input);
  std::optional<Fftw> serial;
  if (context.rank() == 0) {
    serial.emplace(size.shape, size.real, 1, false);
    const auto* const numbers = static_cast<const double*>(whole.local().data);
    std::copy_n(numbers, volume(size.shape) * (size.real ? 1 : 2), serial->input());
    serial->run();
  }
  void* const result = serial ? serial->output() : nullptr;
  const Array expected =
      scatter(context, View::dense(result, Dtype::c128, output.shape()), output.shape(), Slab(0));
  // Inputs are in [-1, 1): results are of the size of sqrt(N), errors some eps of that.
  const double tolerance = 1e-14 * std::sqrt(static_cast<double>(volume(size.shape)));
  if (!(compare(expected, output).largest_difference <= tolerance))
    throw Error(name + ": the result is wrong");
}

std::optional<Result> run(const Context& world, const Options& options, const Size& size,
                          const std::string& name, bool transposed, int ranks_per_node) {
  std::optional<Context> apart_ranks;  // the same ranks, each on a separate node
  if (ranks_per_node > 0) {
    ContextOptions own_nodes;
    own_nodes.ranks_per_node = ranks_per_node;
    apart_ranks.emplace(initialize(own_nodes));
  }
  const Context& context = apart_ranks ? *apart_ranks : world;
  Array input = empty(context, size.shape, Slab(0), size.real ? Dtype::f64 : Dtype::c128);
  fill_random(input, 1);
  FftOptions how;
  how.kind = size.real ? FftKind::r2c : FftKind::c2c;
  how.output = transposed ? Output::cheapest : Output::as_input;
  how.measure = true;
  FFT plan(context, input.operand(), how);
  Array output = empty(context, plan.output().layout, Dtype::c128);
  fill(output, std::complex<double>());  // touched before
  plan.reset(input, output);

  std::vector<Contender> contenders{{"ours", [&] { plan.execute(); }}};
  std::optional<Apart> apart;
  if (context.rank() == 0)
    apart.emplace(apart_command("fftw:" + std::string(size.real ? "r2c:" : "c2c:") + to_string(size.shape)));
  contenders.push_back({"fftw_threads", {}, {}, [&] { return apart->work(); }});
  const std::unique_ptr<FftwMpi> peer = make_fftw_mpi(context, size.shape, size.real, transposed);
  if (peer) contenders.push_back({"fftw_mpi", [&] { peer->run(); }, [&] { peer->prepare(); }});

  const std::vector<double> seconds = measure(context, contenders, options.runs);
  plan.execute();
  check_result(context, size, input, output, name);
  Result result{"fft",      name, context.size(), volume(size.shape) * size_of(input.dtype()),
                seconds[0], {},   "fftw_threads", seconds[1]};
  if (peer) result.peers["fftw_mpi"] = seconds[2];
  return result;
}

/// Back from a half spectrum, which stays as it is. Bound ("forward"): the transform to it, by the same plan.
std::optional<Result> run_back(const Context& context, const Options& options, const Shape& shape,
                               const std::vector<int>& axes, const std::string& name) {
  constexpr std::int64_t least_points = std::int64_t{1} << 22;  // of one timed run
  Array input = empty(context, shape, Slab(0), Dtype::f64);
  fill_random(input, 1);
  FFT plan(context, input.operand(), {.kind = FftKind::r2c, .axes = axes});
  Array spectrum = empty(context, plan.output().layout, Dtype::c128);
  Array back = zeros(context, shape, Slab(0), Dtype::f64);
  const std::int64_t times = std::max<std::int64_t>(1, least_points / volume(shape));
  const auto repeated = [times](const std::function<void()>& run) {
    return [=] {
      for (std::int64_t i = 0; i < times; ++i) run();
    };
  };
  const std::vector<Contender> contenders{{"ours", repeated([&] { plan.inverse(spectrum, back); })},
                                          {"forward", repeated([&] { plan.execute(input, spectrum); })}};
  plan.execute(input, spectrum);
  const std::vector<double> seconds = measure(context, contenders, options.runs);
  if (!(compare(input, back).largest_difference <= 1e-13)) throw Error(name + ": the result is wrong");
  const auto calls = static_cast<double>(times);
  return Result{"fft", name,      context.size(),    volume(shape) * size_of(Dtype::f64), seconds[0] / calls,
                {},    "forward", seconds[1] / calls};
}

}  // namespace

std::vector<Case> fft_cases() {
  std::vector<Case> cases;
  const auto add = [&](const Size& size, const std::string& variant, bool transposed, int ranks_per_node) {
    const std::string name = size.name + "/" + variant;
    cases.push_back({"fft", name, {2, 4}, [=](const Context& context, const Options& options) {
                       return run(context, options, size, name, transposed, ranks_per_node);
                     }});
  };
  for (const Size& size : {Size{"cube-128", {128, 128, 128}, false}, Size{"cube-256", {256, 256, 256}, false},
                           Size{"uneven", {181, 217, 181}, false}}) {
    add(size, "transposed", true, 0);
    add(size, "natural", false, 0);
  }
  add({"real-256", {256, 256, 256}, true}, "transposed", true, 0);
  add({"cube-256", {256, 256, 256}, false}, "messages", true, 1);
  const auto add_back = [&](const std::string& size, const Shape& shape, const std::vector<int>& axes) {
    const std::string name = size + "/back";
    cases.push_back({"fft", name, {1, 2, 4}, [=](const Context& context, const Options& options) {
                       return run_back(context, options, shape, axes, name);
                     }});
  };
  add_back("real-lines-1024", {1024, 1024}, {1});
  add_back("real-lines-1025", {1024, 1025}, {1});
  add_back("real-1024x1024", {1024, 1024}, {});
  add_back("real-128", {128, 128, 128}, {});
  for (Case& one : cuda_fft_cases()) cases.push_back(std::move(one));
  for (Case& one : fft_on_devices_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace partita::benchmarks
