// Random use of the library, for as long as it is told; all choices follow from a seed, which is printed.
//
//   mpirun -n 3 partita_stress [options]
//   partita_stress --threads-group [--ranks=N] [options]
//
//   --seconds=N       for how long; otherwise PARTITA_STRESS_SECONDS, or 10. No context is begun afterwards
//   --seed=S          otherwise PARTITA_SEED, or a random one
//   --only=I          turn I of the seed alone
//   --from=I          that turn and those after it
//   --calls=on        rank 0 prints what each turn has done
//   --mismatches=off  no turns in which the ranks call different things
//   --lost=off        no turns in which a rank leaves. Where ranks are processes they are off anyway, and
//   --lost=end        ends the run with one: the killed rank aside, all processes must end with code 7
//
// PARTITA_TEST_DEVICE says what the contexts compute on: unset, "fake" or "cuda". What goes wrong is printed
// with its turn and its call; then the exit code is 1.
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <partita/machine_report.hpp>
#include <random>
#include <string_view>
#include <thread>

#include "context/context_state.hpp"
#include "ranks/fake_device.hpp"
#include "ranks/rank_run.hpp"
#include "runtime/error_kind.hpp"
#include "runtime/mpi_group.hpp"
#include "runtime/sockets_group.hpp"
#include "stress/turn.hpp"

namespace partita::testing {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int given_up = 7;
constexpr int turns_of_a_context = 25;

struct Options {
  int seconds = -1;
  int seed = -1;
  int only = -1;
  int from = 0;
  std::string calls = "off";
  std::string mismatches = "on";
  std::string lost = "on";
};

/// What the ranks of this process have to say.
class Report {
 public:
  void fail(int rank, int seed, int turn, const std::string& call, const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (!failed_) first_turn_ = turn;
    failed_ = true;
    if (turn != first_turn_) return;  // what follows from it
    std::fprintf(stderr, "stress: rank %d, turn %d: %s\n  %s\n  again: --seed=%d --only=%d (or --from=%d)\n",
                 rank, turn, call.c_str(), what.c_str(), seed, turn, std::max(0, turn - turns_of_a_context));
    std::fflush(stderr);
  }
  bool failed() const { return failed_; }

 private:
  std::mutex mutex_;
  int first_turn_ = 0;
  std::atomic<bool> failed_{false};
};

/// Ends the process when a rank comes no further, which no deadline has found out.
class HangWatch {
 public:
  explicit HangWatch(std::chrono::seconds limit) : thread_([this, limit] { look(limit); }) {}
  ~HangWatch() {
    ending_ = true;
    thread_.join();
  }
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;
  void begin(int turn) { newest_ = turn; }

 private:
  void look(std::chrono::seconds limit) {
    int seen = newest_;
    auto since = Clock::now();
    while (!ending_) {
      std::this_thread::sleep_for(50ms);
      if (const int now = newest_; now != seen) {
        seen = now;
        since = Clock::now();
      }
      if (Clock::now() - since < limit) continue;
      std::fprintf(stderr, "stress: turn %d hangs, or its context cannot end\n", seen);
      std::fflush(nullptr);
      std::_Exit(3);
    }
  }

  std::atomic<int> newest_{-1};
  std::atomic<bool> ending_{false};
  std::thread thread_;  // last: it uses all others
};

std::uint64_t number_of(const Options& options, int turn, int of_what) {
  std::seed_seq sequence{options.seed, turn, of_what};
  std::array<std::uint32_t, 2> words{};
  sequence.generate(words.begin(), words.end());
  return (std::uint64_t{words[0]} << 32) | words[1];
}

using Play = After (*)(Turn&);
Play choose(RandomLayouts& random, const Options& options) {
  struct Share {
    int percent;
    Play play;
  };
  const std::array<Share, 11> shares{{{22, redistributions},
                                      {25, collective_calls},
                                      {9, products},
                                      {8, transforms},
                                      {3, spectra},
                                      {8, halos},
                                      {8, point_to_point},
                                      {5, memory},
                                      {5, subgroups},
                                      {4, options.mismatches == "on" ? mismatches : redistributions},
                                      {3, options.lost == "on" ? lost_ranks : collective_calls}}};
  int drawn = random.number(0, 99);
  for (const Share& share : shares) {
    if (drawn < share.percent) return share.play;
    drawn -= share.percent;
  }
  return redistributions;
}

struct Run {
  Options options;
  Clock::time_point end;
  Report report;
  HangWatch watch{100s};

