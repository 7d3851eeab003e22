// What is put into the streams of devices: its order, and what the host waits for.
#include <future>

#include "device/run_ahead.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/fakes/gate.hpp"
#include "support/models/stream_order.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

DEVICE_TEST(ExecutesInStreamOrder) {
  if (context.state()->device_topology.node_count() > 1)
    GTEST_SKIP() << "needs devices that reach each other: messages wait in execute";
  check_stream_order(context, {}, 200);
}

// As it does once an execution has been captured into a graph.
DEVICE_TEST(TheDeviceItselfMayCountSignals) {
  Array source = empty(context, {37, 29}, Slab(0), Dtype::i64);
  Array destination = empty(context, {37, 29}, Slab(1), Dtype::i64);
  Redistribute there(context, source.operand(), destination.operand());
  Redistribute back(context, destination.operand(), source.operand());
  write_known(source);
  for (int round = 0; round < 20; ++round) {
    if (round == context.rank()) context.state()->flags->count_on_device();  // each rank when it likes
    there.execute(source, destination);
    write_constant(source, round);
    back.execute(destination, source);
  }
  EXPECT_EQ(count_wrong(source, source.layout()), 0);
}

DEVICE_TEST(NewArraysAreRedistributedInStreamOrder) {
  Array source = empty(context, {37, 29}, Slab(0), Dtype::i64);
  const Stream stream = context.stream();
  std::vector<Array> results;
  for (std::int64_t round = 0; round < 6; ++round) {
    fill(source, round, stream);
    results.push_back(round % 2 == 0
                          ? redistribute(source, Slab(1), {.stream = stream})
                          : redistribute(source, BlockCyclic({context.size(), 1}, {2, 2}),
                                         {.stream = stream, .axes = {1, 0}, .order = Order::column_major}));
  }
  fill(source, std::int64_t{-1}, stream);
  context.synchronize();
  for (std::int64_t round = 0; round < 6; ++round) {
    const Array& result = results[static_cast<std::size_t>(round)];
    EXPECT_EQ(min<std::int64_t>(result), round);
    EXPECT_EQ(max<std::int64_t>(result), round);
  }
}

/// Every call refuses the stream in its options with this text on all ranks: where all give one, and where
/// one rank alone does.
void expect_streams_refused(Context& context, const std::string& expected,
                            const std::vector<std::function<void(const std::optional<Stream>&)>>& calls) {
  for (const bool everywhere : {true, false}) {
    const std::optional<Stream> stream =
        everywhere || context.rank() == 0 ? std::optional(Stream{}) : std::nullopt;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::string text = same_error<ArgumentError>(context, [&] { calls[i](stream); });
      EXPECT_TRUE(contains(text, expected)) << "call " << i << ": " << text;
    }
  }
  EXPECT_FALSE(context.failed());
}

RANK_TEST(PlanStreams, OptionsOfPlansHaveNone) {
  const Operand operand = zeros(context, {8, 8}, Slab(0), Dtype::c128).operand();
  using Given = const std::optional<Stream>&;
  expect_streams_refused(
      context, "pass it to execute",
      {[&](Given stream) { Redistribute(context, operand, operand, {.stream = stream}); },
       [&](Given stream) { FFT(context, operand, {.stream = stream}); },
       [&](Given stream) { FFT(context, operand, operand, {.stream = stream}); },
       [&](Given stream) { Matmul(context, {.a = operand, .b = operand, .d = operand}, {.stream = stream}); },
       [&](Given stream) {
         Halo(context, operand, {.stream = stream, .lower = {1, 1}});
       }});
}

RANK_TEST(PlanStreams, NewArraysTakeNone) {
  const Layout layout(Slab(0), {8, 8}, context.size());
  using Given = const std::optional<Stream>&;
  expect_streams_refused(
      context, "a new array takes no stream",
      {[&](Given stream) { (void)empty(context, layout, Dtype::f64, {.stream = stream}); },
       [&](Given stream) {
         (void)empty(context, {8, 8}, Slab(1), Dtype::f64, {.stream = stream});
       },
       [&](Given stream) {
         (void)zeros(context, {8, 8}, Slab(0), Dtype::f64, {.stream = stream});
       },
       [&](Given stream) {
         (void)full(context, {8, 8}, Slab(0), 1.5, {.stream = stream});
       },
       [&](Given stream) { (void)arange(context, 8, Slab(0), {.stream = stream}); },
       [&](Given stream) { (void)eye(context, 8, 8, Slab(0), Dtype::f64, 0, {.stream = stream}); }});
}

