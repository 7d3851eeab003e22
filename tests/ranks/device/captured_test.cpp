// Graphs of what contexts are given while a stream is captured: on fake devices, which know graphs as CUDA
// does.
#include "support/fakes/fake_device.hpp"
#include "support/models/collectives_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// Runs `body` on every rank where work can be captured, with a separate context.
void on_fake_devices(const std::function<void(Context&)>& body, int plan_cache_size = 64) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (ranks().per_node != 0) GTEST_SKIP() << "messages are not captured";
  on_ranks(body, {.device = test_device(), .plan_cache_size = plan_cache_size});
}

Number brought(int rank, int round, const Index& index) {
  return Number(static_cast<double>(1000 * round + 10 * rank + index[0] % 7));
}

Number sum_of_all(int ranks, int round, const Index& index) {
  Number sum(0.0);
  for (int rank = 0; rank < ranks; ++rank) sum = sum + brought(rank, round, index);
  return sum;
}

RedistributeOptions pushed() {
  return {.method = RedistributeMethod::pushed};
}

// Between nodes, in groups of the vendor's library.
TEST(Captured, MessagesOfALibraryAreSentAsOftenAsTheGraphIsStarted) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (ranks().kind != GroupKind::threads) GTEST_SKIP() << "the fake library knows one process";
  const FakeLibraryGiven library(FakeLibrary::moves);
  on_ranks(
      [](Context& context) {
        const FakeStream mine;
        Array rows = zeros(context, {37, 29}, Slab(0), Dtype::i64);
        Array columns = zeros(context, {37, 29}, Slab(1), Dtype::i64);
        Redistribute plan(context, rows.operand(), columns.operand());
        EXPECT_EQ(plan.plan().grouped, context.size() > 1);
        Block source(context, Dtype::i64, {33}, Memory::device_strided);
        Block destination(context, Dtype::i64, {33}, Memory::device_strided);
        begin_fake_capture(mine.stream());
        plan.execute(rows, columns, mine.stream());
        all_reduce(context, source.view(), destination.view(), {.stream = mine.stream()});
        const std::shared_ptr<FakeGraph> graph = end_fake_capture(mine.stream());
        Array expected = zeros(context, {37, 29}, Slab(1), Dtype::i64);
        for (int round = 0; round < 20; ++round) {
          write_constant(rows, round);
          write_constant(expected, round);
          source.set([&](const Index& index) { return brought(context.rank(), round, index); });
          start_fake_graph(*graph, mine.stream());
          plan.execute(rows, columns, mine.stream());
          context.synchronize(mine.stream());
          EXPECT_TRUE(compare(columns, expected).equal) << "round " << round;
          EXPECT_EQ(
              destination.wrong([&](const Index& index) { return sum_of_all(context.size(), round, index); }),
              0);
        }
      },
      {.device = test_device(), .ranks_per_node = 1});
}

// In packets, with flags, and a collective of strided views whose memory is made while they are captured.
TEST(Captured, WorkIsDoneAsOftenAsTheGraphIsStarted) {
  on_fake_devices([](Context& context) {
    const FakeStream mine;
    Array rows = zeros(context, {37, 29}, Slab(0), Dtype::i64);
    Array columns = zeros(context, {37, 29}, Slab(1), Dtype::i64);
    Array blocks = zeros(context, {37, 29}, BlockCyclic({1, context.size()}, {2, 3}), Dtype::i64);
    Redistribute first(context, rows.operand(), columns.operand());
    Redistribute second(context, columns.operand(), blocks.operand(), pushed());
    Block source(context, Dtype::i64, {33}, Memory::device_strided);
    Block destination(context, Dtype::i64, {33}, Memory::device_strided);
    begin_fake_capture(mine.stream());
    first.execute(rows, columns, mine.stream());
    second.execute(columns, blocks, mine.stream());
    all_reduce(context, source.view(), destination.view(), {.stream = mine.stream()});
    const std::shared_ptr<FakeGraph> graph = end_fake_capture(mine.stream());
    for (int round = 0; round < 20; ++round) {
      write_constant(rows, round);
      source.set([&](const Index& index) { return brought(context.rank(), round, index); });
      start_fake_graph(*graph, mine.stream());
      context.synchronize(mine.stream());
      Array expected = zeros(context, {37, 29}, Slab(0), Dtype::i64);
      write_constant(expected, round);
      EXPECT_TRUE(compare(blocks, expected).equal) << "round " << round;
      EXPECT_EQ(
          destination.wrong([&](const Index& index) { return sum_of_all(context.size(), round, index); }), 0);
    }
  });
}

