// Matrix multiply in the streams of devices: when operands may be overwritten, and what the host waits for.
#include "support/fakes/fake_device.hpp"
#include "support/fakes/gate.hpp"
#include "support/models/matmul_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

#define MATMUL_STREAM_TEST(name) DEVICE_TEST_OF(DeviceMatmulStreams, name)

constexpr std::int64_t rows_of_a = 19, columns_of_b = 17, depth_of_both = 23;

/// Small integers: sums are exact in any order.
Array of_integers(const Context& context, const Shape& shape, const Distribution& how, int kind,
                  Residency residency = Residency::heap) {
  Array array = empty(context, shape, how, Dtype::f64, {.residency = residency});
  write_known(array, kind);
  return array;
}

/// C += A B again and again, of two kinds of A and B that take turns.
class Accumulation {
 public:
  Accumulation(Context& context, Residency residency)
      : a_(of_integers(context, {rows_of_a, depth_of_both}, Slab(0), 0, residency)),
        b_(of_integers(context, {depth_of_both, columns_of_b}, Slab(1), 0, residency)),
        c_(zeros(context, {rows_of_a, columns_of_b}, Slab(0), Dtype::f64, {.residency = residency})) {
    for (int kind = 0; kind < 2; ++kind) {
      kinds_of_a_.push_back(of_integers(context, a_.shape(), Slab(0), kind));
      kinds_of_b_.push_back(of_integers(context, b_.shape(), Slab(1), kind));
    }
    plan_.emplace(context, MatmulOperands{a_.operand(), b_.operand(), c_.operand(), c_.operand()},
                  MatmulOptions{.beta = 1}, true);
    plan_->reset(a_, b_, &c_, c_);
  }

  /// The operands are given and taken away in stream order.
  void add(double alpha, Stream stream) {
    const std::size_t kind = static_cast<std::size_t>(rounds_) % 2;
    copy(kinds_of_a_[kind], a_, stream);
    copy(kinds_of_b_[kind], b_, stream);
    plan_->execute(alpha, 1, stream);
    fill(a_, std::numeric_limits<double>::quiet_NaN(), stream);
    fill(b_, std::numeric_limits<double>::quiet_NaN(), stream);
    weights_[kind] += alpha;
    ++rounds_;
  }

  void expect() const {
    const Whole sum(c_);
    const std::vector<Whole> a(kinds_of_a_.begin(), kinds_of_a_.end()),
        b(kinds_of_b_.begin(), kinds_of_b_.end());
    for (std::int64_t i = 0; i < rows_of_a; ++i) {
      for (std::int64_t j = 0; j < columns_of_b; ++j) {
        Wide expected = 0;
        for (std::size_t kind = 0; kind < 2; ++kind) {
          for (std::int64_t l = 0; l < depth_of_both; ++l)
            expected += widened(weights_[kind]) * a[kind].at(0, i, l) * b[kind].at(0, l, j);
        }
        ASSERT_EQ(sum.at(0, i, j), expected) << i << "," << j;
      }
    }
  }

 private:
  Array a_, b_, c_;
  std::vector<Array> kinds_of_a_, kinds_of_b_;
  std::optional<Matmul> plan_;
  std::array<double, 2> weights_{};
  int rounds_ = 0;
};

MATMUL_STREAM_TEST(OperandsMayBeOverwrittenInStreamOrder) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed() + context.rank()));
  for (const Residency residency : {Residency::heap, Residency::ordinary}) {
    Accumulation sum(context, residency);
    for (int round = 0; round < 60; ++round) {
      sum.add(1, Stream{});
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
    context.synchronize();
    sum.expect();
  }
}

// The first one with alpha = 0 makes a plan while the stream is busy.
MATMUL_STREAM_TEST(FactorsAreThoseOfTheCall) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const FakeStream mine;
  Accumulation sum(context, Residency::heap);
  for (const double alpha : {2.0, 0.0, -1.0, 3.0, 0.0}) sum.add(alpha, mine.stream());
  context.synchronize(mine.stream());
  sum.expect();
}

// What a context puts into several streams keeps its order.
MATMUL_STREAM_TEST(StreamsTakeTurns) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const FakeStream one, other;
  Accumulation sum(context, Residency::heap);
  for (int round = 0; round < 12; ++round) {
    const Stream stream = round % 3 == 0 ? one.stream() : round % 3 == 1 ? other.stream() : context.stream();
    sum.add(1, stream);
    if (round % 3 == context.rank() % 3) delay_fake_stream(stream, std::chrono::milliseconds(2));
  }
  context.synchronize();
  sum.expect();
}

MATMUL_STREAM_TEST(TheHostDoesNotWait) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (host_waits_for_messages(context)) GTEST_SKIP() << "messages wait in execute";
  const FakeStream mine;
  const Array a = of_integers(context, {rows_of_a, depth_of_both}, Slab(0), 0),
              b = of_integers(context, {depth_of_both, columns_of_b}, Slab(1), 1);
  Array d = zeros(context, {rows_of_a, columns_of_b}, Slab(0), Dtype::f64);
  const Array expected = matmul(a, b);
  matmul_into(a, b, nullptr, d);
  fill(d, -1.0, mine.stream());
  context.synchronize(mine.stream());
  {
    const Gate gate(mine.stream());
    matmul_into(a, b, nullptr, d, {.stream = mine.stream()});
    for (std::int64_t i = 0; i < d.local_size(); ++i) EXPECT_EQ(d.data<double>()[i], -1);
  }
  context.synchronize(mine.stream());
  EXPECT_TRUE(compare(d, expected).equal);
}

