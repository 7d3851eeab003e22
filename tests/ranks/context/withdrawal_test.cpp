// Of two different calls some ranks have made one before and execute it, while the other one is new to those
// that make it and is planned together: all ranks throw the same error, and the context goes on where no rank
// can have done its call. All pairs of operations, with the seed that picks some of them printed.
#include "support/withdrawal.hpp"

#include <partita/linalg.hpp>
#include <random>

#include "support/models/collectives_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing::withdrawals {
namespace {

using namespace std::chrono_literals;

using Call = std::function<void()>;

struct Operation {
  const char* name;
  /// With arrays of its own, of some size that grows with `n`. Collective.
  std::function<Call(Context&, std::int64_t n)> prepare;
};

std::shared_ptr<Block> block(Context& context, const Shape& shape, Dtype dtype = Dtype::f64) {
  auto made = std::make_shared<Block>(context, dtype, shape, usual_memory(context));
  made->set([](const Index&) { return Number(1); });
  return made;
}

Array known(Context& context, const Shape& shape, const Distribution& distribution,
            Dtype dtype = Dtype::f64) {
  Array array = zeros(context, shape, distribution, dtype);
  fill_random(array, 7);
  return array;
}

Call all_reduced(Context& c, std::int64_t n, Dtype dtype, Reduction reduction) {
  const auto from = block(c, {n}, dtype), to = block(c, {n}, dtype);
  return [=, &c] { all_reduce(c, from->view(), to->view(), {.reduction = reduction}); };
}

Call broadcast_from(Context& c, std::int64_t n, int root) {
  const auto view = block(c, {n});
  return [=, &c] { broadcast(c, view->view(), root); };
}

Call one_to_each(Context& c, std::int64_t n, auto&& collective) {
  const auto part = block(c, {n}), whole = block(c, {n * c.size()});
  return [=, &c] { collective(c, part->view(), whole->view()); };
}

Call scanned(Context& c, std::int64_t n) {
  const auto from = block(c, {n}), to = block(c, {n});
  return [=, &c] { scan(c, from->view(), to->view()); };
}

Call with_ghosts(Context& c, std::int64_t n) {
  const Array array = known(c, {c.size() * n, 3}, Slab(0));
  const HaloOptions options{.lower = {1, 0}, .upper = {1, 0}, .periodic = {true, false}};
  const auto extended = block(c, halo_shape(array.layout(), c.rank(), options));
  return [=] { halo_exchange(array, extended->view(), options); };
}

Call redistributed(Context& c, std::int64_t n, Dtype dtype, int axis,
                   const RedistributeOptions& options = {}) {
  const Array from = known(c, {n + 8, n + 8}, Slab(0), dtype);
  const auto to = std::make_shared<Array>(known(c, {n + 8, n + 8}, Slab(axis), dtype));
  return [=] { redistribute(from, *to, options); };
}

Call multiplied(Context& c, std::int64_t n, const MatmulOptions& options = {}) {
  const Array a = known(c, {n + 8, n + 8}, Slab(0)), b = known(c, {n + 8, n + 8}, Slab(1));
  const auto d = std::make_shared<Array>(known(c, {n + 8, n + 8}, Slab(0)));
  return [=] { matmul_into(a, b, nullptr, *d, options); };
}

Call transformed(Context& c, std::int64_t n, const FftOptions& options = {}) {
  const Array from = known(c, {n + 8, n + 8}, Slab(0), Dtype::c128);
  const auto to = std::make_shared<Array>(known(c, {n + 8, n + 8}, Slab(0), Dtype::c128));
  return [=] { fft_into(from, *to, options); };
}

Call reduced(Context& c, std::int64_t n, ArrayReduction reduction) {
  const Array array = known(c, {n + 8, 3}, Slab(0));
  return [=] { reduce(array, reduction); };
}

Call solved(Context& c, std::int64_t n) {
  const auto lu = std::make_shared<Lu>(eye(c, n + 8, n + 8, Slab(0), Dtype::f64), FactorOptions{.block = 3});
  const Array b = known(c, {n + 8, n + 8}, Slab(1));
  const auto x = std::make_shared<Array>(known(c, {n + 8, n + 8}, Slab(0)));
  return [=] { lu->solve_into(b, *x); };
}

const Operation operations[] = {
    {"all_reduce", [](Context& c, std::int64_t n) { return all_reduced(c, n, Dtype::f64, Reduction::sum); }},
    {"all_reduce", [](Context& c, std::int64_t n) { return all_reduced(c, n, Dtype::f64, Reduction::max); }},
    {"all_reduce", [](Context& c, std::int64_t n) { return all_reduced(c, n, Dtype::f32, Reduction::sum); }},
    {"broadcast", [](Context& c, std::int64_t n) { return broadcast_from(c, n, 0); }},
    {"broadcast", [](Context& c, std::int64_t n) { return broadcast_from(c, n, c.size() - 1); }},
    {"all_gather",
     [](Context& c, std::int64_t n) {
       return one_to_each(
           c, n, [](Context& on, const View& part, const View& whole) { all_gather(on, part, whole); });
     }},
    {"gather",
     [](Context& c, std::int64_t n) {
       return one_to_each(c, n,
                          [](Context& on, const View& part, const View& whole) { gather(on, part, whole); });
     }},
    {"scatter",
     [](Context& c, std::int64_t n) {
       return one_to_each(c, n,
                          [](Context& on, const View& part, const View& whole) { scatter(on, whole, part); });
     }},
    {"reduce_scatter",
     [](Context& c, std::int64_t n) {
       return one_to_each(
           c, n, [](Context& on, const View& part, const View& whole) { reduce_scatter(on, whole, part); });
     }},
    {"all_to_all",
     [](Context& c, std::int64_t n) {
       const auto from = block(c, {n * c.size()}), to = block(c, {n * c.size()});
       return Call([=, &c] { all_to_all(c, from->view(), to->view()); });
     }},
    {"scan", scanned},
    {"halo", with_ghosts},
    {"redistribute", [](Context& c, std::int64_t n) { return redistributed(c, n, Dtype::f64, 1); }},
    {"redistribute", [](Context& c, std::int64_t n) { return redistributed(c, n, Dtype::f32, 1); }},
    {"redistribute",
     [](Context& c, std::int64_t n) {
       return redistributed(c, n, Dtype::f64, 0, {.axes = {1, 0}});
     }},
    {"matmul", [](Context& c, std::int64_t n) { return multiplied(c, n); }},
    {"matmul", [](Context& c, std::int64_t n) { return multiplied(c, n, {.op_a = Op::transpose}); }},
    {"fft", [](Context& c, std::int64_t n) { return transformed(c, n); }},
    {"fft", [](Context& c, std::int64_t n) { return transformed(c, n, {.axes = {0}}); }},
    {"sum", [](Context& c, std::int64_t n) { return reduced(c, n, ArrayReduction::sum); }},
    {"max", [](Context& c, std::int64_t n) { return reduced(c, n, ArrayReduction::max); }},
    {"solve", solved},
};
constexpr std::size_t count = std::size(operations);

/// What is never kept: each call is a check of all ranks.
const Operation checks[] = {
    {"barrier", [](Context& c, std::int64_t) { return [&c] { c.barrier(); }; }},
    {"allocate ",
     [](Context& c, std::int64_t n) {
       return [&c, n] { static_cast<void>(SymmetricMemory::allocate(c, n)); };
     }},
    {"collect symmetric memory", [](Context& c, std::int64_t) { return [&c] { c.collect(); }; }},
};

ContextOptions patient() {
  return {.device = test_device(), .deadline = 60s};
}

ContextOptions slow() {
  ContextOptions options = patient();
  options.on_wait = slow_waits();
  return options;
}

/// All ranks get it right once more, and from their peers what those have now.
void expect_right(Context& context, double value) {
  Block from(context, Dtype::f64, {5}, usual_memory(context)),
      to(context, Dtype::f64, {5}, usual_memory(context));
  from.set([&](const Index& i) { return Number(value + static_cast<double>(i[0]) + context.rank()); });
  all_reduce(context, from.view(), to.view());
  const int ranks = context.size();
  EXPECT_EQ(to.wrong([&](const Index& i) {
    return Number(ranks * (value + static_cast<double>(i[0])) + 0.5 * ranks * (ranks - 1));
  }),
            0);
}

/// `mine` differs between ranks: one text that has these words. Whether the context goes on.
bool expect_told(Context& context, const Call& mine, const std::vector<std::string>& words) {
  const auto start = std::chrono::steady_clock::now();
  const std::string text = caught<DisagreementError>([&] {
    mine();
    context.synchronize();
    context.barrier();
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  expect_same_text_on_all(context.rank(), text);
  for (const std::string& word : words) EXPECT_TRUE(contains(text, word)) << text;
  return !context.failed();
}

/// By a rank that only sends a message: it is in the next call then.
bool may_be_done_between_nodes(const Operation& operation) {
  const std::string_view name = operation.name;
  return name == "broadcast" || name == "gather" || name == "scatter" || name == "scan" || name == "halo";
}

struct Trial {
  std::size_t known = 0;        ///< of `operations`: what its ranks have made before
  const Operation* other = {};  ///< what the others call
  bool other_is_known = false;
  bool by_one = true;  ///< one rank makes the known call; else one makes the other
  int one = 0;
};

/// False: the context has failed, and the next trial needs a new one.
bool run(Context& context, const Trial& trial, int number, bool must_go_on) {
  const Operation& operation = operations[trial.known];
  SCOPED_TRACE(
      fmt::format("trial {}: {} and {}, rank {}", number, operation.name, trial.other->name, trial.one));
  const Call known = operation.prepare(context, 2 * number + 3);
  const Call other = trial.other->prepare(context, 2 * number + 4);
  for (int i = 0; i < 2; ++i) known();
  if (trial.other_is_known) other();
  context.synchronize();
  context.barrier();
  std::vector<std::string> words{"the ranks"};
  const bool differ = std::string_view(operation.name) != trial.other->name;
  if (differ && (can_withdraw(context) || !may_be_done_between_nodes(operation)))
    words.insert(words.end(), {"different operations", operation.name, trial.other->name});
  const bool is_one = context.rank() == trial.one % context.size();
  if (expect_told(context, is_one == trial.by_one ? known : other, words)) {
    expect_right(context, number);
    known();
    other();
    expect_right(context, number + 1);
    return true;
  }
  EXPECT_FALSE(must_go_on) << context.failure();
  return false;
}

/// Where a context fails, each trial takes a second and a new context, and the memory of those that failed is
/// kept until the process ends: another choice each time.
std::vector<Trial> some_of(std::vector<Trial> trials, std::mt19937& random) {
  const bool fails = has_devices() || ranks().per_node != 0;
  std::shuffle(trials.begin(), trials.end(), random);
  const std::size_t most = fails ? (full_product() ? 40 : 6) : (full_product() ? trials.size() : 80);
  trials.resize(std::min(trials.size(), most));
  for (Trial& trial : trials) trial.one = static_cast<int>(random() % 6);
  return trials;
}

void run_all(const std::vector<Trial>& trials, bool must_go_on, const ContextOptions& options = patient()) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  for (std::size_t next = 0; next < trials.size() && !::testing::Test::HasFailure();) {
    std::atomic<std::size_t> done = next + 1;  // the same on all ranks
    on_ranks(
        [&](Context& context) {
          bool goes_on = true;
          std::size_t at = next;
          while (goes_on && at < trials.size()) {
            goes_on = run(context, trials[at], static_cast<int>(at), must_go_on && can_withdraw(context));
            ++at;
          }
          done = at;
        },
        options);
    next = done;
  }
}

std::vector<Trial> with_each_other() {
  std::vector<Trial> trials;
  for (std::size_t known = 0; known < count; ++known) {
    for (const Operation& other : operations) trials.push_back({.known = known, .other = &other});
  }
  return trials;
}

TEST(Withdrawal, OneRankExecutesAndTheOthersPlan) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed()));
  run_all(some_of(with_each_other(), random), true);
}

