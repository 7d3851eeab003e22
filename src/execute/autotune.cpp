#include "execute/autotune.hpp"

#include <algorithm>
#include <chrono>

#include "context/context_state.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::execution {
namespace {

/// The steps as text, whatever the method that made them calls itself and was asked for as.
std::string steps_of(Plan plan) {
  plan.method.clear();
  plan.reason.clear();
  plan.identity.clear();  // among those that are timed, only the method differs in it
  return explain(plan, {ExplainOptions::Format::json, true});
}

}  // namespace

bool Trials::known(const Plan& plan) {
  std::string steps = steps_of(plan);
  std::string places;  // where it is among those so far
  for (const std::string& other : steps_) places += other == steps ? '=' : ' ';
  steps_.push_back(std::move(steps));
  const std::vector<std::string> all = runtime::exchange(context_, operation_, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (std::ranges::all_of(all, [&](const std::string& theirs) { return theirs[i] == '='; })) return true;
  }
  return false;
}

double Trials::measure(const std::function<void()>& run) const {
  std::vector<double> seconds;
  for (int i = 0; i <= runs_; ++i) {
    runtime::barrier(context_, operation_);
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (i > 0) seconds.push_back(took.count());
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return runtime::largest_of_ranks(context_, operation_, *middle);
}

}  // namespace partita::execution
