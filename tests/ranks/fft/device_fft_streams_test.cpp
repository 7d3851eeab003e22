// Transforms in the streams of devices: when arrays may be overwritten, what the host waits for, and graphs.
#include "support/fakes/fake_device.hpp"
#include "support/fakes/fake_transforms.hpp"
#include "support/fakes/gate.hpp"
#include "support/models/fft_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

#define FFT_STREAM_TEST(name) DEVICE_TEST_OF(DeviceFftStreams, name)

const Shape shape_of_field{11, 7, 10};
const Shape shape_that_is_stored{8, 4, 16};  // by the last transform, in the memory of peers

/// There and back of several fields that take turns.
class There {
 public:
  There(Context& context, Residency residency, Dtype dtype = Dtype::c128,
        FftExchange exchange = FftExchange::automatic)
      : dtype_(dtype), shape_(exchange == FftExchange::stores ? shape_that_is_stored : shape_of_field) {
    const ArrayOptions options{.residency = residency};
    input_ = empty(context, shape_, Slab(0), dtype, options);
    plan_.emplace(context, input_.operand(),
                  FftOptions{.kind = is_complex(dtype) ? FftKind::c2c : FftKind::r2c,
                             .output = Output::cheapest,
                             .exchange = exchange});
    spectrum_ = empty(context, plan_->output().layout, plan_->output().dtype);
    for (int field = 0; field < fields; ++field) {
      fields_.push_back(empty(context, shape_, Slab(0), dtype));
      back_.push_back(empty(context, shape_, Slab(0), dtype, options));
      fill_random(fields_.back(), static_cast<std::uint64_t>(field));
    }
    plan_->execute(input_, spectrum_);  // makes what is made at first
    plan_->inverse(spectrum_, input_);
  }

  static constexpr int fields = 3;
  Array& field(int number) { return fields_[static_cast<std::size_t>(number % fields)]; }
  Array& back(int number) { return back_[static_cast<std::size_t>(number % fields)]; }

  /// Arrays are given and taken away in stream order.
  void run(int round, Stream stream) {
    copy(field(round), input_, stream);
    transform(back(round), stream);
  }
  void transform(Array& result, Stream stream) {
    plan_->execute(input_, spectrum_, 2, stream);
    spoil(input_, stream);
    plan_->inverse(spectrum_, result, 0.5, stream);
    spoil(spectrum_, stream);
  }
  Array& input() { return input_; }
  void let_go() { plan_.reset(); }
  const std::string& method() const { return plan_->plan().method; }
  /// The same by calls of one line, whose results are new arrays and given ones.
  void run_in_one_line(int round, Stream stream) {
    copy(field(round), input_, stream);
    const FftOptions options{.stream = stream};
    Array spectrum = is_complex(dtype_) ? fft(input_, options) : rfft(input_, options);
    spoil(input_, stream);
    is_complex(dtype_) ? ifft_into(spectrum, back(round), options)
                       : irfft_into(spectrum, back(round), options);
    spoil(spectrum, stream);
  }

  void expect_back(int number, const Array& result) const {
    const NumberArray whole =
        random_whole(result.context(), shape_, dtype_, static_cast<std::uint64_t>(number % fields));
    EXPECT_LT(relative_error(result, whole), 2 * tolerance(dtype_, shape_)) << number;
  }

 private:
  static void spoil(Array& array, Stream stream) {
    visit_dtype(array.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_floating_point_v<T>) {
        fill(array, std::numeric_limits<T>::quiet_NaN(), stream);
      } else if constexpr (std::is_same_v<T, std::complex<double>>) {
        fill(array, T(std::numeric_limits<double>::quiet_NaN()), stream);
      }
    });
  }

  Dtype dtype_;
  Shape shape_;
  Array input_, spectrum_;
  std::vector<Array> fields_, back_;
  std::optional<FFT> plan_;
};

/// Ranks that reach each other's memory.
bool may_store(Context& context) {
  return context.size() > 1 && context.state()->device_topology.node_count() == 1;
}

FFT_STREAM_TEST(ArraysMayBeOverwrittenInStreamOrder) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed() + context.rank()));
  for (const Dtype dtype : {Dtype::c128, Dtype::f32}) {
    for (const Residency residency : {Residency::heap, Residency::ordinary}) {
      There there(context, residency, dtype);
      for (int round = 0; round < 30; ++round) {
        there.run(round, Stream{});
        if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      }
      context.synchronize();
      for (int field = 0; field < There::fields; ++field) there.expect_back(field, there.back(field));
    }
  }
}

