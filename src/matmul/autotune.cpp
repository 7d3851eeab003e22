#include "matmul/autotune.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "runtime/agree.hpp"
#include "runtime/collective.hpp"
#include "runtime/exchange_values.hpp"

namespace partita::multiplication {
namespace {

constexpr std::array methods{
    MatmulMethod::local,          MatmulMethod::all_gather,
    MatmulMethod::reduce_scatter, MatmulMethod::all_reduce,
    MatmulMethod::summa_c,        MatmulMethod::summa_a,
    MatmulMethod::summa_b,        MatmulMethod::communication_avoiding,
};

/// This rank's part of an array, kept and put back.
class Kept {
 public:
  explicit Kept(const Array& array) : array_(array) {
    Array::State state = *array.state();
    memory_.resize(static_cast<std::size_t>(array.local_size() * size_of(array.dtype())));
    state.local = View::dense(memory_.data(), array.dtype(), array.local_shape());
    copy_ = Array(std::make_shared<Array::State>(std::move(state)));
    copy(array_, copy_);
  }
  void put_back() { copy(copy_, array_); }

 private:
  Array array_;
  std::vector<char> memory_;
  Array copy_;
};

/// Null where the method does not suit: then on every rank.
std::shared_ptr<Runner> attempt(ContextState& context, Setting setting, MatmulMethod method) {
  setting.options.method = method;
  try {
    return plan_together(context, [&] { return setting; });
  } catch (const ArgumentError&) {
    return nullptr;
  }
}

/// The steps as text, whatever the method that made them calls itself and was asked for as.
std::string steps_of(Plan plan) {
  plan.method.clear();
  plan.reason.clear();
  plan.identity.clear();  // among those that are timed, only the method differs in it
  return explain(plan, {ExplainOptions::Format::json, true});
}

/// Whether this is on every rank a plan that was timed before: small problems have the same under many names.
bool timed_before(ContextState& context, const Plan& plan, std::vector<std::string>& timed) {
  std::string steps = steps_of(plan);
  std::string places;  // where it is among those that were timed
  for (std::size_t i = 0; i < timed.size(); ++i) places += timed[i] == steps ? '=' : ' ';
  timed.push_back(std::move(steps));
  const std::vector<std::string> all = exchange(context, "matmul autotune", places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (std::ranges::all_of(all, [&](const std::string& theirs) { return theirs[i] == '='; })) return true;
  }
  return false;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double measure(ContextState& context, Runner& runner, const Request& request, int runs) {
  const auto arrays = in_plan_order(request, runner.setting().options);
  const MatmulOptions& options = runner.setting().options;
  std::vector<double> seconds;
  for (int i = 0; i <= runs; ++i) {  // the first one warms up
    barrier(context, "matmul autotune");
    const auto start = std::chrono::steady_clock::now();
    runner.run(arrays, {options.alpha, options.beta, 1});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (i > 0) seconds.push_back(took.count());
  }
  return largest_of_ranks(context, "matmul autotune", median(std::move(seconds)));
}

}  // namespace

std::shared_ptr<Runner> fastest(ContextState& context, const Setting& setting, const Request& request,
                                int runs) {
  std::optional<Kept> kept;
  collectively(context, "matmul autotune", [&]() -> std::vector<Fact> {
    check(runs > 0, "autotune needs at least one run, not {}", runs);
    if (setting.in_place) kept.emplace(request.d);
    return {{"runs", std::to_string(runs)}};
  });
  std::shared_ptr<Runner> best;
  double best_seconds = 0;
  std::vector<std::string> timed;
  for (const MatmulMethod method : methods) {
    std::shared_ptr<Runner> runner = attempt(context, setting, method);
    if (!runner || timed_before(context, runner->plan(), timed)) continue;
    const double seconds = measure(context, *runner, request, runs);
    if (kept) kept->put_back();
    if (best && seconds >= best_seconds) continue;
    best = std::move(runner);
    best_seconds = seconds;
  }
  return best ? best : plan_together(context, [&] { return setting; });
}

}  // namespace partita::multiplication
