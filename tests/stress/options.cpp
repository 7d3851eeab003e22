#include "stress/options.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <partita/machine_report.hpp>
#include <random>
#include <string_view>

#include "support/rank_run.hpp"

namespace partita::testing {
namespace {

bool read_number(std::string_view argument, std::string_view name, int& number) {
  if (!argument.starts_with(name)) return false;
  argument.remove_prefix(name.size());
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), number);
  return error == std::errc{} && end == argument.data() + argument.size() && number >= 0;
}

bool read_word(std::string_view argument, std::string_view name, std::string& word) {
  if (!argument.starts_with(name)) return false;
  word = argument.substr(name.size());
  return word == "on" || word == "off" || word == "end";
}

int from_environment(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  int number = 0;
  if (read_number(text, "", number)) return number;
  std::fprintf(stderr, "stress: %s is \"%s\"; it must be a whole number\n", name, text);
  std::exit(2);
}

}  // namespace

StressOptions read_arguments(int argc, char** argv) {
  StressOptions options;
  Ranks& ranks = rank_run().ranks;
  ranks.kind = is_launched_rank() ? GroupKind::mpi : GroupKind::threads;
  ranks.count = 4;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool known =
        read_number(argument, "--seconds=", options.seconds) ||
        read_number(argument, "--seed=", options.seed) || read_number(argument, "--only=", options.only) ||
        read_number(argument, "--from=", options.from) || read_number(argument, "--ranks=", ranks.count) ||
        read_word(argument, "--calls=", options.calls) ||
        read_word(argument, "--mismatches=", options.mismatches) ||
        read_word(argument, "--lost=", options.lost);
    if (argument == "--threads-group") {
      ranks.kind = GroupKind::threads;
    } else if (!known) {
      std::fprintf(stderr, "stress: unknown argument %s\n", argv[i]);
      std::exit(2);
    }
  }
  if (options.only >= 0) options.from = options.only;
  if (options.seconds < 0) options.seconds = from_environment("PARTITA_STRESS_SECONDS", 10);
  if (options.seed < 0) {
    options.seed = from_environment("PARTITA_SEED", static_cast<int>(std::random_device()() % 1000000));
  }
  return options;
}

}  // namespace partita::testing
