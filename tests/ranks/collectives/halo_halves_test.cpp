// Halo::start and finish: what `execute` gives, whatever comes in between.
#include "support/fakes/fake_device.hpp"
#include "support/models/halo_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// Boxes between cut points in two dimensions, uneven and some of them empty.
Layout uneven_boxes(std::mt19937& random, int ranks) {
  const Shape shape{3 + static_cast<std::int64_t>(random() % 9), 2 + static_cast<std::int64_t>(random() % 9)};
  const int rows = ranks % 2 == 0 ? 2 : 1;
  const auto cuts = [&](std::int64_t extent, int parts) {
    std::vector<std::int64_t> points{0, extent};
    for (int i = 1; i < parts; ++i) {
      points.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(extent + 1)));
    }
    std::sort(points.begin(), points.end());
    return points;
  };
  return {Box::from_cuts({cuts(shape[0], rows), cuts(shape[1], ranks / rows)}), shape, ranks};
}

Array array_of(const Context& context, const Layout& layout, Dtype dtype, Memory memory) {
  Array on_host = empty(context, layout, dtype, {.space = MemorySpace::host});
  write_array(on_host);
  if (!is_on_device(memory)) return on_host;
  Array array = empty(context, layout, dtype, {.space = MemorySpace::device});
  copy(on_host, array);
  return array;
}

RANK_TEST(HaloHalves, GiveWhatExecuteGives) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed()));
  for (const Memory memory : every_memory(context)) {
    for (int round = 0; round < 8; ++round) {
      const Layout layout =
          round == 0 ? Layout(Replicated{}, {4, 3}, context.size()) : uneven_boxes(random, context.size());
      const HaloOptions options{.lower = {static_cast<std::int64_t>(random() % 4), 1},
                                .upper = {2, static_cast<std::int64_t>(random() % 5)},
                                .periodic = {random() % 2 == 0, random() % 2 == 0}};
      const auto dtype = static_cast<Dtype>(random() % dtype_count);
      const Array array = array_of(context, layout, dtype, memory);
      Halo halo(context, array.operand(), options);
      Block extended(context, dtype, halo.extended_shape(), memory);
      for (int turn = 0; turn < 2; ++turn) {
        halo.start(array, extended.view());
        halo.finish();
        EXPECT_EQ(wrong_cells(extended, layout, context.rank(), options), 0) << layout.to_string();
        halo.start(extended.view());  // the part is in its place already
        halo.finish();
        EXPECT_EQ(wrong_cells(extended, layout, context.rank(), options), 0) << layout.to_string();
      }
    }
  }
}

/// Sleeps now and then.
void dawdle(std::mt19937& random) {
  if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
}

// Two fields under way at once, sums in between, and sources that are overwritten as soon as they may be.
RANK_TEST(HaloHalves, AThousandTimesWithOthersInBetween) {
  const Layout layout(Slab(0), {2 * context.size() + 1, 3}, context.size());
  const HaloOptions options{.lower = {1, 1}, .periodic = {true, false}};
  constexpr int fields = 2;
  const Index corner = corner_of(layout, context.rank());
  std::vector<Array> arrays;
  std::vector<std::unique_ptr<Halo>> halos;
  std::deque<Block> extended;
  for (int f = 0; f < fields; ++f) {
    arrays.push_back(empty(context, layout, Dtype::i64, {.space = MemorySpace::host}));
    halos.push_back(std::make_unique<Halo>(context, arrays.back().operand(), options));
    extended.emplace_back(context, Dtype::i64, halos.back()->extended_shape());
  }
  std::mt19937 random(static_cast<unsigned>(17 * context.rank() + 1));
  for (std::int64_t turn = 0; turn < 1000; ++turn) {
    for (std::size_t f = 0; f < fields; ++f) {
      auto* own = arrays[f].data<std::int64_t>();
      for (std::int64_t i = 0; i < arrays[f].local_size(); ++i) {
        own[i] = 10 * turn + static_cast<std::int64_t>(f);
      }
      dawdle(random);
      halos[f]->start(arrays[f], extended[f].view());
    }
    if (turn % 3 == 0) {
      std::int64_t sum = 1;
      const View view = View::dense(&sum, Dtype::i64, {});
      all_reduce(context, view, view);
      ASSERT_EQ(sum, context.size());
    }
    if (turn % 7 == 0) context.barrier();
    for (std::size_t f = 0; f < fields; ++f) {
      dawdle(random);
      halos[f]->finish();
      std::int64_t wrong = 0;
      for_each_index(extended[f].view().extents, [&](const Index& cell) {
        if (!global_of(layout, corner, {.lower = {1, 1}, .upper = {1, 1}, .periodic = {true, false}}, cell))
          return;
        const double value = read_number(Dtype::i64, extended[f].at(cell)).real();
        wrong += value != static_cast<double>(10 * turn + static_cast<std::int64_t>(f));
      });
      ASSERT_EQ(wrong, 0) << "turn " << turn << " field " << f;
    }
  }
}

