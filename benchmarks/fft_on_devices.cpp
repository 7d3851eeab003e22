// Transforms of other fields on devices, in turn by copies and by stores where they can be stored. Bound: the
// library's redistribution from the input's layout to the result's, as often as the array is redistributed
// (where it does not, a copy); of Poisson's equation, the two transforms that it consists of.
#include "benchmarks/fft_on_devices.hpp"

#include <fmt/format.h>

#include <partita/device_report.hpp>
#include <partita/redistribute.hpp>
#include <partita/spectral.hpp>

namespace partita::benchmarks {
namespace {

struct Field {
  Shape shape;
  Dtype dtype = Dtype::c64;
  FftOptions how = {};
  Distribution in = Slab(0);
  Distribution between = Slab(1);  ///< in which the array is after the first change of hands
  int changes = 1;                 ///< of hands
  int turns = 5;
};

std::optional<Context> context_on_devices() {
  if (report_devices().devices.empty()) return std::nullopt;
  ContextOptions options;
  options.device = Device::cuda();
  return initialize(options);
}

Array made(const Context& context, const Layout& layout, Dtype dtype) {
  return empty(context, layout, dtype);
}

/// A benchmark of wrong numbers is worth nothing.
void check_back(FFT& plan, const Array& input, const Array& output, const std::string& name) {
  Array back = made(input.context(), input.layout(), input.dtype());
  plan.inverse(output, back);
  const bool single = input.dtype() == Dtype::c64 || input.dtype() == Dtype::f32;
  if (!(compare(back, input).largest_difference <= (single ? 1e-4 : 1e-10)))
    throw Error(name + ": there and back is something else");
}

std::optional<Result> run(const Context& world, const Options& options, const std::string& name,
                          const Field& field) {
  const std::optional<Context> context = context_on_devices();
  if (!context) return std::nullopt;
  Array input = empty(*context, field.shape, field.in, field.dtype);
  fill_random(input, 1);
  std::vector<FFT> plans;
  std::vector<std::string> names;
  for (const FftExchange exchange : {FftExchange::automatic, FftExchange::copies, FftExchange::stores}) {
    FftOptions how = field.how;
    how.exchange = exchange;
    FFT plan(*context, input.operand(), how);
    const bool stores = plan.plan().method.ends_with("+stores");
    if (exchange == FftExchange::stores && !stores) continue;
    plans.push_back(std::move(plan));
    names.push_back(exchange == FftExchange::automatic ? "ours"
                    : exchange == FftExchange::copies  ? "copies"
                                                       : "stores");
  }
  Array output = made(*context, plans.front().output().layout, plans.front().output().dtype);
  std::vector<Contender> contenders;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    FFT& plan = plans[i];
    contenders.push_back({names[i], [&context, &field, &input, &output, &plan] {
                            for (int turn = 0; turn < field.turns; ++turn)
                              plan.execute(input, output, 1, Stream{});
                            context->synchronize();
                          }});
  }
  const Array moved =
      made(*context, input.layout(), output.dtype() == input.dtype() ? input.dtype() : Dtype::f32);
  Array there =
      made(*context, field.changes > 0 ? Layout(field.between, field.shape, context->size()) : input.layout(),
           moved.dtype());
  Redistribute exchange(*context, moved.operand(), there.operand());
  contenders.push_back({"exchange", [&] {
                          for (int turn = 0; turn < field.turns * std::max(field.changes, 1); ++turn)
                            exchange.execute(moved, there, Stream{});
                          context->synchronize();
                        }});
  std::vector<double> seconds = measure(world, contenders, options.runs);
  for (double& time : seconds) time /= field.turns;
  for (FFT& plan : plans) {
    plan.execute(input, output);
    check_back(plan, input, output, name);
    plan.release();  // of 1024^3, the ways back of all of them and their own scratch fill a device
  }
  Result result{"fft",      name, context->size(), volume(field.shape) * size_of(field.dtype),
                seconds[0], {},   "exchange",      seconds.back()};
  for (std::size_t i = 1; i + 1 < seconds.size(); ++i) result.peers[names[i]] = seconds[i];
  return result;
}

std::optional<Result> poisson(const Context& world, const Options& options, const std::string& name,
                              std::int64_t n) {
  const std::optional<Context> context = context_on_devices();
  if (!context) return std::nullopt;
  constexpr int turns = 5;
  Array field = empty(*context, {n, n, n}, Slab(0), Dtype::f64);
  fill_random(field, 1);
  Array result = empty(*context, {n, n, n}, Slab(0), Dtype::f64);
  FFT transform(*context, field.operand(),
                {.kind = FftKind::r2c, .output = Output::cheapest, .overwrite_input = true});
  Array spectrum = made(*context, transform.output().layout, Dtype::c128);
  const std::vector<Contender> contenders{{"ours",
                                           [&] {
                                             for (int i = 0; i < turns; ++i)
                                               solve_poisson_into(field, result, {.stream = Stream{}});
                                             context->synchronize();
                                           }},
                                          {"transforms", [&] {
                                             for (int i = 0; i < turns; ++i) {
                                               transform.execute(field, spectrum, 1, Stream{});
                                               transform.inverse(spectrum, result, 1, Stream{});
                                             }
                                             context->synchronize();
                                           }}};
  const std::vector<double> seconds = measure(world, contenders, options.runs);
  if (!(compare(result, field).largest_difference <= 1e-10))
    throw Error(name + ": there and back is something else");
  return Result{
      "fft", name,         context->size(),   volume(field.shape()) * size_of(Dtype::f64), seconds[0] / turns,
      {},    "transforms", seconds[1] / turns};
}

FftOptions cheapest(FftKind kind = FftKind::c2c) {
  return {.kind = kind, .output = Output::cheapest};
}

FftOptions in_pencils() {
  FftOptions how = cheapest();
  how.grid = {2, 2};
  return how;
}

}  // namespace

