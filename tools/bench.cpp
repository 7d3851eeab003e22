// partita bench: the benchmarks, with their peers and their bound in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <partita/io.hpp>
#include <partita/machine_report.hpp>
#include <sstream>

#include "benchmarks/apart.hpp"
#include "benchmarks/benchmark.hpp"
#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools::bench_command {

struct Options {
  std::string operation;
  std::string pattern;
  std::vector<int> ranks;
  int runs = 9;
  std::string json;
  std::string apart;
  std::optional<bool> on_gpu;  ///< nothing: both
  bool list = false, append = false, no_heading = false;
};

std::vector<benchmarks::Case> wanted_cases(const Options& options) {
  std::vector<benchmarks::Case> cases;
  for (benchmarks::Case& candidate : benchmarks::all_cases()) {
    const bool on_gpu = candidate.device == Device::Kind::cuda;
    const bool wanted = (options.operation.empty() || candidate.operation == options.operation) &&
                        options.on_gpu.value_or(on_gpu) == on_gpu;
    if (wanted && benchmarks::matches(candidate.name, options.pattern)) cases.push_back(std::move(candidate));
  }
  if (cases.empty()) throw UsageError("no benchmark has this name; partita bench --list shows all");
  return cases;
}

void list(const std::vector<benchmarks::Case>& cases) {
  for (const benchmarks::Case& one : cases) fmt::print("{} {}\n", one.operation, one.name);
}

/// What the jobs before this one have written. A device or a pipe has it already.
std::string written_before(const Options& options) {
  std::stringstream text;
  if (options.append && std::filesystem::is_regular_file(options.json))
    text << std::ifstream(options.json).rdbuf();
  return text.str();
}

/// Products that are slow for another reason than ours.
void print_note_on_blas(const std::vector<benchmarks::Case>& cases) {
  if (std::ranges::none_of(
          cases, [](const auto& one) { return one.operation == "matmul" || one.operation == "linalg"; }))
    return;
  const BlasReport blas = report_blas(false);
  if (blas.found && !blas.note.empty()) fmt::print(stderr, "note: {}\n", blas.note);
}

/// On the ranks of `context`, one case after the other. `lines`: of the JSON file, on rank 0.
void run_cases(const Context& context, const std::vector<benchmarks::Case>& cases, const Options& options,
               std::string& lines) {
  const bool speaks = context.rank() == 0;
  if (speaks && !options.no_heading) {
    print_note_on_blas(cases);
    fmt::print("{}\n", benchmarks::table_header());
  }
  for (const benchmarks::Case& one : cases) {
    const std::optional<benchmarks::Result> result = one.run(context, {options.runs});
    if (!speaks || !result) continue;
    fmt::print("{}\n", benchmarks::to_table(*result));
    std::fflush(stdout);
    lines += benchmarks::to_json(*result) + "\n";
    if (!options.json.empty())
      write_file(options.json, lines);  // a later case may take too long for the user
  }
}

/// This command again as a job for each number of ranks: a process is a rank of one job only.
void run_jobs(const Options& options, const std::vector<int>& ranks) {
  setenv("PARTITA_BENCH_PYTHON", find_in_path("python3").c_str(), 0);  // launchers may change the PATH
  const Launcher launcher = find_launcher("");
  if (!launcher.problem.empty()) throw std::runtime_error(launcher.problem);  // the peers are MPI's
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

/// The measures of the Python package, which are in it: with the Python of the build folder, else the first
/// of PATH.
std::vector<std::string> python_program(const Options& options) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(own_program()).parent_path().parent_path();
  const fs::path python = folder / "venv" / "bin" / "python";
  const bool built = fs::exists(python) && fs::exists(folder / "python" / "partita");
  if (built) setenv("PYTHONPATH", (folder / "python").c_str(), 1);
  std::vector<std::string> program{built ? python.string() : "python3", "-m", "partita.bench"};
  if (options.operation != "python") program.push_back(options.operation);
  program.insert(program.end(), {"--runs", std::to_string(options.runs)});
  if (options.on_gpu) program.insert(program.end(), {"--device", *options.on_gpu ? "cuda" : "cpu"});
  if (!options.pattern.empty()) program.insert(program.end(), {"--case", options.pattern});
  if (!options.json.empty()) program.insert(program.end(), {"--json", options.json});
  if (options.list) program.emplace_back("--list");
  return program;
}

void run_python(const Options& options) {
  if (options.on_gpu.value_or(false) && options.operation == "python")
    throw UsageError("the cases of python are those of the CPU");
  const Launcher launcher = find_launcher("");
  if (!launcher.problem.empty()) throw std::runtime_error(launcher.problem);  // a peer is mpi4py
  if (!options.append && !options.json.empty()) write_file(options.json, "");
  const std::vector<std::string> program = python_program(options);
  std::vector<int> usual = {2};
  if (options.operation == "python" && !options.list) usual = {1, 2, 4};  // one rank has fewer
  for (const int count : options.ranks.empty() ? usual : options.ranks) {
    if (const int code = run_job(launcher, count, program); code != 0) throw ExitCode{code};
  }
}

bool is_of_python(const Options& options) {
  return options.operation == "python" || options.operation == "jax" || options.operation == "torch";
}

void run(const Options& options) {
  if (is_of_python(options)) return run_python(options);
  if (!options.apart.empty()) return benchmarks::serve_apart(options.apart);
  if (!options.list && options.on_gpu.value_or(false)) (void)usable_gpu();
  const std::vector<benchmarks::Case> cases = wanted_cases(options);
  if (options.list) return list(cases);
  const bool rank_already = is_launched_rank();
  if (!rank_already && !options.append && !options.json.empty()) write_file(options.json, "");
  const std::vector<int> ranks = options.ranks.empty() ? cases.front().ranks : options.ranks;
  if (rank_already || !has_mpi()) {
    std::string lines = written_before(options);
    for (const int count : rank_already ? std::vector<int>{0} : ranks) {
      on_ranks(count, [&](Context& context) { run_cases(context, cases, options, lines); });
    }
    return;
  }
  run_jobs(options, ranks);
}

void describe(Subcommand& command, Options& options) {
  command
      .word("OPERATION", options.operation,
            "redistribute, matmul, linalg, fft, collectives, apps (all of these); python, jax, torch")
      .offers({"redistribute", "matmul", "linalg", "fft", "collectives", "apps", "python", "jax", "torch"});
  command.word("--case", options.pattern, "a case's name, or a shell pattern", "NAME");
  command.numbers("--ranks", options.ranks, "numbers of ranks (2 and 4)");
  command.number("--runs", options.runs, 7, "interleaved runs, of which the median is reported (9)");
  command.device(options.on_gpu, "device of the cases (CPU, and GPUs if available)");
  command.word("--json", options.json, "write one JSON object per line to this file", "FILE");
  command.flag("--list", options.list, "list the cases and exit");
  command.word("--apart", options.apart, "").hidden();  // as a process next to the ranks
  command.flag("--append", options.append, "").hidden();
  command.flag("--no-heading", options.no_heading, "").hidden();
  command.footer(
      examples("partita bench redistribute\n"
               "partita bench matmul --case 'square-*' --ranks 4\n"
               "partita bench redistribute --case 'row-to-column/*' --ranks 2 --json results.json\n"
               "partita bench collectives --device cuda --case 'allreduce-*' --ranks 4\n"
               "partita bench python --ranks 2"));
}

const Register registered("bench", "measure next to peers and bounds, in the same run", describe, run);

}  // namespace partita::tools::bench_command