/// Calls of other shapes, each with a separate plan and scratch; their results are checked in the end.
class Others {
 public:
  explicit Others(Context& context) : context_(context) {
    for (int i = 0; i < calls; ++i) {
      sources_.push_back(
          std::make_unique<Block>(context, Dtype::i64, Shape{33, i + 2}, Memory::device_strided));
      destinations_.push_back(
          std::make_unique<Block>(context, Dtype::i64, Shape{33, i + 2}, Memory::device_heap));
    }
  }
  void call() {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      sources_[i]->set([&](const Index& index) { return brought(context_.rank(), 3, index); });
      reduce(context_, sources_[i]->view(), destinations_[i]->view(), {}, 0);
      all_reduce(context_, sources_[i]->view(), destinations_[i]->view());
    }
  }
  void check() {
    for (const auto& one : destinations_) {
      EXPECT_EQ(one->wrong([&](const Index& index) { return sum_of_all(context_.size(), 3, index); }), 0);
    }
  }

 private:
  static constexpr int calls = 6;
  Context& context_;
  std::vector<std::unique_ptr<Block>> sources_, destinations_;
};

// The context would give their memory to others as soon as it had enough plans.
TEST(Captured, WhatAGraphUsesIsNobodyElsesAsLongAsItIsThere) {
  on_fake_devices(
      [](Context& context) {
        ContextState& state = *context.state();
        const FakeStream mine;
        Block source(context, Dtype::i64, {33}, Memory::device_strided);
        Block total(context, Dtype::i64, {33}, Memory::device_strided);
        Block at_root(context, Dtype::i64, {33}, Memory::device_strided);
        begin_fake_capture(mine.stream());
        all_reduce(context, source.view(), total.view(), {.stream = mine.stream()});
        reduce(context, source.view(), at_root.view(), {.stream = mine.stream()}, 0);
        barrier(context, mine.stream());
        std::shared_ptr<FakeGraph> graph = end_fake_capture(mine.stream());
        EXPECT_EQ(state.plans.pinned(), 3U);
        Others others(context);
        others.call();
        context.collect();
        EXPECT_EQ(state.plans.pinned(), 3U);
        std::vector<Array> arrays;  // in memory that plans have given back
        for (int i = 0; i < 20; ++i) {
          arrays.push_back(zeros(context, {33, context.size()}, Slab(1), Dtype::i64));
          write_constant(arrays.back(), i);
        }
        for (int round = 0; round < 3; ++round) {
          source.set([&](const Index& index) { return brought(context.rank(), round, index); });
          start_fake_graph(*graph, mine.stream());
          context.synchronize(mine.stream());
          const auto sum = [&](const Index& index) { return sum_of_all(context.size(), round, index); };
          EXPECT_EQ(total.wrong(sum), 0) << "round " << round;
          if (context.rank() == 0) {
            EXPECT_EQ(at_root.wrong(sum), 0) << "round " << round;
          }
        }
        others.check();
        for (int i = 0; i < 20; ++i) {
          Array expected = zeros(context, {33, context.size()}, Slab(1), Dtype::i64);
          write_constant(expected, i);
          EXPECT_TRUE(compare(arrays[static_cast<std::size_t>(i)], expected).equal) << "array " << i;
        }
        graph.reset();
        context.collect();
        EXPECT_EQ(state.plans.pinned(), 0U);
      },
      2);
}