// Memory that is dropped while a stream still uses it is not given to anybody else.
DEVICE_TEST(DroppedArraysOutliveTheirStreams) {
  if (context.state()->device_topology.node_count() > 1)
    GTEST_SKIP() << "needs devices that reach each other: messages wait in execute";
  Array source = empty(context, {301, 203}, Slab(0), Dtype::f32);
  write_known(source);
  Array kept = empty(context, {301, 203}, Slab(1), Dtype::f32);
  for (int round = 0; round < 20; ++round) {
    Array passing = empty(context, {301, 203}, BlockCyclic({1, context.size()}, {3, 3}), Dtype::f32);
    Redistribute up(context, source.operand(), passing.operand());
    Redistribute down(context, passing.operand(), kept.operand());
    up.execute(source, passing, Stream{});
    down.execute(passing, kept, Stream{});
  }
  context.synchronize();
  EXPECT_EQ(count_wrong(kept, source.layout()), 0);
}

// A driver frees memory when its device has done all that it was given, by whichever rank of the process: by
// one that has run ahead, too, and waits for the others.
DEVICE_TEST(MemoryGoesWhileARankThatSharesTheDeviceWaits) {
  if (context.state()->device_topology.node_count() > 1)
    GTEST_SKIP() << "needs devices that reach each other: messages wait in execute";
  Array source = empty(context, {301, 203}, Slab(0), Dtype::f32);
  Array destination = empty(context, {301, 203}, Slab(1), Dtype::f32);
  Redistribute there(context, source.operand(), destination.operand());
  write_known(source);
  for (int ahead = 0; ahead < context.size(); ++ahead) {
    std::optional<Array> ordinary =
        empty(context, {8}, Replicated(), Dtype::f32, {.residency = Residency::ordinary});
    std::optional<Array> spectrum = empty(context, {8, 4 * context.size()}, Slab(1), Dtype::c64);
    std::optional<FFT> plan(std::in_place, context, spectrum->operand(), spectrum->operand());
    if (context.rank() == ahead) {
      there.execute(source, destination, Stream{});
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so long it has time to begin
    }
    ordinary.reset();
    plan.reset();
    if (context.rank() != ahead) there.execute(source, destination, Stream{});
    context.synchronize();
    EXPECT_EQ(count_wrong(destination, source.layout()), 0);
  }
}

// What the ranks of a sub-group agree on frees nothing: one outside of it may wait for what they start later.
DEVICE_TEST(MemoryStaysInASubgroupWhileAnotherRankWaits) {
  if (context.state()->device_topology.node_count() > 1)
    GTEST_SKIP() << "needs devices that reach each other: messages wait in execute";
  if (context.size() < 3) GTEST_SKIP() << "needs a rank outside of a group";
  Array source = empty(context, {301, 203}, Slab(0), Dtype::f32);
  Array destination = empty(context, {301, 203}, Slab(1), Dtype::f32);
  Redistribute there(context, source.operand(), destination.operand());
  write_known(source);
  std::vector<int> inside(static_cast<std::size_t>(context.size()) - 1);
  std::iota(inside.begin(), inside.end(), 0);
  if (context.rank() == context.size() - 1) {
    there.execute(source, destination, Stream{});
  } else {
    const Context some = context.subgroup(inside);
    for (int round = 0; round < 3; ++round) {
      (void)empty(some, {8}, Replicated(), Dtype::f32, {.residency = Residency::ordinary});
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so long the other has time to begin
    }
    there.execute(source, destination, Stream{});
  }
  context.synchronize();
  EXPECT_EQ(count_wrong(destination, source.layout()), 0);
}

// The device would block the program inside of a launch, where no thread monitors peers.
DEVICE_TEST(ArithmeticWithoutEndIsHeldBack) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  constexpr int many = 2 * static_cast<int>(devices::RunAhead::most);
  Array array = zeros(context, {64, 3}, Slab(0), Dtype::f64);
  if (array.local_size() == 0) return;
  for (const bool random : {false, true}) {
    context.synchronize();
    Gate gate(context.stream());
    std::atomic<int> given = 0;
    auto stood_at = std::async(std::launch::async, [&] {
      int seen = -1;
      for (int now = given; now != seen; now = given) {
        seen = now;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
      }
      gate.open();
      return seen;
    });
    for (; given < many; ++given) {
      random ? fill_random(array, 7, Stream{}) : scale(array, 1.0, Stream{});
    }
    EXPECT_LE(stood_at.get(), devices::RunAhead::most + 1);
  }
}