MATMUL_STREAM_TEST(NewResultsComeInStreamOrder) {
  Array a = of_integers(context, {rows_of_a, depth_of_both}, Slab(0), 0),
        b = of_integers(context, {depth_of_both, columns_of_b}, Slab(1), 1),
        c = of_integers(context, {rows_of_a, columns_of_b}, Slab(1), 2);
  MatmulOptions options{.alpha = 2, .beta = -3};
  const Array product = matmul(a, b), sum = matmul(a, b, c, options);
  const Stream stream = context.stream();
  const Array product_in_stream = matmul(a, b, {.stream = stream});
  options.stream = stream;
  const Array sum_in_stream = matmul(a, b, c, options);
  for (Array* const array : {&a, &b, &c}) fill(*array, 99.0, stream);
  EXPECT_TRUE(compare(product_in_stream, product).equal);
  EXPECT_TRUE(compare(sum_in_stream, sum).equal);
}

// The device may not have begun when the plan is not needed any more.
MATMUL_STREAM_TEST(APlanThatGoesLeavesNoMemoryThatItsStreamStillUses) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  using namespace std::chrono_literals;
  const FakeStream mine;
  std::atomic<bool> begun{false};
  const std::int64_t depth = 40 * context.size();  // so deep that nothing is copied into a workspace
  Array a = zeros(context, {9, depth}, Slab(1), Dtype::bf16),
        b = zeros(context, {depth, 24}, Slab(0), Dtype::bf16);
  Array d = zeros(context, {9, 24}, Slab(0), Dtype::bf16);
  {
    Matmul plan(context, {a.operand(), b.operand(), {}, d.operand()}, {.method = MatmulMethod::summa_c});
    const auto is_private = [](const Buffer& buffer) {
      return buffer.kind == BufferKind::scratch && buffer.bytes > 0;
    };
    const bool has_scratch = std::ranges::any_of(plan.plan().buffers, is_private);
    EXPECT_TRUE(has_scratch || context.size() == 1) << plan.explain();
    begun = !has_scratch;
    plan.reset(a, b, nullptr, d);
    delay_fake_stream(mine.stream(), 30ms);
    put_into_fake_stream(mine.stream(), [&begun] { begun = true; });
    plan.execute(mine.stream());
  }
  EXPECT_TRUE(begun);
  context.synchronize(mine.stream());
}

// How long streams use the scratch of a plan, and the workspace of its products.
MATMUL_STREAM_TEST(OneEventIsPutForAllMemoryOfAPlan) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (context.topology().node_count() > 1 || context.machine().name == "pushes")
    GTEST_SKIP() << "its streams wait for one another, by events of their own";
  const Array a = zeros(context, {9, 5 * context.size()}, Slab(0), Dtype::bf16),
              b = zeros(context, {5 * context.size(), 24}, Slab(0), Dtype::bf16);
  Array d = zeros(context, {9, 24}, Slab(0), Dtype::bf16);
  MatmulOptions options;
  options.method = MatmulMethod::summa_a;  // whose steps all go into one stream
  Matmul plan(context, {a.operand(), b.operand(), {}, d.operand()}, options);
  plan.reset(a, b, nullptr, d);
  std::vector<int> put;
  for (int round = 0; round < 5; ++round) {
    const int before = fake_events_put();
    plan.execute(context.stream());
    put.push_back(fake_events_put() - before);
  }
  context.synchronize();
  EXPECT_EQ(std::ranges::min(put), 1);  // now and then there is one for how far the host is ahead
}

MATMUL_STREAM_TEST(HostMemoryHasNoStreams) {
  const auto made = [&](MemorySpace space) {
    return zeros(context, {8, 8}, Slab(0), Dtype::f64, {.space = space});
  };
  const Array there = made(MemorySpace::device), here = made(MemorySpace::host);
  Array d = made(MemorySpace::host);
  const auto refused = [&](const char* who, const std::function<void()>& call) {
    const std::string text = same_error<UnsupportedError>(context, call);
    EXPECT_TRUE(contains(text, std::string(who) + " is in host memory; stream-ordered calls require"))
        << text;
    EXPECT_FALSE(context.failed());
  };
  MatmulOptions on_host{.stream = Stream{}};
  on_host.space = MemorySpace::host;
  refused("A", [&] { (void)matmul(here, there, {.stream = Stream{}}); });
  refused("B", [&] { (void)matmul(there, here, {.stream = Stream{}}); });
  refused("D", [&] { matmul_into(there, there, nullptr, d, {.stream = Stream{}}); });
  refused("D", [&] { (void)matmul(there, there, on_host); });
  Matmul plan(context, {there.operand(), here.operand(), {}, d.operand()});
  plan.reset(there, here, nullptr, d);
  refused("B", [&] { plan.execute(Stream{}); });
}

MATMUL_STREAM_TEST(WhereTheHostWaitsForMessagesItIsNotCaptured) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (!host_waits_for_messages(context)) GTEST_SKIP() << "needs messages of the process group";
  const FakeStream mine;
  const Array a = of_integers(context, {8, 8}, Slab(0), 0), b = of_integers(context, {8, 8}, Slab(1), 1);
  Array d = zeros(context, {8, 8}, Slab(0), Dtype::f64);
  begin_fake_capture(mine.stream());
  EXPECT_ERROR_ON_ALL(UnsupportedError, matmul_into(a, b, nullptr, d, {.stream = mine.stream()}),
                      "cannot be captured");
  end_fake_capture(mine.stream());
  EXPECT_FALSE(context.failed());
  matmul_into(a, b, nullptr, d, {.stream = mine.stream()});
  context.synchronize(mine.stream());
  EXPECT_TRUE(compare(d, matmul(a, b)).equal);
}

}  // namespace
}  // namespace partita::testing