// A plan that the caller lets go, too.
TEST(Captured, AGraphOutlivesTheObjectThatWasExecutedIntoIt) {
  on_fake_devices([](Context& context) {
    const FakeStream mine;
    Array rows = zeros(context, {37, 29}, Slab(0), Dtype::i64);
    Array columns = zeros(context, {37, 29}, Slab(1), Dtype::i64);
    RedistributeOptions options{.method = RedistributeMethod::staged};
    auto plan = std::make_unique<Redistribute>(context, rows.operand(), columns.operand(), options);
    begin_fake_capture(mine.stream());
    plan->execute(rows, columns, mine.stream());
    const std::shared_ptr<FakeGraph> graph = end_fake_capture(mine.stream());
    plan.reset();
    context.collect();
    Array other = zeros(context, {37, 29}, Slab(0), Dtype::i64);
    write_constant(other, 5);
    write_known(rows);
    start_fake_graph(*graph, mine.stream());
    context.synchronize(mine.stream());
    EXPECT_EQ(count_wrong(columns, rows.layout()), 0);
    EXPECT_EQ(count_others(other, 5), 0);
  });
}

// What would wait for the stream that is captured is refused, and nothing else.
TEST(Captured, TheContextsOwnStreamTakesWhatIsPlanned) {
  on_fake_devices([](Context& context) {
    Block known(context, Dtype::i64, {33}, Memory::device);
    Block fresh(context, Dtype::i64, {35}, Memory::device);
    known.set([](const Index&) { return Number(1.0); });
    const auto refused = [&](const std::function<void()>& call) {
      EXPECT_TRUE(contains(caught<UnsupportedError>(call), "being captured"));
      EXPECT_FALSE(context.failed());
    };
    all_reduce(context, known.view(), known.view());
    begin_fake_capture(context.stream());
    all_reduce(context, known.view(), known.view());
    refused([&] { all_reduce(context, fresh.view(), fresh.view()); });
    refused([&] { context.synchronize(); });
    const std::shared_ptr<FakeGraph> graph = end_fake_capture(context.stream());
    EXPECT_FALSE(graph->tasks.empty());
    start_fake_graph(*graph, context.stream());
    const int ranks = context.size();
    EXPECT_EQ(known.wrong([&](const Index&) { return Number(static_cast<double>(ranks * ranks)); }), 0);
    const FakeStream mine;
    begin_fake_capture(mine.stream());
    refused([&] { context.synchronize(mine.stream()); });
    end_fake_capture(mine.stream());
  });
}

/// What `call` leaves in the graph of the context's own stream, and what it says.
void expect_refused_in_capture(Context& context, const char* name, const std::function<void()>& call) {
  const ::testing::ScopedTrace trace(__FILE__, __LINE__, name);
  context.barrier();
  begin_fake_capture(context.stream());
  const std::string text = caught<UnsupportedError>(call);
  const std::shared_ptr<FakeGraph> graph = end_fake_capture(context.stream());
  EXPECT_TRUE(contains(text, "being captured into a graph")) << text;
  EXPECT_TRUE(graph->tasks.empty()) << graph->tasks.size() << " tasks";
  EXPECT_FALSE(context.failed()) << context.failure();
}

