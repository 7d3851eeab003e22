// Streams of contexts that have failed come to their end, whatever their peers still send.
#include "device/device_synchronization.hpp"
#include "support/fakes/gate.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

bool comes_true(const std::function<bool()>& condition, std::chrono::seconds longest = 20s) {
  const auto limit = std::chrono::steady_clock::now() + longest;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

ContextOptions on_device(std::chrono::milliseconds deadline) {
  return {.device = test_device(), .deadline = deadline};
}

/// Rank 0 gives up before rank 1 sends its first signal, and waits for many.
void outlive_a_late_signal(Context& context) {
  ContextState& state = *context.state();
  constexpr int channel = 0, many = 1000;
  if (context.rank() == 1) {
    EXPECT_TRUE(comes_true([&] { return state.board->status(0).failed; }));
    const devices::FlagOperation late = state.flags->signal(0, channel);
    state.device->flags({&late, 1}, state.device->stream());
    EXPECT_TRUE(comes_true([&] { return state.device->idle(); }));
  } else if (context.rank() == 0) {
    const std::vector<std::uint64_t> before = state.flags->arrived();
    state.fail("a rank has had enough");
    const std::vector<std::uint64_t> given_up = state.flags->arrived();
    EXPECT_TRUE(comes_true([&] { return state.flags->arrived() != given_up; }));
    const devices::FlagOperation wait = state.flags->wait(1, channel, many);
    state.device->flags({&wait, 1}, state.device->stream());
    EXPECT_TRUE(comes_true([&] { return state.device->idle(); }));
  }
}

TEST(GivenUp, ASignalThatComesLateDoesNotUndoIt) {
  NEEDS_DEVICES();
  if (ranks().count < 2 || ranks().per_node != 0) GTEST_SKIP() << "needs two ranks of one node";
  on_ranks(outlive_a_late_signal, on_device(60s));
}

/// Two arrays and the way between them, with flags.
struct Pushed {
  explicit Pushed(const Context& context)
      : rows(zeros(context, {64, 64}, Slab(0), Dtype::f32)),
        columns(zeros(context, {64, 64}, Slab(1), Dtype::f32)),
        plan(context, rows.operand(), columns.operand(), pushed()) {}
  static RedistributeOptions pushed() { return {.method = RedistributeMethod::pushed}; }
  Array rows, columns;
  Redistribute plan;
};

/// The first rank has most to do; its stream takes some time for each, so that the others send meanwhile.
void run_out_of_step(Context& context) {
  ContextState& state = *context.state();
  Pushed work(context);
  const Array large = zeros(context, {1 << 20}, Replicated(), Dtype::f64);
  const std::int64_t bytes = large.local_size() * static_cast<std::int64_t>(sizeof(double));
  const kernels::StridedCopy all{bytes, 0, 0, {}};
  const int executions[] = {60, 10, 1};
  const auto execute_all = [&] {
    for (int i = 0; i < executions[context.rank()]; ++i) {
      work.plan.execute(work.rows, work.columns, Stream{});
      const double value = i;
      state.device->fill(all, &value, sizeof(value), large.local().data, state.device->stream());
    }
  };
  if (context.rank() == 2) {
    execute_all();
    std::this_thread::sleep_for(1500ms);
  } else {
    // Where the queue of the stream has no room left, an execution waits for it, and throws.
    const auto execute_and_wait = [&] {
      execute_all();
      context.synchronize();
    };
    EXPECT_THROW(execute_and_wait(), Error);
  }
  EXPECT_TRUE(comes_true([&] { return state.device->idle(); })) << "the stream of rank " << context.rank();
}

/// A rank that is notified may free what it copied to.
RANK_TEST_WITH(GivenUp, NothingComesToTheHostOnceAWaitHasFailed, on_device(500ms)) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  ContextState& state = *context.state();
  const Array array = zeros(context, {5, 7}, Replicated(), Dtype::f64);
  std::vector<double> here(35, 1.0);
  context.barrier();
  {
    const Gate gate(context.stream());
    EXPECT_THROW(copy(array, View::dense(here.data(), Dtype::f64, {5, 7})), Error);
  }
  EXPECT_TRUE(comes_true([&] { return state.device->idle(); }));
  EXPECT_EQ(here, std::vector<double>(35, 1.0));
}

/// A rank leaves before its last execution, which its peers wait for on their devices.
void miss_a_rank_that_left(Context& context, const RedistributeOptions& options, bool captures) {
  std::vector<int> all;
  for (int rank = 0; rank < context.size(); ++rank) all.push_back(rank);
  const Context passing = context.subgroup(all);
  Array rows = zeros(passing, {37, 29}, Slab(0), Dtype::i64);
  Array columns = zeros(passing, {37, 29}, Slab(1), Dtype::i64);
  Redistribute plan(passing, rows.operand(), columns.operand(), options);
  plan.execute(rows, columns, Stream{});
  if (captures) passing.state()->flags->count_on_device();
  passing.synchronize();
  if (context.rank() == 0) return;
  plan.execute(rows, columns, Stream{});
  EXPECT_THROW(passing.synchronize(), LostPeerError);
}

TEST(GivenUp, ARankThatLeavesIsMissedWhateverItsPeersWaitFor) {
  NEEDS_DEVICES();
  if (ranks().count < 2 || ranks().per_node != 0) GTEST_SKIP() << "needs two ranks of one node";
  for (const bool captures : {false, true}) {
    for (const RedistributeOptions& options : {RedistributeOptions(), Pushed::pushed()}) {
      on_ranks([&](Context& context) { miss_a_rank_that_left(context, options, captures); }, on_device(30s));
    }
  }
}

TEST(GivenUp, EveryStreamEndsThoughTheRanksAreOutOfStep) {
  NEEDS_DEVICES();
  if (ranks().count != 3 || ranks().per_node != 0) GTEST_SKIP() << "needs three ranks of one node";
  on_ranks(run_out_of_step, on_device(500ms));
}

}  // namespace
}  // namespace partita::testing
