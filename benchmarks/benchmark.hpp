// Fair timing: everything that is compared runs in one process group, turn by turn, and medians are quoted.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <partita/partita.hpp>
#include <string>
#include <vector>

namespace partita::benchmarks {

/// Something that is timed. `run` is called on all ranks at the same time; `prepare` before it, untimed.
struct Contender {
  std::string name;
  std::function<void()> run;
  std::function<void()> prepare = {};
  /// Instead of `run`, where another program does the work with all cores: called on rank 0, returns seconds;
  /// the other ranks sleep.
  std::function<double()> elsewhere = {};
  /// Instead of `run`, where a device is the clock: called on all ranks, returns this rank's seconds. The
  /// largest count.
  std::function<double()> on_device = {};
};

/// One line of the result.
struct Result {
  std::string operation;
  std::string benchmark;  ///< the case: "row-to-column/heap"
  int ranks = 0;
  std::int64_t bytes = 0;  ///< of the whole array
  double ours_s = 0;
  std::map<std::string, double> peers;
  std::string bound;
  double bound_s = 0;
};

struct Options {
  int runs = 7;  ///< interleaved runs, at least 7
};

/// Seconds of each contender: the median over `runs` rounds of the time from the first rank's start to the
/// last rank's end. In each round every contender runs once, in turn; behind one that runs elsewhere the next
/// runs once more before, which does not count, nor does the first round. Collective.
std::vector<double> measure(const Context& context, const std::vector<Contender>& contenders, int runs);

/// A case that can be asked for by name.
struct Case {
  std::string operation;
  std::string name;
  std::vector<int> ranks;  ///< numbers of ranks that it is meant for
  std::function<std::optional<Result>(const Context&, const Options&)>
      run;  ///< collective; nothing: not here
  Device::Kind device = Device::Kind::cpu;
};

std::vector<Case> redistribute_cases();
std::vector<Case> matmul_cases();
std::vector<Case> fft_cases();
std::vector<Case> collectives_cases();
std::vector<Case> calls_cases();
std::vector<Case> linalg_cases();
std::vector<Case> eigen_cases();
std::vector<Case> apps_cases();
std::vector<Case> apps_on_devices_cases();
std::vector<Case> all_cases();

/// `pattern` is a name or a shell pattern; empty matches all.
bool matches(const std::string& name, const std::string& pattern);

std::string to_json(const Result& result);  ///< one line
std::string table_header();
std::string to_table(const Result& result);  ///< one line

}  // namespace partita::benchmarks