// Of CUDA the handle 0 is a stream, and PyTorch's usual one: not to be taken for the context's own.
DEVICE_TEST(ANullHandleIsTheDefaultStream) {
  Array array = zeros(context, {64, 3}, Slab(0), Dtype::f64);
  Array other = zeros(context, {64, 3}, Slab(0), Dtype::f64);
  if (tests_fake_devices()) {
    Gate gate{Stream{nullptr}};
    fill(array, 4.0, Stream{nullptr});
    std::promise<void> own_is_done;
    put_into_fake_stream(context.stream(), [&own_is_done] { own_is_done.set_value(); });
    own_is_done.get_future().wait();
    for (std::int64_t i = 0; i < array.local_size(); ++i) EXPECT_EQ(array.data<double>()[i], 0);
  } else {
    fill(array, 4.0, Stream{nullptr});
  }
  copy(array, other, Stream{nullptr});
  context.synchronize(Stream{nullptr});
  EXPECT_EQ(count_others(other, 4), 0);
}

DEVICE_TEST(ArraysAreFilledAndCopiedInStreams) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const FakeStream mine;
  const Stream stream = mine.stream();
  Array from = zeros(context, {31, 6}, Slab(0), Dtype::i32);
  Array to = zeros(context, {31, 6}, Slab(0), Dtype::i32, {.order = Order::column_major});
  const std::int32_t value = 5;
  {
    const Gate gate(stream);
    fill(from, value, stream);
    copy(from, to, stream);
    for (std::int64_t i = 0; i < to.local_size(); ++i) EXPECT_EQ(to.data<std::int32_t>()[i], 0);
  }
  context.synchronize(stream);
  for (std::int64_t i = 0; i < to.local_size(); ++i) EXPECT_EQ(to.data<std::int32_t>()[i], value);
}

// What the stream was given before has been done when they look.
DEVICE_TEST(WhatWaitsOnTheHostComesAfterTheStream) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const FakeStream mine;
  const Stream stream = mine.stream();
  const auto late = [&] { delay_fake_stream(stream, std::chrono::milliseconds(20)); };
  Array there = zeros(context, {31, 6}, Slab(0), Dtype::f32);
  Array here = zeros(context, {31, 6}, Slab(0), Dtype::f32, {.space = MemorySpace::host});
  late();
  fill(there, 5.0f, stream);
  copy(there, here, stream);
  EXPECT_EQ(count_others(here, 5), 0);
  late();
  fill(there, 7.0f, stream);
  EXPECT_EQ(compare(there, here, stream).largest_difference, 2);
  late();
  fill(there, 8.0f, stream);
  fill_random(there, 11, stream);
  fill_random(here, 11);
  EXPECT_TRUE(compare(there, here, stream).equal);
}

DEVICE_TEST(ElementsAreReadAndWrittenAfterTheStream) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const FakeStream mine;
  const Stream stream = mine.stream();
  const auto late = [&] { delay_fake_stream(stream, std::chrono::milliseconds(20)); };
  Array there = zeros(context, {31, 6}, Slab(0), Dtype::f32);
  late();
  fill(there, 5.0f, stream);
  EXPECT_EQ(at<float>(there, {30, 5}, stream), 5.0f);
  late();
  fill(there, 7.0f, stream);
  set_at(there, {1, 2}, -1.0f, stream);
  EXPECT_EQ(at<float>(there, {1, 2}), -1.0f);
  EXPECT_EQ(at<float>(there, {2, 1}), 7.0f);
  late();
  fill(there, 8.0f, stream);
  fill(
      there, [](const Index& index) { return static_cast<float>(index[0]); }, stream);
  EXPECT_EQ(at<float>(there, {17, 3}), 17.0f);
  late();
  fill(there, 9.0f, stream);
  fill_normal(there, 4, stream);
  EXPECT_LT(at<float>(there, {30, 5}, stream), 9.0f);
}

