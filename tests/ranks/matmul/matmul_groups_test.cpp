// Multiplies between the devices of several nodes, put into streams: a vendor's library carries the messages.
#include <partita/device_report.hpp>

#include "device/device_runtime.hpp"
#include "execute/executor.hpp"
#include "matmul/plan.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/fakes/rendezvous_group.hpp"
#include "support/models/matmul_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// With one rank per node, and with two, where neighbours exchange messages, too. `rendezvous`: ranks meet,
/// as they can on GPUs, too, which they may share.
void on_nodes_with(bool rendezvous, const std::function<void(Context&)>& body) {
  const FakeLibraryGiven library(rendezvous ? FakeLibrary::none : FakeLibrary::moves);
  for (const int per_node : {1, 2}) {
    if (ranks().count <= per_node) continue;
    const auto place = std::make_shared<Rendezvous>();
    on_ranks(
        [&](Context& context) {
          if (rendezvous) meet_at(context, place);
          body(context);
        },
        {.device = test_device(), .deadline = deadline(), .ranks_per_node = per_node});
  }
}

#define NEEDS_THREADS() \
  if (ranks().kind != GroupKind::threads) GTEST_SKIP() << "the library knows one process"

void on_nodes_in_both_ways(const std::function<void(Context&)>& body) {
  NEEDS_DEVICES();
  NEEDS_THREADS();
  // Ranks that meet copy from one another as from their own device.
  if (!tests_fake_devices() && report_devices().devices.size() > 1)
    GTEST_SKIP() << "needs ranks that share a GPU";
  if (tests_fake_devices()) on_nodes_with(false, body);
  on_nodes_with(true, body);
}

/// With a library that puts all into streams.
void on_nodes_with_library(const std::function<void(Context&)>& body) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  NEEDS_THREADS();
  on_nodes_with(false, body);
}

/// A multiply of random arrays, cut into many turns and rounds however little it is.
class RandomMultiply {
 public:
  RandomMultiply(Context& context, RandomLayouts& random) : context_(context) {
    for (std::int64_t* const extent : {&m_, &n_, &k_}) *extent = random.number(1, 40);
    a_ = make(random, {m_, k_});
    b_ = make(random, {k_, n_});
    d_ = make(random, {m_, n_});
    adds_ = random.maybe(0.3);
    if (adds_) options_.beta = 1;
    options_.method = static_cast<MatmulMethod>(random.number(0, 8));
    if (options_.method == MatmulMethod::local) options_.method = MatmulMethod::automatic;
    for (int kind = 0; kind < kinds; ++kind) {
      given_a_.push_back(known(a_.layout(), kind));
      given_b_.push_back(known(b_.layout(), kind));
    }
    const multiplication::Groups groups{random.number(1, 4000), random.number(1, 2000), random.number(1, 16)};
    bind(groups);
  }

  static constexpr int kinds = 3;
  Array& d() { return d_; }
  std::string to_string() const {
    return a_.layout().to_string() + " by " + b_.layout().to_string() + " into " + d_.layout().to_string() +
           " " + bound_->plan().method;
  }
  std::size_t rounds() const {
    std::set<std::int64_t> numbers;
    for (const Step& step : bound_->plan().steps) {
      if (step.round >= 0) numbers.insert(step.round);
    }
    return numbers.size();
  }

  /// Operands are given in stream order.
  void give(int kind, Stream stream) {
    copy(given_a_[static_cast<std::size_t>(kind % kinds)], a_, stream);
    copy(given_b_[static_cast<std::size_t>(kind % kinds)], b_, stream);
    fill(d_, adds_ ? 1.0 : std::numeric_limits<double>::quiet_NaN(), stream);
  }
  void take_away(Stream stream) {
    for (Array* const array : {&a_, &b_}) fill(*array, std::numeric_limits<double>::quiet_NaN(), stream);
  }
  void multiply(Stream stream) {
    std::vector<const Array::State*> arrays{a_.state().get(), b_.state().get()};
    if (adds_) arrays.push_back(d_.state().get());
    arrays.push_back(d_.state().get());
    bound_->enqueue(arrays, {1, adds_ ? 1.0 : 0.0, 1}, stream);
  }
  void expect(int kind, const Array& result) {
    const Whole a(given_a_[static_cast<std::size_t>(kind % kinds)]);
    const Whole b(given_b_[static_cast<std::size_t>(kind % kinds)]);
    const Whole whole(result);
    for (std::int64_t i = context_.rank(); i < m_; i += context_.size()) {
      for (std::int64_t j = 0; j < n_; ++j) {
        Wide sum = adds_ ? 1 : 0;
        for (std::int64_t l = 0; l < k_; ++l) sum += a.at(0, i, l) * b.at(0, l, j);
        ASSERT_EQ(whole.at(0, i, j), sum) << i << "," << j << " " << to_string();
      }
    }
  }

