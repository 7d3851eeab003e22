// Repeated one-line calls on small arrays. Bound: `execute` of the object that is planned once.
#include <cstring>
#include <functional>

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {
namespace {

constexpr std::int64_t small_extent = 8;
constexpr int repetitions = 1000;  // in one measurement, whose times are those of all of them

Result compared(const Context& context, const Options& options, const std::string& name,
                const std::function<void()>& call, const std::function<void()>& bound_call,
                const std::string& bound = "execute") {
  const auto repeated = [](const std::function<void()>& one) {
    return [one] {
      for (int i = 0; i < repetitions; ++i) one();
    };
  };
  const std::vector<double> seconds =
      measure(context, {{"ours", repeated(call)}, {bound, repeated(bound_call)}}, options.runs);
  return {"calls",    name, context.size(), repetitions * small_extent * small_extent * 8,
          seconds[0], {},   bound,          seconds[1]};
}

Array random_array(const Context& context, Dtype dtype, const Distribution& distribution = Slab(0)) {
  Array array = empty(context, {small_extent, small_extent}, distribution, dtype);
  fill_random(array, 1);
  return array;
}

std::optional<Result> matmul_calls(const Context& context, const Options& options) {
  const Array a = random_array(context, Dtype::f64), b = random_array(context, Dtype::f64);
  Array d = random_array(context, Dtype::f64);
  Matmul plan(context, {.a = a.operand(), .b = b.operand(), .d = d.operand()});
  plan.reset(a, b, nullptr, d);
  return compared(
      context, options, "matmul_into", [&] { matmul_into(a, b, nullptr, d); }, [&] { plan.execute(); });
}

std::optional<Result> redistribute_calls(const Context& context, const Options& options) {
  const Array source = random_array(context, Dtype::f64);
  Array destination = random_array(context, Dtype::f64, Slab(1));
  Redistribute plan(context, source.operand(), destination.operand());
  return compared(
      context, options, "redistribute_into", [&] { redistribute_into(source, destination); },
      [&] { plan.execute(source, destination); });
}

std::optional<Result> fft_calls(const Context& context, const Options& options) {
  const Array input = random_array(context, Dtype::c128);
  Array output = random_array(context, Dtype::c128);
  FFT plan(context, input.operand(), output.operand());
  return compared(
      context, options, "fft_into", [&] { fft_into(input, output); }, [&] { plan.execute(input, output); });
}

/// There is no object.
std::optional<Result> all_reduce_calls(const Context& context, const Options& options) {
  const Array source = random_array(context, Dtype::f64);
  Array destination = random_array(context, Dtype::f64);
  const View &from = source.local(), &to = destination.local();
  const auto bytes = static_cast<std::size_t>(source.local_size()) * sizeof(double);
  return compared(
      context, options, "all_reduce", [&] { all_reduce(context, from, to); },
      [&] { std::memcpy(to.data, from.data, bytes); }, "memcpy");
}

}  // namespace

std::vector<Case> calls_cases() {
  const std::vector<int> ranks{1, 2};
  return {{"calls", "matmul_into", ranks, matmul_calls},
          {"calls", "redistribute_into", ranks, redistribute_calls},
          {"calls", "fft_into", ranks, fft_calls},
          {"calls", "all_reduce", ranks, all_reduce_calls}};
}

}  // namespace partita::benchmarks
