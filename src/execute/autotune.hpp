// The fastest of several plans for the same thing, by trial.
#pragma once

#include <functional>
#include <partita/error.hpp>
#include <partita/plan.hpp>
#include <string>
#include <utility>
#include <vector>

namespace partita {
struct ContextState;
}

namespace partita::execution {

/// Times plans, each the same on every rank. Collective, blocking, but for its making.
class Trials {
 public:
  Trials(ContextState& context, std::string operation, int runs)
      : context_(context), operation_(std::move(operation)), runs_(runs) {}

  /// Whether this is on every rank a plan that was asked for before: small problems have the same under many
  /// names.
  bool known(const Plan& plan);
  /// Seconds of the slowest rank's median run; one more comes first and warms up.
  double measure(const std::function<void()>& run) const;

 private:
  ContextState& context_;
  std::string operation_;
  int runs_;
  std::vector<std::string> steps_;  // of the plans so far
};

/// The fastest of the runners that `make(variant)` gives, which throws ArgumentError, on every rank, where a
/// variant does not suit; null: none suits. `run(runner)` runs one, `after()` follows the runs of each.
template <class Variants, class Make, class Run, class After>
auto fastest_of(Trials trials, const Variants& variants, const Make& make, const Run& run,
                const After& after) {
  decltype(make(*variants.begin())) best;
  double best_seconds = 0;
  for (const auto& variant : variants) {
    decltype(best) runner;
    try {
      runner = make(variant);
    } catch (const ArgumentError&) {
      continue;
    }
    if (trials.known(runner->plan())) continue;
    const double seconds = trials.measure([&] { run(*runner); });
    after();
    if (best && seconds >= best_seconds) continue;
    best = std::move(runner);
    best_seconds = seconds;
  }
  return best;
}

}  // namespace partita::execution