// Made there, in any distribution and order, with the bits of the host's.
DEVICE_TEST(RandomNumbersAreThoseOfTheHost) {
  const Layout layouts[] = {Layout(Slab(1), {31, 7}, context.size()),
                            Layout(BlockCyclic({1, context.size()}, {3, 2}), {31, 7}, context.size()),
                            Layout(Replicated{}, {31, 7}, context.size())};
  for (const Layout& layout : layouts) {
    for (const Dtype dtype : {Dtype::boolean, Dtype::i16, Dtype::bf16, Dtype::f32, Dtype::c128}) {
      Array there = empty(context, layout, dtype, {.order = Order::column_major});
      Array here = empty(context, layout, dtype, {.space = MemorySpace::host});
      fill_random(there, 5);
      fill_random(here, 5);
      EXPECT_TRUE(compare(there, here).equal) << name(dtype);
      if (dtype == Dtype::boolean || is_integer(dtype)) continue;
      fill_normal(there, 5);
      fill_normal(here, 5);
      EXPECT_TRUE(compare(there, here).equal) << name(dtype);
    }
  }
}

// Each finds in its field what the stream has put there last.
DEVICE_TEST(SpectralHelpersComeAfterTheStream) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const FakeStream mine;
  const Stream stream = mine.stream();
  Array field = empty(context, {12, 6}, Slab(0), Dtype::f64),
        other = empty(context, {12, 6}, Slab(0), Dtype::f64);
  Array spectrum = empty(context, {12, 6}, Slab(0), Dtype::c128),
        larger = empty(context, {16, 6}, Slab(0), Dtype::c128);
  Array results[] = {other, empty(context, {12, 6}, Slab(0), Dtype::f64)};
  const auto late = [&](double value) {
    fill(field, -1.0);
    fill(spectrum, std::complex<double>(-1));
    delay_fake_stream(stream, std::chrono::milliseconds(10));
    fill(field, value, stream);
    fill(spectrum, std::complex<double>(value), stream);
  };
  const auto doubled = [](const WaveVector&) { return std::complex<double>(2); };
  const auto expect_all = [](const Array& array, double value) {
    EXPECT_NEAR(min<double>(array), value, 1e-12);
    EXPECT_NEAR(max<double>(array), value, 1e-12);
  };
  late(3);
  expect_all(spectral_apply(field, doubled, {.stream = stream}), 6);
  late(4);
  spectral_apply_into(field, other, doubled, {.stream = stream});
  expect_all(other, 8);
  late(5);
  expect_all(convolve(field, field, {.stream = stream}), 25 * 72);
  late(6);
  convolve_into(field, field, other, {.stream = stream});
  expect_all(other, 36 * 72);
  late(7);
  multiply_spectrum(spectrum, {12, 6}, -1, doubled, {.stream = stream});
  EXPECT_EQ(at<std::complex<double>>(spectrum, {11, 5}), 14.0);
  const auto late_wave = [&](double height) {
    late(0);
    fill(
        field,
        [height](const Index& i) {
          return height * std::cos(2 * std::numbers::pi * static_cast<double>(i[0]) / 12);
        },
        stream);
  };
  late_wave(1);
  EXPECT_NEAR(max<double>(solve_poisson(field, {.stream = stream})), 1, 1e-12);
  late_wave(2);
  solve_poisson_into(field, other, {.stream = stream});
  EXPECT_NEAR(max<double>(other), 2, 1e-12);
  late_wave(3);
  EXPECT_NEAR(max<double>(gradient(field, {.stream = stream})[0]), 3, 1e-12);
  late_wave(4);
  gradient_into(field, results, {.stream = stream});
  EXPECT_NEAR(max<double>(results[0]), 4, 1e-12);
  late(9);
  EXPECT_NEAR(std::abs(at<std::complex<double>>(
                  resize_spectrum(spectrum, {12, 6}, {16, 6}, {.stream = stream}), {0, 0})),
              12,
              1e-12);  // as many points more
  late(3);
  resize_spectrum_into(spectrum, larger, {12, 6}, {16, 6}, {.stream = stream});
  EXPECT_NEAR(std::abs(at<std::complex<double>>(larger, {0, 0})), 4, 1e-12);
}