TEST(Captured, WhatIsRefusedLeavesNothingInTheGraph) {
  on_fake_devices([](Context& context) {
    Array a = zeros(context, {24, 24}, Slab(0), Dtype::f64);
    Array b = zeros(context, {24, 24}, Slab(1), Dtype::f64);
    Array c = zeros(context, {24, 24}, Slab(0), Dtype::f64);
    const Array mask = a > 0.5;
    Array field = zeros(context, {24, 24}, Slab(0), Dtype::c128);
    Array spectrum = zeros(context, {24, 24}, Slab(1), Dtype::c128);
    Redistribute plan(context, a.operand(), b.operand());
    Matmul product(context, MatmulOperands{a.operand(), b.operand(), {}, c.operand()});
    product.reset(a, b, nullptr, c);
    FFT transform(context, field.operand(), spectrum.operand());
    const double one = 1;
    std::vector<double> memory(static_cast<std::size_t>(a.local_size()));
    View host = a.local();
    host.data = memory.data();
    host.space = MemorySpace::host;
    const auto refused = [&](const char* name, const std::function<void()>& call) {
      expect_refused_in_capture(context, name, call);
    };
    for (int round = 0; round < 2; ++round) {  // before the calls have plans, and then
      refused("redistribute", [&] { (void)redistribute(a, Slab(1)); });
      refused("redistribute_into", [&] { redistribute_into(a, b); });
      refused("Redistribute", [&] { plan.execute(a, b); });
      refused("Matmul", [&] { product.execute(); });
      refused("matmul", [&] { (void)matmul(a, b); });
      refused("FFT", [&] { transform.execute(field, spectrum); });
      refused("fft", [&] { (void)fft(field); });
      refused("solve_poisson", [&] { (void)solve_poisson(field); });
      refused("spectral_apply", [&] { (void)spectral_apply(field, [](const WaveVector&) { return 1.0; }); });
      refused("fill", [&] { fill(a, &one); });
      refused("fill by index", [&] { fill(a, [](const Index&) { return 1.0; }); });
      refused("fill_random", [&] { fill_random(a, 3); });
      refused("fill_normal", [&] { fill_normal(a, 3); });
      refused("zeros", [&] { (void)zeros(context, {8, 8}, Slab(0), Dtype::f64); });
      refused("copy", [&] { copy(a, c); });
      refused("copy from the host", [&] { copy(host, a); });
      refused("copy to the host", [&] { copy(a, host); });
      refused("astype", [&] { (void)astype(a, Dtype::f32); });
      refused("sum", [&] { (void)sum<double>(a); });
      refused("sum over an axis", [&] { (void)sum(a, Axes{0}); });
      refused("dot", [&] { (void)dot<double>(a, c); });
      refused("argmax", [&] { (void)argmax(a); });
      refused("argmax over an axis", [&] { (void)argmax(a, 0); });
      refused("cumsum", [&] { (void)cumsum(a); });
      refused("sort", [&] { (void)sort(a, 0); });
      refused("argsort", [&] { (void)argsort(a, 0); });
      refused("median", [&] { (void)median(a); });
      refused("var", [&] { (void)var(a); });
      refused("true_positions", [&] { (void)true_positions(mask); });
      refused("matrix_norm", [&] { (void)matrix_norm(a); });
      refused("Lu", [&] { Lu{a}; });
      refused("solve", [&] { (void)solve(a, c); });
      refused("eigh", [&] { (void)eigh(a); });
      refused("compare", [&] { (void)compare(a, c); });
      refused("gather", [&] { (void)gather(a, 0); });
      refused("at", [&] { (void)at<double>(a, {1, 2}); });
      refused("to_string", [&] { (void)to_string(a); });
      refused("synchronize", [&] { context.synchronize(); });
      redistribute_into(a, b);
      (void)redistribute(a, Slab(1));
      (void)matmul(a, b);
      (void)fft(field);
      (void)solve_poisson(field);
      (void)astype(a, Dtype::f32);
      (void)sum(a, Axes{0});
    }
    // What was refused has changed nothing.
    write_known(a);
    plan.execute(a, b);
    EXPECT_EQ(count_wrong(b, a.layout()), 0);
  });
}

// It would follow the context's own stream, and become part of its graph.
TEST(Captured, NoOtherStreamJoinsTheCaptureOfTheContextsOwn) {
  on_fake_devices([](Context& context) {
    Array rows = zeros(context, {37, 29}, Slab(0), Dtype::i64);
    Array columns = zeros(context, {37, 29}, Slab(1), Dtype::i64);
    Redistribute plan(context, rows.operand(), columns.operand());
    plan.execute(rows, columns);
    const FakeStream other, captured;
    const std::int64_t one = 1;
    const auto refused = [&](const char* name, const std::function<void()>& call) {
      expect_refused_in_capture(context, name, call);
    };
    refused("execute", [&] { plan.execute(rows, columns, other.stream()); });
    refused("redistribute_into", [&] { redistribute_into(rows, columns, {.stream = other.stream()}); });
    refused("fill", [&] { fill(rows, &one, other.stream()); });
    refused("add", [&] { add(rows, rows, rows, other.stream()); });
    refused("synchronize", [&] { context.synchronize(other.stream()); });
    // Two graphs are two graphs.
    begin_fake_capture(context.stream());
    begin_fake_capture(captured.stream());
    plan.execute(rows, columns, captured.stream());
    const std::shared_ptr<FakeGraph> graph = end_fake_capture(captured.stream());
    EXPECT_TRUE(end_fake_capture(context.stream())->tasks.empty());
    write_known(rows);
    start_fake_graph(*graph, captured.stream());
    context.synchronize(captured.stream());
    EXPECT_EQ(count_wrong(columns, rows.layout()), 0);
  });
}