// A rank that needs nothing of the one that plans may have done its call.
TEST(Withdrawal, OneRankPlansAndTheOthersExecute) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed()));
  std::vector<Trial> trials = some_of(with_each_other(), random);
  for (Trial& trial : trials) trial.by_one = false;
  run_all(trials, ranks().count == 2);
}

TEST(Withdrawal, AllExecute) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed()));
  std::vector<Trial> trials = some_of(with_each_other(), random);
  for (Trial& trial : trials) trial.other_is_known = true;
  run_all(trials, ranks().count == 2);
}

// One that has done its call waits in a check for what has been sent, while the others compare there what all
// did.
TEST(Withdrawal, AllExecuteAndSomeAreSlow) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed()));
  std::vector<Trial> trials = some_of(with_each_other(), random);
  trials.resize(std::min<std::size_t>(trials.size(), full_product() ? 80 : 20));
  for (Trial& trial : trials) trial.other_is_known = true;
  run_all(trials, false, slow());
}

TEST(Withdrawal, FromWhatOthersCallThatIsNeverKept) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed()));
  std::vector<Trial> trials;
  for (std::size_t known = 0; known < count; ++known) {
    for (const Operation& check : checks) trials.push_back({.known = known, .other = &check});
  }
  run_all(some_of(trials, random), true);
}

// What a context has of executions in halves stays as it was.
RANK_TEST_WITH(Withdrawal, BetweenTheHalvesOfAnExchange, patient()) {
  if (ranks().count == 1 || !can_withdraw(context)) GTEST_SKIP() << "not here";
  const Array array = known(context, {4 * context.size(), 3}, Slab(0));
  Halo halo(context, array.operand(), {.lower = {1, 0}, .upper = {1, 0}, .periodic = {true, false}});
  const auto extended = block(context, halo.extended_shape()),
             expected = block(context, halo.extended_shape());
  halo.execute(array, expected->view());
  const Call sum = all_reduced(context, 4, Dtype::f64, Reduction::sum);
  sum();
  for (int i = 0; i < 3; ++i) {
    halo.start(array, extended->view());
    const Call most = all_reduced(context, 5 + i, Dtype::f64, Reduction::max);
    EXPECT_TRUE(
        expect_told(context, context.rank() == 0 ? sum : most, {"all_reduce: the ranks disagree on"}));
    halo.finish();
    EXPECT_EQ(extended->wrong([&](const Index& at) { return read_number(Dtype::f64, expected->at(at)); }), 0);
    expect_right(context, i);
  }
}

}  // namespace
}  // namespace partita::testing::withdrawals