DEVICE_TEST(SpectralHelpersAreNotWaitedFor) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (host_waits_for_messages(context)) GTEST_SKIP() << "messages wait in execute";
  const FakeStream mine;
  Array field = empty(context, {12, 6}, Slab(0), Dtype::f64);
  fill_random(field, 5);
  std::vector<Array> results, expected;
  for (int i = 0; i < 4; ++i) results.push_back(empty(context, {12, 6}, Slab(0), Dtype::f64));
  const auto compute = [&] {
    solve_poisson_into(field, results[0], {.stream = mine.stream()});
    convolve_into(field, field, results[1], {.stream = mine.stream()});
    gradient_into(field, std::span(results).subspan(2), {.stream = mine.stream()});
  };
  compute();  // plans are made, for which the host may wait
  for (Array& result : results) {
    expected.push_back(astype(result, Dtype::f64, {.stream = mine.stream()}));
    fill(result, -1.0, mine.stream());
  }
  context.synchronize(mine.stream());
  {
    const Gate gate(mine.stream());
    compute();
    for (const Array& result : results) {
      for (std::int64_t i = 0; i < result.local_size(); ++i) EXPECT_EQ(result.data<double>()[i], -1);
    }
  }
  fill(field, 99.0, mine.stream());
  context.synchronize(mine.stream());
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(compare(results[i], expected[i]).equal) << i;
}

RANK_TEST(SpectralStreams, HostMemoryHasNone) {
  int queue = 0;
  const Stream stream{&queue};
  Array field = zeros(context, {6, 4}, Slab(0), Dtype::f64, {.space = MemorySpace::host});
  Array spectrum = zeros(context, {6, 4}, Slab(0), Dtype::c128, {.space = MemorySpace::host});
  EXPECT_THROW((void)solve_poisson(field, {.stream = stream}), UnsupportedError);
  EXPECT_THROW((void)gradient(field, {.stream = stream}), UnsupportedError);
  EXPECT_THROW((void)convolve(field, field, {.stream = stream}), UnsupportedError);
  EXPECT_THROW((void)resize_spectrum(spectrum, {6, 4}, {8, 8}, {.stream = stream}), UnsupportedError);
  EXPECT_THROW((void)solve_poisson(Array(), {.stream = stream}), ArgumentError);
  EXPECT_EQ(norm(solve_poisson(
                field, {.stream = context.device().kind == Device::Kind::cpu ? context.stream() : Stream{}})),
            0);
}

DEVICE_TEST(ConvertsAndCopiesInStreams) {
  Array there = zeros(context, {31, 6}, Slab(0), Dtype::f32);
  const Stream stream = context.stream();
  fill(there, 2.75f, stream);
  const Array numbers = astype(there, Dtype::i32, {.stream = stream});
  const Array same = astype(there, Dtype::f32, {.stream = stream});
  const Array here = astype(there, Dtype::f64, {.stream = stream, .space = MemorySpace::host});
  fill(there, 3.5f, stream);
  EXPECT_EQ(sum<std::int64_t>(astype(numbers, Dtype::i64, {.stream = stream}), stream), 2 * 31 * 6);
  EXPECT_EQ(max<float>(same, stream), 2.75f);
  EXPECT_EQ(min<double>(here), 2.75);

  std::vector<float> part(static_cast<std::size_t>(there.local_size()), 0.0f);
  copy(there, view(part, there.local().extents), stream);
  EXPECT_EQ(std::count(part.begin(), part.end(), 3.5f), there.local_size());
  part.assign(part.size(), 6.5f);
  copy(view(part, there.local().extents), there, stream);
  EXPECT_EQ(min<float>(there, stream), 6.5f);
}

DEVICE_TEST(GathersAndScattersInStreams) {
  Array there = empty(context, {31, 6}, Slab(0), Dtype::f32);
  fill_random(there, 3);
  const int root = context.size() - 1;
  const Array whole = gather(there, root, {.stream = context.stream()});
  EXPECT_EQ(whole.local_size(), context.rank() == root ? 186 : 0);
  EXPECT_TRUE(compare(whole, there, context.stream()).equal);
  std::vector<float> memory(31 * 6, 9.0f);
  const View all = View::dense(memory.data(), Dtype::f32, {31, 6});
  const Array dealt = scatter(context, all, {31, 6}, Slab(1), 0, {.stream = context.stream()});
  fill(there, 9.0f, context.stream());
  EXPECT_TRUE(compare(dealt, there, context.stream()).equal);
}

}  // namespace
}  // namespace partita::testing
