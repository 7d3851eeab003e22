// Starts the rank tests: see rank_test.hpp.
//
//   mpirun -n 3 partita_rank_tests [gtest's flags]
//   partita run --threads 3 -- partita_rank_tests [gtest's flags]
//   partita_rank_tests --threads-group [--ranks=N] [gtest's flags]
//
// Rank 0 prints the progress; the other ranks, and with --gtest_brief=1 rank 0 too, print their failures
// only. The exit code of each process is its own.
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <partita/machine_report.hpp>

#include "runtime/groups/mpi_group.hpp"
#include "runtime/groups/sockets_group.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/rank_run.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

/// The test that runs, for who prints no progress.
std::array<char, 128> running_test = {};

/// Signals that end the process end it all the same; but the log knows of which test.
void name_the_test(int signal) {
  const ssize_t named = ::write(STDERR_FILENO, running_test.data(), std::strlen(running_test.data()));
  if (named > 0) static_cast<void>(::write(STDERR_FILENO, ": killed\n", 9) > 0);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// What is printed if progress is not requested.
class FailurePrinter : public ::testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGTERM}) std::signal(signal, name_the_test);
  }
  void OnTestStart(const ::testing::TestInfo& test) override {
    std::snprintf(running_test.data(), running_test.size(), "[rank %d] %s.%s", rank_, test.test_suite_name(),
                  test.name());
  }
  // GoogleTest holds its lock here: it must not be asked which test runs.
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "%s: %s:%d: %s\n", running_test.data(),
                 result.file_name() ? result.file_name() : "?", result.line_number(), result.message());
    std::fflush(stderr);
  }

 private:
  int rank_;
};

/// A rank that launches more than a stream holds waits where nothing enforces the deadline, perhaps for
/// another rank.
class LaunchesThatBlock : public ::testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const ::testing::TestInfo& /*test*/) override {
    const int blocked = fake_launches_blocked();
    EXPECT_EQ(blocked, before_) << "launches have blocked, since their streams were full";
    before_ = blocked;
  }

 private:
  int before_ = 0;
};

int number_of(std::string_view text, std::string_view what) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) {
    std::fprintf(stderr, "%.*s: \"%.*s\" is no number of 0 or more\n", static_cast<int>(what.size()),
                 what.data(), static_cast<int>(text.size()), text.data());
    std::exit(2);
  }
  return number;
}

void read_arguments(int argc, char** argv, Ranks& ranks) {
  ranks.kind = is_launched_rank() ? GroupKind::mpi : GroupKind::threads;
  ranks.count = 4;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--threads-group") {
      ranks.kind = GroupKind::threads;
    } else if (argument.starts_with("--ranks=")) {
      ranks.count = number_of(argument.substr(8), "--ranks");
    } else {
      std::fprintf(stderr, "unknown argument: %s\n", argv[i]);
      std::exit(2);
    }
  }
  if (tests_fake_devices()) install_fake_devices(usual_fake_devices);
  if (std::getenv("PARTITA_TEST_LIBRARY") != nullptr) give_fake_library(FakeLibrary::moves);
  if (const char* per_node = std::getenv("PARTITA_RANKS_PER_NODE")) {
    ranks.per_node = number_of(per_node, "PARTITA_RANKS_PER_NODE");
  }
}

/// The referee tells all processes the seed of rank 0.
void agree_on_seed(RankRun& run) {
  const char* given = std::getenv("PARTITA_SEED");
  run.seed = given ? number_of(given, "PARTITA_SEED") : static_cast<int>(std::random_device()() % 1000000);
  if (run.referee) {
    const Outcome mine{true, std::to_string(run.seed)};
    run.seed = number_of(run.referee->gather(mine).front().what, "the seed");
  }
}

void start(RankRun& run) {
  if (run.ranks.kind == GroupKind::mpi) {
    run.referee = std::make_unique<Referee>(make_group_of_processes(0));
    run.ranks.count = run.referee->size();
  }
  agree_on_seed(run);
  const int rank = run.referee ? run.referee->rank() : 0;
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (run.ranks.count > 1) listeners.Append(new LaunchesThatBlock);
  if (rank != 0 || GTEST_FLAG_GET(brief)) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }
  if (rank != 0) return;
  std::printf("%d ranks as %s on %s, %d a node (0: all), PARTITA_SEED=%d%s\n", run.ranks.count,
              run.ranks.kind == GroupKind::mpi ? "processes" : "threads",
              tests_fake_devices()                      ? "fake devices"
              : test_device().kind == Device::Kind::cpu ? "the CPU"
                                                        : "GPUs",
              run.ranks.per_node, run.seed, full_product() ? ", the full product" : "");
  std::fflush(stdout);
}

int run_all(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  RankRun& run = rank_run();
  read_arguments(argc, argv, run.ranks);
  start(run);
  const int failed = RUN_ALL_TESTS();
  run.kept.reset();
  run.referee.reset();
  return failed;
}

}  // namespace
}  // namespace partita::testing

int main(int argc, char** argv) {
  try {
    return partita::testing::run_all(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the rank tests do not start: %s\n", error.what());
    return 1;
  }
}