// A garbage collector drops an array on one rank and not on others, whenever it likes.
TEST(Captured, AnArrayThatOneRankHasDroppedIsFreedAfterTheCapture) {
  on_fake_devices([](Context& context) {
    for (const bool everywhere : {false, true}) {
      std::optional<Array> old = empty(context, {64, 64}, Slab(0), Dtype::f64);
      const void* const place = old->local().data;
      context.synchronize();
      context.barrier();
      if (everywhere || context.rank() == 0) old.reset();
      begin_fake_capture(context.stream());
      const Array fresh = empty(context, {64, 64}, Slab(0), Dtype::f64);
      context.collect();
      const Array another = empty(context, {64, 64}, Slab(0), Dtype::f64);
      EXPECT_TRUE(end_fake_capture(context.stream())->tasks.empty());
      EXPECT_NE(fresh.local().data, place);
      EXPECT_NE(another.local().data, place);
      EXPECT_FALSE(context.failed()) << context.failure();
      old.reset();
      context.collect();
      EXPECT_EQ(empty(context, {64, 64}, Slab(0), Dtype::f64).local().data, place);
    }
  });
}

/// Products whose operands are given anew in each round: in place with separate factors, and of a result
/// whose factor has to be packed first.
class CapturedProducts {
 public:
  explicit CapturedProducts(Context& context)
      : a_(empty(context, {21, 34}, Slab(0), Dtype::c128)),
        b_(empty(context, {34, 27}, Slab(1), Dtype::c128)),
        sum_(zeros(context, {21, 27}, Slab(0), Dtype::c128)),
        last_(zeros(context, {21, 27}, Slab(1), Dtype::c128)),
        before_(zeros(context, {21, 27}, Slab(0), Dtype::c128)) {
    adds_.emplace(context, MatmulOperands{a_.operand(), b_.operand(), sum_.operand(), sum_.operand()},
                  MatmulOptions{.op_a = Op::conjugate, .beta = 1}, true);
    adds_->reset(a_, b_, &sum_, sum_);
  }
  void give(int round) {
    write_known(a_, round % 7);
    write_known(b_, round % 5);
  }
  void multiply(Stream stream) {
    adds_->execute(2, 1, stream);
    matmul_into(a_, b_, nullptr, last_, {.stream = stream});
  }
  /// The object is freed; its graphs live on.
  void let_go() { adds_.reset(); }
  void expect(int round) {
    matmul_into(a_, b_, &before_, before_, {.op_a = Op::conjugate, .alpha = 2, .beta = 1});
    EXPECT_TRUE(compare(sum_, before_).equal) << "round " << round;
    EXPECT_TRUE(compare(last_, matmul(a_, b_)).equal) << "round " << round;
  }

 private:
  Array a_, b_, sum_, last_, before_;
  std::optional<Matmul> adds_;
};

// A thousand times in the full product, with ranks that are late by turns; plans that the context would give
// up stay.
TEST(Captured, ProductsAreMadeAsOftenAsTheGraphIsStarted) {
  on_fake_devices(
      [](Context& context) {
        const FakeStream mine;
        CapturedProducts products(context);
        begin_fake_capture(mine.stream());
        products.multiply(mine.stream());
        std::shared_ptr<FakeGraph> graph = end_fake_capture(mine.stream());
        EXPECT_EQ(context.state()->plans.pinned(), 2U);
        products.let_go();
        context.collect();
        for (int round = 0; round < (full_product() ? 1000 : 250); ++round) {
          products.give(round);
          if (round % 16 == context.rank()) delay_fake_stream(mine.stream(), std::chrono::microseconds(200));
          start_fake_graph(*graph, mine.stream());
          context.synchronize(mine.stream());
          products.expect(round);
          if (::testing::Test::HasFailure()) break;
        }
        graph.reset();
        context.collect();
        EXPECT_EQ(context.state()->plans.pinned(), 0U);
      },
      2);
}

}  // namespace
}  // namespace partita::testing
