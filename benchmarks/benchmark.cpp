#include "benchmarks/benchmark.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace partita::benchmarks {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The largest of a number of all ranks (a scalar that is partial over them, with the reduction max).
class Largest {
 public:
  explicit Largest(const Context& context)
      : partial_(empty(context, Shape{1}, rule(context.size(), true), Dtype::f64)),
        whole_(empty(context, Shape{1}, rule(context.size(), false), Dtype::f64)),
        plan_(context, partial_.operand(), whole_.operand()) {}

  double operator()(double mine) {
    *partial_.data<double>() = mine;
    plan_.execute(partial_, whole_);
    return *whole_.data<double>();
  }

 private:
  static Distribution rule(int ranks, bool partial) {
    PartitionSpec spec;
    spec.dimensions.resize(1);
    if (partial) spec.partial_axes = {"r"};
    spec.partial_reduction = Reduction::max;
    return Partitioned{Mesh({{"r", ranks}}), spec};
  }

  Array partial_;
  Array whole_;
  Redistribute plan_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// The threads of another program's library may spin for so long after its work: they must not take a core
/// from the next contender.
constexpr std::chrono::milliseconds threads_spin{300};
/// Ranks that slept may wake up on one core, and ranks that wait for one another stay there: the scheduler
/// sees that both want to run only while both do. Every rank works alone for so long that it gets a core.
constexpr std::chrono::milliseconds scheduler_spreads{50};

void work_alone(std::chrono::steady_clock::duration duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

double time_once(const Context& context, Largest& largest, const Contender& contender) {
  if (contender.prepare) contender.prepare();
  context.barrier();
  if (contender.elsewhere) {
    const double seconds = largest(context.rank() == 0 ? contender.elsewhere() : 0.0);
    std::this_thread::sleep_for(threads_spin);
    work_alone(scheduler_spreads);
    return seconds;
  }
  if (contender.on_device) return largest(contender.on_device());
  const double start = now();
  contender.run();
  const double end = now();
  // The clock is the node's, the same for its ranks: the first start is the negative of the largest negated
  // one.
  const double last_end = largest(end);
  const double first_start = -largest(-start);
  return last_end - first_start;
}

/// Who comes after whom matters (caches), so both the first of a round and the direction change: forwards
/// everybody follows its left neighbour, backwards its right one. Some would follow another program more
/// often than others do (not all have it as a neighbour), so who does runs once more before: not timed.
std::size_t contender_of(int round, std::size_t turn, std::size_t count) {
  const std::size_t place = (turn + static_cast<std::size_t>(round / 2)) % count;
  return round % 2 == 0 ? place : count - 1 - place;
}

/// Short ones to a tenth of a microsecond.
std::string milliseconds(double seconds) {
  return fmt::format("{:.{}f}", seconds * 1e3, seconds < 1e-3 ? 4 : 2);
}

}  // namespace

std::vector<double> measure(const Context& context, const std::vector<Contender>& contenders, int runs) {
  Largest largest(context);
  std::vector<std::vector<double>> samples(contenders.size());
  bool is_cold = false;
  for (int round = 0; round <= runs; ++round) {
    for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
      const std::size_t i = contender_of(round, turn, contenders.size());
      const bool elsewhere = contenders[i].elsewhere != nullptr;
      if (is_cold && !elsewhere) time_once(context, largest, contenders[i]);
      const double seconds = time_once(context, largest, contenders[i]);
      is_cold = elsewhere;
      if (round > 0) samples[i].push_back(seconds);
    }
  }
  std::vector<double> medians;
  for (const auto& sample : samples) medians.push_back(median(sample));
  return medians;
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (auto* const cases : {redistribute_cases, matmul_cases, fft_cases, collectives_cases, calls_cases,
                            linalg_cases, eigen_cases, apps_cases, apps_on_devices_cases}) {
    for (Case& one : cases()) all.push_back(std::move(one));
  }
  return all;
}

bool matches(const std::string& name, const std::string& pattern) {
  return pattern.empty() || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::string to_json(const Result& result) {
  return nlohmann::ordered_json{{"operation", result.operation},
                                {"case", result.benchmark},
                                {"ranks", result.ranks},
                                {"bytes", result.bytes},
                                {"ours_s", result.ours_s},
                                {"peers", result.peers},
                                {"bound", result.bound},
                                {"bound_s", result.bound_s},
                                {"over_bound", result.ours_s / result.bound_s}}
      .dump();
}

std::string table_header() {
  return fmt::format("{:<28} {:>5} {:>9} {:>10} {:>10} {:>10}  {}", "case", "ranks", "MiB", "ours ms",
                     "bound ms", "over bound", "peers (ms, over ours)");
}

std::string to_table(const Result& result) {
  std::string line =
      fmt::format("{:<28} {:>5} {:>9.1f} {:>10} {:>10} {:>10.2f} ", result.benchmark, result.ranks,
                  static_cast<double>(result.bytes) / 1048576.0, milliseconds(result.ours_s),
                  milliseconds(result.bound_s), result.ours_s / result.bound_s);
  for (const auto& [name, seconds] : result.peers) {
    line += fmt::format(" {} {} ({:.2f}x)", name, milliseconds(seconds), seconds / result.ours_s);
  }
  return line;
}

}  // namespace partita::benchmarks