std::vector<Case> fft_on_devices_cases() {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, const std::vector<int>& ranks, const auto& measured) {
    cases.push_back({"fft", name, ranks, measured, Device::Kind::cuda});
  };
  const auto add_field = [&](const std::string& name, const Field& field,
                             const std::vector<int>& ranks = {1, 2, 4}) {
    add(name, ranks,
        [=](const Context& world, const Options& options) { return run(world, options, name, field); });
  };
  const Distribution z_pencils = BlockNonCyclic(ProcessGrid({2, 2, 1}));
  for (const std::int64_t n : {256, 512, 1024}) {
    const std::string cube = fmt::format("field-{}/cuda/", n);
    const Shape shape{n, n, n};
    add_field(cube + "transposed", {shape, Dtype::c64, cheapest()});
    add_field(cube + "natural", {shape, Dtype::c64, {}, Slab(0), Slab(1), 2});
    if (n < 1024) add_field(cube + "c128-transposed", {shape, Dtype::c128, cheapest()});
    if (n > 256) add_field(cube + "r2c-transposed", {shape, Dtype::f32, cheapest(FftKind::r2c)});
    if (n > 256) {
      add_field(cube + "pencils",
                {shape, Dtype::c64, in_pencils(), z_pencils, BlockNonCyclic(ProcessGrid({2, 1, 2})), 2}, {4});
    }
  }
  for (const Shape& shape :
       {Shape{500, 500, 500}, Shape{720, 720, 720}, Shape{509, 509, 509}, Shape{181, 217, 181}}) {
    add_field(fmt::format("field-{}/cuda/transposed", fmt::join(shape, "x")),
              {shape, Dtype::c64, cheapest()});
  }
  FftOptions planes;
  planes.axes = {1, 2};
  add_field("batch-64x256x256/cuda/along-batch",
            {{64, 256, 256}, Dtype::c64, planes, Slab(0), Slab(0), 0, 20});
  add_field("batch-64x256x256/cuda/along-axis-1",
            {{64, 256, 256}, Dtype::c64, planes, Slab(1), Slab(0), 2, 20});
  add_field("line-2^30/cuda/four-step", {{std::int64_t{1} << 30}, Dtype::c64, {}, Slab(0), Slab(0), 0, 2});
  add("poisson-512/cuda/f64", {1, 2, 4}, [](const Context& world, const Options& options) {
    return poisson(world, options, "poisson-512/cuda/f64", 512);
  });
  return cases;
}

}  // namespace partita::benchmarks
