#include <random>
#include <thread>

#include "runtime/checks/error_kind.hpp"
#include "runtime/groups/threads_group.hpp"
#include "support/fakes/fake_transport.hpp"
#include "support/on_ranks.hpp"
#include "support/rank_run.hpp"

namespace partita::testing {
namespace {

std::string rank_name(int rank) {
  return "on rank " + std::to_string(rank) + " of " + std::to_string(ranks().count);
}

/// Runs `test`, which returns the plans that its context keeps in the end, in this process, sends the outcome
/// to the others, and gets theirs. Returns whether all went well.
bool run_refereed(const std::function<std::string()>& test) {
  Referee& referee = *rank_run().referee;
  std::string plans;
  std::exception_ptr error;
  {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, rank_name(referee.rank()));
    try {
      plans = test();
    } catch (...) {
      error = std::current_exception();
      ADD_FAILURE() << "the body threw: " << runtime::describe_error(error).text;
    }
  }
  const std::vector<Outcome> outcomes =
      referee.gather({!::testing::Test::HasFailure(),
                      error ? runtime::describe_error(error).text : "see its output", plans});
  std::vector<std::string> plans_of_all;
  for (const Outcome& outcome : outcomes) plans_of_all.push_back(outcome.plans);
  expect_same_plans(plans_of_all);
  bool all_good = true;
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    all_good = all_good && outcomes[rank].good;
    if (outcomes[rank].good || static_cast<int>(rank) == referee.rank() || referee.rank() != 0) continue;
    ADD_FAILURE() << "failed on rank " << rank << ": " << outcomes[rank].what;
  }
  return all_good;
}

/// The body's exception fails the context, so that the other ranks are notified before the deadline.
/// Gives the plans that the context keeps in the end.
std::string run_body(Context& context, const std::function<void(Context&)>& body) {
  try {
    body(context);
    if (context.failed() || context.state()->closed) return "";
    const contexts::PlanCache& plans = context.state()->plans;
    return std::to_string(plans.size()) + " with hash " + std::to_string(plans.hash_of_keys());
  } catch (...) {
    context.state()->fail(runtime::describe_error(std::current_exception()).text);
    throw;
  }
}

std::function<void()> usual_waits() {
  return std::getenv("PARTITA_TEST_SLOW") != nullptr ? slow_waits() : nullptr;
}

ContextOptions test_options() {
  return {.device = test_device(), .deadline = deadline(), .on_wait = usual_waits()};
}

void on_threads(const std::function<void(Context&)>& body, const ContextOptions& options) {
  std::vector<std::string> plans(static_cast<std::size_t>(ranks().count));
  ThreadGroup::run(
      ranks().count,
      [&](Context& context) {
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, rank_name(context.rank()));
        let_no_device_memory_travel(context);
        plans[static_cast<std::size_t>(context.rank())] = run_body(context, body);
      },
      options);
  expect_same_plans(plans);
}

void on_thread_groups(const std::function<void(runtime::ProcessGroup&)>& body, int ranks_per_node) {
  const auto shared = std::make_shared<runtime::ThreadsShared>(ranks().count);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks().count; ++rank) {
    threads.emplace_back([&body, shared, rank, ranks_per_node] {
      const ::testing::ScopedTrace trace(__FILE__, __LINE__, rank_name(rank));
      try {
        body(*runtime::make_threads_group(shared, rank, ranks_per_node));
        shared->end(rank, "");
      } catch (...) {
        ADD_FAILURE() << "the body threw: " << runtime::describe_error(std::current_exception()).text;
        shared->end(rank, runtime::describe_error(std::current_exception()).text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

Device test_device() {
  static const char* const wanted = std::getenv("PARTITA_TEST_DEVICE");
  const std::string_view word = wanted == nullptr ? "" : wanted;
  return word.empty() || word == "cpu" ? Device::cpu() : Device::cuda();
}
bool tests_fake_devices() {
  static const char* const wanted = std::getenv("PARTITA_TEST_DEVICE");
  return wanted != nullptr && std::string_view(wanted) == "fake";
}
const Ranks& ranks() {
  return rank_run().ranks;
}
std::chrono::milliseconds deadline() {
  return std::chrono::seconds(60);
}
int pairs_seed() {
  return rank_run().seed;
}

bool full_product() {
  const char* full = std::getenv("PARTITA_FULL");
  return full != nullptr && *full != '\0' && std::string_view(full) != "0";
}

std::function<void()> slow_waits() {
  return [] {
    thread_local std::minstd_rand random(
        static_cast<unsigned>(std::hash<std::thread::id>()(std::this_thread::get_id())) +
        static_cast<unsigned>(pairs_seed()));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 3 == 0 ? random() % 40 : 0));
  };
}

void on_ranks(const std::function<void(Context&)>& body) {
  if (ranks().kind == GroupKind::threads) return on_threads(body, test_options());
  std::optional<Context>& kept = rank_run().kept;
  const bool all_good = run_refereed([&] {
    if (!kept) {
      kept.emplace(initialize(test_options()));
      let_no_device_memory_travel(*kept);
    }
    return run_body(*kept, body);
  });
  // All ranks renew it together, also when a test made it fail on some of them only.
  const bool failed_here = kept && kept->failed();
  const std::vector<Outcome> outcomes = rank_run().referee->gather({!failed_here, ""});
  for (const Outcome& outcome : outcomes) {
    if (!outcome.good || !all_good) kept.reset();
  }
}

void on_ranks(const std::function<void(Context&)>& body, ContextOptions options) {
  if (options.deadline == ContextOptions().deadline) options.deadline = deadline();
  if (options.device.kind == Device::Kind::cpu) options.device = test_device();
  if (!options.on_wait) options.on_wait = usual_waits();
  if (ranks().kind == GroupKind::threads) return on_threads(body, options);
  run_refereed([&] {
    Context context = initialize(options);
    let_no_device_memory_travel(context);
    return run_body(context, body);
  });
}

void on_groups(const std::function<void(runtime::ProcessGroup&)>& body, int ranks_per_node) {
  if (ranks_per_node == 0) ranks_per_node = ranks().per_node;
  if (ranks().kind == GroupKind::threads) return on_thread_groups(body, ranks_per_node);
  run_refereed([&] {
    body(*make_group_of_processes(ranks_per_node));
    return std::string();
  });
}

}  // namespace partita::testing