  bool is_over() const { return report.failed() || Clock::now() >= end; }
  bool is_last(int turn) const {
    return options.only >= 0 || turn % turns_of_a_context == turns_of_a_context - 1;
  }
};

/// The turns of one context, from `turn` on; returns the one that comes next. All ranks do the same.
int live(Run& run, Context& context, int turn) {
  // Work of a context that shares its device comes in other streams than its own.
  std::optional<Context> beside;
  if (context.device().kind == Device::Kind::cuda) {
    std::vector<int> all;
    for (int rank = 0; rank < context.size(); ++rank) all.push_back(rank);
    beside.emplace(context.subgroup(all));
  }
  for (;; ++turn) {
    run.watch.begin(turn);
    Turn now{context,
             RandomLayouts(number_of(run.options, turn, 0)),
             std::mt19937_64(number_of(run.options, turn, 1 + context.rank())),
             {},
             ""};
    const Play play = choose(now.random, run.options);
    if (beside && now.random.maybe()) now.stream = beside->stream();
    try {
      const After after = play(now);
      if (run.options.calls == "on" && context.rank() == 0)
        std::printf("turn %d: %s\n", turn, now.call.c_str());
      if (after == After::ends || run.is_last(turn)) return turn + 1;
    } catch (const Leaves&) {
      throw;
    } catch (...) {
      const std::string what = runtime::describe_error(std::current_exception()).text;
      run.report.fail(context.rank(), run.options.seed, turn, now.call, what);
      context.state()->fail(what);
      return turn + 1;
    }
  }
}

ContextOptions context_options(const Run& run, int turn) {
  RandomLayouts random(number_of(run.options, turn, 0));
  ContextOptions options;
  options.device = test_device();
  options.deadline = 20s;
  if (random.maybe(0.3)) options.ranks_per_node = random.number(1, 2);
  return options;
}

int run_threads(Run& run) {
  int turn = run.options.from;
  while (!run.is_over()) {
    std::vector<int> next(static_cast<std::size_t>(ranks().count), turn + 1);
    const auto body = [&](Context& context) {
      next[static_cast<std::size_t>(context.rank())] = live(run, context, turn);
    };
    try {
      ThreadGroup::run(ranks().count, body, context_options(run, turn));
    } catch (const Leaves&) {  // the others have said how that went
    } catch (const std::exception& error) {
      run.report.fail(-1, run.options.seed, turn, "the beginning or the end of a context", error.what());
    }
    turn = *std::max_element(next.begin(), next.end());
    if (run.options.only >= 0) break;
  }
  std::printf("stress: %d turns\n", turn - run.options.from);
  return run.report.failed() ? 1 : 0;
}

/// What all processes say after a context.
struct Verdict {
  bool good = true;
  bool over = false;  ///< by the clock of rank 0
};

/// Collective.
Verdict ask_all(const Run& run) {
  const Outcome mine{!run.report.failed(), run.is_over() ? "over" : ""};
  const std::vector<Outcome> outcomes = rank_run().referee->gather(mine);
  Verdict verdict{true, !outcomes.front().what.empty()};
  for (const Outcome& outcome : outcomes) verdict.good = verdict.good && outcome.good;
  return verdict;
}

int end_with_a_lost_rank(Run& run, int turn) {
  Context context = initialize(context_options(run, turn));
  Turn last{context,
            RandomLayouts(number_of(run.options, turn, 0)),
            std::mt19937_64(number_of(run.options, turn, 1 + context.rank())),
            {},
            ""};
  try {
    lost_ranks(last);
  } catch (const std::exception& error) {
    run.report.fail(context.rank(), run.options.seed, turn, last.call, error.what());
    return 1;
  }
  return given_up;
}

int run_processes(Run& run) {
  const int rank = rank_run().referee->rank();
  int turn = run.options.from;
  Verdict verdict;
  do {
    try {
      Context context = initialize(context_options(run, turn));
      turn = live(run, context, turn);
    } catch (const std::exception& error) {
      run.report.fail(rank, run.options.seed, turn, "the beginning of a context", error.what());
    }
    verdict = ask_all(run);
  } while (verdict.good && !verdict.over && run.options.only < 0);
  rank_run().referee.reset();
  if (rank == 0) std::printf("stress: %d turns\n", turn - run.options.from);
  if (!verdict.good) return 1;
  return run.options.lost == "end" ? end_with_a_lost_rank(run, turn) : 0;
}

// --- starting

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

Options read_arguments(int argc, char** argv) {
  Options options;
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

/// All processes take the seed of rank 0.
void agree_on_seed(Options& options) {
  const Outcome mine{true, std::to_string(options.seed)};
  options.seed = std::stoi(rank_run().referee->gather(mine).front().what);
}

int start(int argc, char** argv) {
  Options options = read_arguments(argc, argv);
  if (tests_fake_devices()) install_fake_devices(usual_fake_devices);
  const bool processes = ranks().kind == GroupKind::mpi;
  if (processes) {
    rank_run().referee = std::make_unique<Referee>(make_group_of_processes(0));
    rank_run().ranks.count = rank_run().referee->size();
    agree_on_seed(options);
    if (options.lost == "on") options.lost = "off";
  }
  if (!processes || rank_run().referee->rank() == 0) {
    std::printf("stress: %d ranks as %s on %s, --seed=%d --seconds=%d\n", ranks().count,
                processes ? "processes" : "threads",
                tests_fake_devices()                      ? "fake devices"
                : test_device().kind == Device::Kind::cpu ? "the CPU"
                                                          : "GPUs",
                options.seed, options.seconds);
    std::fflush(stdout);
  }
  Run run{options, Clock::now() + std::chrono::seconds(options.seconds), {}};
  return processes ? run_processes(run) : run_threads(run);
}

}  // namespace
}  // namespace partita::testing

int main(int argc, char** argv) {
  try {
    return partita::testing::start(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stress does not start: %s\n", error.what());
    return 1;
  }
}