/// The same where results go into the memory of peers that may still use it.
FFT_STREAM_TEST(StoredResultsComeInStreamOrder) {
  if (!may_store(context)) GTEST_SKIP() << "needs several ranks of one node";
  std::mt19937 random(static_cast<unsigned>(pairs_seed() + context.rank()));
  for (const Dtype dtype : {Dtype::c128, Dtype::f32}) {
    There there(context, Residency::heap, dtype, FftExchange::stores);
    EXPECT_EQ(there.method(), "slab+stores");
    for (int round = 0; round < 200; ++round) {
      there.run(round, Stream{});
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
    context.synchronize();
    for (int field = 0; field < There::fields; ++field) there.expect_back(field, there.back(field));
  }
}

FFT_STREAM_TEST(CallsOfOneLineGoInStreamOrder) {
  for (const Dtype dtype : {Dtype::c128, Dtype::f32}) {
    for (const Residency residency : {Residency::heap, Residency::ordinary}) {
      There there(context, residency, dtype);
      for (int round = 0; round < 9; ++round) there.run_in_one_line(round, Stream{});
      context.synchronize();
      for (int field = 0; field < There::fields; ++field) there.expect_back(field, there.back(field));
    }
  }
}

FFT_STREAM_TEST(CallsOfOneLineWantDeviceMemoryOnBothSides) {
  const Array device = empty(context, {6, 4}, Slab(0), Dtype::c128);
  Array host = empty(context, {6, 4}, Slab(0), Dtype::c128, {.space = MemorySpace::host});
  EXPECT_ERROR_ON_ALL(UnsupportedError, fft(host, {.stream = Stream{}}));
  EXPECT_ERROR_ON_ALL(UnsupportedError, fft_into(device, host, {.stream = Stream{}}));
  EXPECT_ERROR_ON_ALL(ArgumentError, dct(device, 5, {.stream = Stream{}}));
}

// What a context puts into several streams keeps its order; one rank is late.
FFT_STREAM_TEST(StreamsTakeTurns) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const FakeStream one, other;
  There there(context, Residency::heap);
  for (int round = 0; round < 12; ++round) {
    const Stream stream = round % 3 == 0 ? one.stream() : round % 3 == 1 ? other.stream() : context.stream();
    there.run(round, stream);
    if (round % 3 == context.rank() % 3) delay_fake_stream(stream, std::chrono::milliseconds(2));
  }
  context.synchronize();
  for (int field = 0; field < There::fields; ++field) there.expect_back(field, there.back(field));
}

FFT_STREAM_TEST(TheHostDoesNotWaitAndPlansNothing) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (host_waits_for_messages(context)) GTEST_SKIP() << "messages wait in execute";
  const FakeStream mine;
  There there(context, Residency::heap);
  context.barrier();
  const int prepared = fake_transforms_prepared();
  {
    const Gate gate(mine.stream());
    there.run(0, mine.stream());
    there.run(1, mine.stream());
  }
  context.synchronize(mine.stream());
  context.barrier();
  EXPECT_EQ(fake_transforms_prepared(), prepared);
  there.expect_back(0, there.back(0));
  there.expect_back(1, there.back(1));
}

// Strides are new at every execution, plans are not.
FFT_STREAM_TEST(StridedArraysNeedNoNewPlans) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const Layout layout(Slab(0), shape_of_field, context.size());
  WrappedSymmetric input = spread(context, layout, Dtype::c128, 2);
  FFT plan(context, input.array.operand(), input.array.operand());
  context.barrier();
  const int prepared = fake_transforms_prepared();
  context.barrier();
  for (const std::int64_t apart : {1, 2, 3}) {
    WrappedSymmetric from = spread(context, layout, Dtype::c128, apart);
    WrappedSymmetric to = spread(context, layout, Dtype::c128, 4 - apart);
    fill_random(from.array, 4);
    plan.execute(from.array, to.array, 1, Stream{});
    context.synchronize();
    EXPECT_LT(
        relative_error(to.array, transformed(random_whole(context, shape_of_field, Dtype::c128, 4), {})),
        tolerance(Dtype::c128, shape_of_field));
  }
  context.barrier();
  EXPECT_EQ(fake_transforms_prepared(), prepared);
}

// The object is let go; the graph keeps what it needs.
FFT_STREAM_TEST(GraphsAreStartedAgainAndAgain) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (host_waits_for_messages(context)) GTEST_SKIP() << "messages are not captured";
  for (const Dtype dtype : {Dtype::c128, Dtype::f64}) {
    const FakeStream mine;
    There there(context, Residency::heap, dtype);
    Array result = empty(context, shape_of_field, Slab(0), dtype);
    begin_fake_capture(mine.stream());
    there.transform(result, mine.stream());
    const std::shared_ptr<FakeGraph> graph = end_fake_capture(mine.stream());
    there.let_go();
    context.collect();
    for (int round = 0; round < 20; ++round) {
      copy(there.field(round), there.input());
      start_fake_graph(*graph, mine.stream());
      context.synchronize(mine.stream());
      there.expect_back(round, result);
    }
  }
}

FFT_STREAM_TEST(GraphsStoreAThousandTimes) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (!may_store(context)) GTEST_SKIP() << "needs several ranks of one node";
  const FakeStream mine;
  There there(context, Residency::heap, Dtype::c128, FftExchange::stores);
  Array result = empty(context, shape_that_is_stored, Slab(0), Dtype::c128);
  begin_fake_capture(mine.stream());
  there.transform(result, mine.stream());
  const std::shared_ptr<FakeGraph> graph = end_fake_capture(mine.stream());
  for (int round = 0; round < 1000; ++round) {
    copy(there.field(round), there.input(), mine.stream());
    start_fake_graph(*graph, mine.stream());
    if (round % 3 == context.rank() % 3 && round % 50 == 0)
      delay_fake_stream(mine.stream(), std::chrono::milliseconds(1));
    if (round % 10 != 9) continue;
    context.synchronize(mine.stream());
    there.expect_back(round, result);
  }
}

FFT_STREAM_TEST(WhereTheHostWaitsForMessagesItIsNotCaptured) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (!host_waits_for_messages(context)) GTEST_SKIP() << "needs messages of the process group";
  const FakeStream mine;
  There there(context, Residency::heap);
  begin_fake_capture(mine.stream());
  EXPECT_ERROR_ON_ALL(UnsupportedError, there.transform(there.back(0), mine.stream()), "cannot be captured");
  end_fake_capture(mine.stream());
  EXPECT_FALSE(context.failed());
  there.run(1, mine.stream());
  context.synchronize(mine.stream());
  there.expect_back(1, there.back(1));
}

}  // namespace
}  // namespace partita::testing
