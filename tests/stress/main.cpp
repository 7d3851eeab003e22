// Random use of the library, for the given time; all choices follow from a seed, which is printed.
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
// PARTITA_TEST_DEVICE says what the contexts compute on: unset, "fake" or "cuda". A failure is printed
// with its iteration and its call; then the exit code is 1.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <random>

#include "context/context_state.hpp"
#include "runtime/checks/error_kind.hpp"
#include "runtime/groups/mpi_group.hpp"
#include "runtime/groups/sockets_group.hpp"
#include "stress/options.hpp"
#include "stress/report.hpp"
#include "stress/turn.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/fakes/fake_transport.hpp"
#include "support/rank_run.hpp"

namespace partita::testing {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int given_up = 7;

std::uint64_t number_of(const StressOptions& options, int turn, int of_what) {
  std::seed_seq sequence{options.seed, turn, of_what};
  std::array<std::uint32_t, 2> words{};
  sequence.generate(words.begin(), words.end());
  return (std::uint64_t{words[0]} << 32) | words[1];
}

using Play = After (*)(Turn&);
Play choose(RandomLayouts& random, const StressOptions& options) {
  struct Share {
    int percent;
    Play play;
  };
  const std::array<Share, 12> shares{{{19, redistributions},
                                      {22, collective_calls},
                                      {9, products},
                                      {6, linear_systems},
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
  StressOptions options;
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
  let_no_device_memory_travel(context);
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
  ContextOptions options{.device = test_device(), .deadline = 20s};
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

/// All processes take the seed of rank 0.
void agree_on_seed(StressOptions& options) {
  const Outcome mine{true, std::to_string(options.seed)};
  options.seed = std::stoi(rank_run().referee->gather(mine).front().what);
}

int start(int argc, char** argv) {
  StressOptions options = read_arguments(argc, argv);
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