 private:
  Array make(RandomLayouts& random, const Shape& shape) {
    for (;;) {
      const Layout layout = random.layout(shape, context_.size());
      if (layout.partial()) continue;
      const Residency residency = random.maybe() ? Residency::heap : Residency::ordinary;
      const Order order = random.maybe() ? Order::row_major : Order::column_major;
      return empty(context_, layout, Dtype::f64, {.residency = residency, .order = order});
    }
  }
  /// Small integers: sums are exact in any order.
  Array known(const Layout& layout, int kind) {
    Array array = empty(context_, layout, Dtype::f64);
    write_known(array, kind);
    return array;
  }
  void bind(const multiplication::Groups& groups) {
    ContextState& state = *context_.state();
    EXPECT_TRUE(devices::messages_go_in_groups(state));
    MatmulOperands operands{.a = a_.operand(), .b = b_.operand(), .d = d_.operand()};
    if (adds_) operands.c = operands.d;
    bound_ = execution::Executor::bind(
        state, {multiplication::plan_product(operands, state.topology(MemorySpace::device), context_.rank(),
                                             options_, state.machine, adds_, groups)
                    .plan});
    execution::Executor::connect_all(state, bound_);
    EXPECT_TRUE(bound_->plan().grouped);
  }

  Context& context_;
  std::int64_t m_ = 0, n_ = 0, k_ = 0;
  bool adds_ = false;
  MatmulOptions options_;
  Array a_, b_, d_;
  std::vector<Array> given_a_, given_b_;
  std::unique_ptr<execution::Executor> bound_;
};

/// The host runs ahead: several executions are under way, operands come and go in stream order, and streams
/// are late at random.
TEST(MatmulInGroups, RandomMultipliesInStreamOrder) {
  on_nodes_in_both_ways([](Context& context) {
    RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()));
    std::mt19937 delays(static_cast<unsigned>(pairs_seed() + context.rank()));
    std::size_t most_rounds = 0;
    const int count = tests_fake_devices() ? 60 : 12;  // GPUs try each product in several ways
    for (int i = 0; i < count; ++i) {
      RandomMultiply one(context, random);
      most_rounds = std::max(most_rounds, one.rounds());
      std::optional<FakeStream> mine;
      if (tests_fake_devices() && i % 2 == 0) mine.emplace();
      const Stream stream = mine ? mine->stream() : context.stream();
      std::vector<Array> results;
      for (int round = 0; round < 4; ++round) {
        one.give(round, stream);
        if (mine && delays() % 4 == 0) delay_fake_stream(stream, std::chrono::microseconds(delays() % 1000));
        one.multiply(stream);
        one.take_away(stream);
        results.push_back(empty(context, one.d().layout(), Dtype::f64));
        copy(one.d(), results.back(), stream);
      }
      context.synchronize(stream);
      for (int round = 0; round < 4; ++round) one.expect(round, results[static_cast<std::size_t>(round)]);
      if (::testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(most_rounds, 2U);
  });
}