// Pieces that are larger than any slot or eager message.
RANK_TEST(HaloHalves, Large) {
  const Layout layout(Slab(0), {4 * context.size(), 60001}, context.size());
  const HaloOptions options{.lower = {3, 0}, .upper = {5, 0}, .periodic = {true, false}};
  const Memory memory = usual_memory(context);
  const Array array = array_of(context, layout, Dtype::f64, memory);
  Halo halo(context, array.operand(), options);
  Block extended(context, Dtype::f64, halo.extended_shape(), memory);
  for (int turn = 0; turn < 3; ++turn) {
    halo.start(array, extended.view());
    halo.finish();
    EXPECT_EQ(wrong_cells(extended, layout, context.rank(), options), 0);
  }
}

// The exchange in one stream, what comes behind `finish` in another.
RANK_TEST(HaloHalves, InAStreamOfItsOwn) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const Layout layout(Slab(0), {3 * context.size(), 5}, context.size());
  const HaloOptions options{.lower = {1, 1}, .upper = {1, 1}, .periodic = {true, true}};
  const Array array = array_of(context, layout, Dtype::f64, Memory::device);
  Halo halo(context, array.operand(), options);
  const FakeStream beside;
  for (int turn = 0; turn < 20; ++turn) {
    Block extended(context, Dtype::f64, halo.extended_shape(), Memory::device);
    Block copied(context, Dtype::f64, halo.extended_shape(), Memory::device);
    delay_fake_stream(beside.stream(), std::chrono::microseconds(500));
    halo.start(array, extended.view(), beside.stream());
    halo.finish();
    arrays::copy_view(*context.state(), extended.view(), copied.view());
    ASSERT_EQ(wrong_cells(copied, layout, context.rank(), options), 0) << "turn " << turn;
    context.synchronize(beside.stream());
  }
}

RANK_TEST(HaloHalves, RefusedOutOfTurn) {
  const Layout layout(Slab(0), {4 * context.size(), 3}, context.size());
  const HaloOptions options{.lower = {1, 0}, .upper = {1, 0}, .periodic = {false, false}};
  const Memory memory = usual_memory(context);
  const Array array = array_of(context, layout, Dtype::f64, memory);
  Halo one(context, array.operand(), options), two(context, array.operand(), options);
  Block first(context, Dtype::f64, one.extended_shape(), memory);
  Block second(context, Dtype::f64, two.extended_shape(), memory);
  const auto refused = [](const char* part, const auto& action) {
    const std::string text = caught<ArgumentError>(action);
    EXPECT_TRUE(contains(text, part)) << text;
  };
  refused("without a start", [&] { one.finish(); });
  one.start(array, first.view());
  refused("call finish() first", [&] { one.start(array, first.view()); });
  refused("call finish() first", [&] { one.execute(array, first.view()); });
  two.start(array, second.view());
  refused("started earlier", [&] { two.finish(); });
  refused("is not finished", [&] { context.close(); });
  one.finish();
  two.finish();
  refused("without a start", [&] { two.finish(); });
  EXPECT_FALSE(context.failed());
  EXPECT_EQ(wrong_cells(first, layout, context.rank(), options), 0);
  EXPECT_EQ(wrong_cells(second, layout, context.rank(), options), 0);
}

RANK_TEST_WITH(HaloHalvesFailure, OneThatIsNeverFinishedFailsItsContext,
               {.deadline = std::chrono::seconds(20)}) {
  if (tests_fake_devices()) GTEST_SKIP() << "of the host";
  const Layout layout(Slab(0), {2 * context.size(), 3}, context.size());
  Array array = empty(context, layout, Dtype::f64, {.space = MemorySpace::host});
  write_array(array);
  auto halo = std::make_unique<Halo>(context, array.operand(), HaloOptions{.lower = {1, 0}});
  Block extended(context, Dtype::f64, halo->extended_shape());
  halo->start(array, extended.view());
  if (context.rank() == 0) {
    halo.reset();
    EXPECT_TRUE(contains(context.failure(), "never finished")) << context.failure();
    return;
  }
  try {
    halo->finish();  // what rank 0 gave may be all that it waits for
    context.barrier();
    ADD_FAILURE() << "rank 0 is not there";
  } catch (const LostPeerError& error) {
    EXPECT_TRUE(contains(error.what(), "never finished")) << error.what();
  }
}

// The peers are notified, and so is a rank that waits in `finish`.
RANK_TEST_WITH(HaloHalvesFailure, AContextThatFailsInBetween, {.deadline = std::chrono::seconds(20)}) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  const Layout layout(Slab(0), {2 * context.size(), 3}, context.size());
  Array array = empty(context, layout, Dtype::f64, {.space = MemorySpace::host});
  write_array(array);
  Halo halo(context, array.operand(), {.lower = {1, 0}, .periodic = {true, false}});
  Block extended(context, Dtype::f64, halo.extended_shape());
  halo.start(array, extended.view());
  halo.finish();
  context.barrier();
  if (context.rank() == 0) {
    context.state()->fail("for a test");
    EXPECT_ERROR(FailedContextError, halo.start(array, extended.view()));
    return;
  }
  // Its neighbours get nothing from it any more.
  try {
    halo.start(array, extended.view());
    halo.finish();
    context.barrier();
    ADD_FAILURE() << "rank 0 is not there";
  } catch (const LostPeerError&) {
  }
  EXPECT_TRUE(context.failed());
  EXPECT_ERROR(FailedContextError, halo.finish());
}

}  // namespace
}  // namespace partita::testing
