// partita bench: the benchmarks, beside their peers and their bound in the same run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <partita/machine_report.hpp>

#include "benchmarks/apart.hpp"
#include "benchmarks/benchmark.hpp"
#include "tools/command_line.hpp"
#include "tools/device_option.hpp"
#include "tools/job.hpp"
#include "tools/launcher.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools {
namespace bench_command {

struct Options {
  std::string operation;
  std::string pattern;
  std::vector<int> ranks;
  int runs = 9;
  std::string json;
  std::string apart;
  std::string device;  ///< "cpu", "cuda"; empty: both
  bool list = false;
  bool heading = true;
};

bool on_wanted_device(const benchmarks::Case& candidate, const std::string& device) {
  return device.empty() || (device == "cuda") == (candidate.device == Device::Kind::cuda);
}

std::vector<benchmarks::Case> wanted_cases(const Options& options) {
  std::vector<benchmarks::Case> cases;
  for (benchmarks::Case& candidate : benchmarks::all_cases()) {
    const bool operation = options.operation.empty() || candidate.operation == options.operation;
    if (operation && on_wanted_device(candidate, options.device) &&
        benchmarks::matches(candidate.name, options.pattern)) {
      cases.push_back(std::move(candidate));
    }
  }
  if (cases.empty()) throw UsageError("no benchmark has this name; partita bench --list names them");
  return cases;
}

void list(const std::vector<benchmarks::Case>& cases) {
  for (const benchmarks::Case& one : cases) fmt::print("{} {}\n", one.operation, one.name);
}

void append(const std::string& path, const std::string& line) {
  std::ofstream file(path, std::ios::app);
  if (!(file << line << '\n').flush()) throw std::runtime_error(path + ": cannot write the results");
}

/// Products that are slow for another reason than ours.
void print_note_on_blas(const std::vector<benchmarks::Case>& cases) {
  if (std::ranges::none_of(cases, [](const auto& one) { return one.operation == "matmul"; })) return;
  const BlasReport blas = report_blas(false);
  if (blas.found && !blas.note.empty()) fmt::print(stderr, "note: {}\n", blas.note);
}

/// On the ranks of `context`, one case after the other.
void run_cases(const Context& context, const std::vector<benchmarks::Case>& cases, const Options& options) {
  const bool speaks = context.rank() == 0;
  if (speaks && options.heading) {
    print_note_on_blas(cases);
    fmt::print("{}\n", benchmarks::table_header());
  }
  for (const benchmarks::Case& one : cases) {
    const std::optional<benchmarks::Result> result = one.run(context, {options.runs});
    if (!speaks || !result) continue;
    fmt::print("{}\n", benchmarks::to_table(*result));
    std::fflush(stdout);
    if (!options.json.empty()) append(options.json, benchmarks::to_json(*result));
  }
}

void begin_json(const std::string& path) {
  if (path.empty()) return;
  if (!std::ofstream(path, std::ios::trunc)) throw std::runtime_error(path + ": cannot be written");
}

/// This command again as a job for each number of ranks: a process is a rank of one job only.
void run_jobs(const Options& options, const std::vector<int>& ranks) {
  const Launcher launcher = find_launcher("");
  if (launcher.kind == LauncherKind::none) throw std::runtime_error(launcher.problem);
  bool heading = true;
  for (const int count : ranks) {
    std::vector<std::string> program{own_program()};
    program.insert(program.end(), command_line().begin(), command_line().end());
    program.insert(program.end(), {"--ranks", std::to_string(count)});
    if (!options.json.empty()) program.emplace_back("--append");
    if (!heading) program.emplace_back("--no-heading");
    if (const int code = run_job(launcher, count, program); code != 0) throw ExitCode{code};
    heading = false;
  }
}

void run(const Options& options, bool appends) {
  if (!options.apart.empty()) return benchmarks::serve_apart(options.apart);
  if (!options.list) (void)parse_device(options.device);
  const std::vector<benchmarks::Case> cases = wanted_cases(options);
  if (options.list) return list(cases);
  const bool rank_already = is_launched_rank();
  if (!rank_already && !appends) begin_json(options.json);
  const std::vector<int> ranks = options.ranks.empty() ? cases.front().ranks : options.ranks;
  if (rank_already || built_with() == "none") {
    for (const int count : rank_already ? std::vector<int>{0} : ranks) {
      on_ranks(count, [&](Context& context) { run_cases(context, cases, options); });
    }
    return;
  }
  run_jobs(options, ranks);
}

void add_bench(CLI::App& app) {
  auto* const command = app.add_subcommand("bench", "measure beside peers and bound, in the same run");
  const auto options = std::make_shared<Options>();
  const auto appends = std::make_shared<bool>(false);
  command->add_option("operation", options->operation, "redistribute, matmul, fft, collectives (all)")
      ->type_name("OPERATION");
  command->add_option("--case", options->pattern, "a case's name, or a shell pattern")->type_name("NAME");
  command->add_option("--ranks", options->ranks, "numbers of ranks (2 and 4)")
      ->type_name("N")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command->add_option("--runs", options->runs, "interleaved runs that count; the median is quoted")
      ->check(CLI::Range(7, 1000).description(""))
      ->type_name("N")
      ->capture_default_str();
  add_device_option(*command, options->device,
                    "whose cases (those of the CPU, and of GPUs where there are some)");
  command->add_option("--json", options->json, "one JSON object a line into this file")->type_name("FILE");
  command->add_flag("--list", options->list, "name the cases and do nothing");
  command->add_option("--apart", options->apart, "")->group("");  // as a process beside the ranks
  command->add_flag("--append", *appends, "")->group("");
  command->add_flag("!--no-heading", options->heading, "")->group("");
  command->footer(
      examples("partita bench redistribute\n"
               "partita bench matmul --case 'square-*' --ranks 4\n"
               "partita bench redistribute --case 'row-to-column/*' --ranks 2 --json results.json\n"
               "partita bench collectives --device cuda --case 'allreduce-*' --ranks 4"));
  command->callback([options, appends] { run(*options, *appends); });
}

const Register bench("bench", add_bench);

}  // namespace bench_command
}  // namespace partita::tools