TEST(MatmulInGroups, GraphsAreStartedAgainAndAgainAmongOtherExecutions) {
  on_nodes_with_library([](Context& context) {
    RandomLayouts random(static_cast<std::uint64_t>(pairs_seed() + 1));
    for (int i = 0; i < 20; ++i) {
      RandomMultiply one(context, random);
      const FakeStream mine;
      begin_fake_capture(mine.stream());
      one.multiply(mine.stream());
      const std::shared_ptr<FakeGraph> graph = end_fake_capture(mine.stream());
      for (int round = 0; round < 6; ++round) {
        one.give(round, mine.stream());
        context.rank() == round % context.size()
            ? delay_fake_stream(mine.stream(), std::chrono::microseconds(500))
            : void();
        round % 3 == 1 ? one.multiply(mine.stream()) : start_fake_graph(*graph, mine.stream());
        one.take_away(mine.stream());
        context.synchronize(mine.stream());
        one.expect(round, one.d());
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  });
}

// Rounded by the product, or behind it; sums of several ranks are rounded at the end.
TEST(MatmulInGroups, ShardsAndSumsOfBrainFloats) {
  on_nodes_in_both_ways([](Context& context) {
    Array a = empty(context, {301, 260}, Slab(0), Dtype::bf16);
    Array b = empty(context, {260, 203}, Slab(1), Dtype::bf16);
    fill_random(a, 1);
    fill_random(b, 2);
    const Array wide_a = astype(a, Dtype::f64), wide_b = astype(b, Dtype::f64);
    for (const Epilogue epilogue : {Epilogue::none, Epilogue::relu, Epilogue::gelu}) {
      for (const auto& [of_a, of_b] :
           {std::pair(Slab(0), Slab(1)), std::pair(Slab(1), Slab(0)), std::pair(Slab(1), Slab(1))}) {
        for (const Distribution& of_d : {Distribution(Slab(1)), Distribution(Replicated())}) {
          MatmulOptions options{.epilogue = epilogue, .distribution = of_d};
          MatmulOptions in_stream = options;
          in_stream.stream = context.stream();
          const Array d = matmul(redistribute(a, of_a), redistribute(b, of_b), in_stream);
          const Array expected = matmul(wide_a, wide_b, options);
          context.synchronize();
          EXPECT_LE(compare(astype(d, Dtype::f64), expected).largest_difference, 0.1);
        }
      }
    }
  });
}

// The others' streams wait for a group that never comes.
TEST(MatmulInGroups, ARankThatGivesUpLetsTheOthersGo) {
  on_nodes_with_library([](Context& context) {
    const Array a = zeros(context, {16, 16}, Slab(0), Dtype::f64);
    Array d = zeros(context, {16, 16}, Slab(0), Dtype::f64);
    Matmul plan(context, {.a = a.operand(), .b = a.operand(), .d = d.operand()});
    plan.reset(a, a, nullptr, d);
    if (context.rank() == 0) return context.fail("no more input");
    EXPECT_ERROR(LostPeerError, (plan.execute(Stream{}), context.synchronize()), "no more input");
    EXPECT_TRUE(context.failed());
  });
}

// As large as separate calls need for several rounds.
TEST(MatmulInGroups, LargeProductsLeaveInRounds) {
  on_nodes_in_both_ways([](Context& context) {
    constexpr std::int64_t n = 1802, k = 12;
    const Array a = [&] {
      Array array = empty(context, {n, k}, Slab(1), Dtype::f64);
      write_known(array, 1);
      return array;
    }();
    Array b = empty(context, {k, n}, Slab(0), Dtype::f64), d = zeros(context, {n, n}, Slab(0), Dtype::f64);
    write_known(b, 2);
    Matmul plan(context, {.a = a.operand(), .b = b.operand(), .d = d.operand()},
                {.method = MatmulMethod::reduce_scatter});
    std::set<std::int64_t> rounds;
    for (const Step& step : plan.plan().steps) {
      if (step.round >= 0) rounds.insert(step.round);
    }
    EXPECT_EQ(rounds.size(), static_cast<std::size_t>(context.size() - 1));
    EXPECT_TRUE(contains(plan.explain({.format = ExplainOptions::Format::json, .steps = true}), "\"round\""));
    plan.reset(a, b, nullptr, d);
    plan.execute(Stream{});
    context.synchronize();
    const Whole whole_a(a), whole_b(b), whole(d);
    for (std::int64_t i = context.rank(); i < n; i += 97) {
      for (std::int64_t j = 0; j < n; ++j) {
        Wide sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += whole_a.at(0, i, l) * whole_b.at(0, l, j);
        ASSERT_EQ(whole.at(0, i, j), sum) << i << "," << j;
      }
    }
  });
}

}  // namespace
}  // namespace partita::testing
