// Small collectives on devices: in streams, one after the other, with ranks that are late, and one that stays
// away.
#include "base/host_clock.hpp"
#include "device/packet_board.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/models/collectives_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

/// Without a look in between: what a call makes is what the next one takes. Gathering all parts and summing
/// them, which every rank has alike, multiplies by the number of ranks.
void check_chain(Context& context, std::int64_t count, Memory memory) {
  constexpr int rounds = 6;
  const int ranks = context.size();
  const auto brought = [&](const Index& index) {
    return Number(static_cast<double>((context.rank() + 1) * 100 + index[0] % 97));
  };
  std::mt19937 random(static_cast<unsigned>(context.rank()));
  Block part(context, Dtype::i64, {count}, memory);
  Block whole(context, Dtype::i64, {count * ranks}, memory);
  part.set(brought);
  for (int round = 0; round < rounds; ++round) {
    all_gather(context, part.view(), whole.view());
    if (round % 5 == 0) barrier(context, Stream{});
    reduce_scatter(context, whole.view(), part.view());
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
  }
  const auto expected = [&](const Index& index) { return brought(index) * std::pow(ranks, rounds); };
  EXPECT_EQ(part.wrong(expected), 0) << count << " elements";
}

RANK_TEST(Packets, EachCallTakesWhatTheOneBeforeMade) {
  NEEDS_DEVICES();
  // In words of 8 bytes: as much as is sent in packets, and more.
  const std::int64_t slot = devices::PacketSlots::most_bytes(std::max(context.size(), 2)) / 8;
  for (const std::int64_t count :
       {std::int64_t{1}, std::int64_t{5}, std::int64_t{1021}, slot / context.size(), slot + 1}) {
    check_chain(context, count, Memory::device);
  }
  check_chain(context, 1021, Memory::device_strided);
  check_chain(context, 1021, Memory::device_heap);
}

/// What all have alike after sums and broadcasts of `count` elements, in place.
void check_rounds_of_all(Context& context, std::int64_t count) {
  const int ranks = context.size();
  const auto brought = [](int rank, const Index& index) {
    return Number(static_cast<double>(rank * 1000 + index[0] % 991));
  };
  Block block(context, Dtype::i64, {count}, Memory::device);
  for (int root = 0; root < ranks; ++root) {
    block.set([&](const Index& index) { return brought(context.rank() + root, index); });
    all_reduce(context, block.view(), block.view());
    const auto sum = [&](const Index& index) {
      Number all(0.0);
      for (int rank = 0; rank < ranks; ++rank) all = all + brought(rank + root, index);
      return all;
    };
    EXPECT_EQ(block.wrong(sum), 0) << "sum of " << count;
    block.set([&](const Index& index) { return brought(context.rank() + 7, index); });
    broadcast(context, block.view(), root);
    EXPECT_EQ(block.wrong([&](const Index& index) { return brought(root + 7, index); }), 0)
        << "broadcast of " << count << " from " << root;
  }
}

RANK_TEST(Packets, TwoRoundsInOneStart) {
  NEEDS_DEVICES();
  // In words of 8 bytes: one round, two, as many as go in packets, one more.
  for (const std::int64_t count :
       {std::int64_t{3001}, std::int64_t{65537}, devices::PacketSlots::most_given / 8,
        devices::PacketSlots::most_given / 8 + 1}) {
    check_rounds_of_all(context, count);
  }
}

/// Exchanges of packets that this rank has made.
std::uint32_t exchanges_made(Context& context) {
  ContextState& state = *context.state();
  context.synchronize();
  std::uint64_t counters = 0;  // and the blocks of a launch
  state.device->physical().copy_past(&counters, devices::PacketBoard::of(state)->slots().counters,
                                     sizeof(counters));
  return static_cast<std::uint32_t>(counters);
}

Number brought_to_root(int rank, const Index& index) {
  return Number(static_cast<double>(rank * 1000 + index[0] * 3 + index[1]));
}

/// gather_v and scatter_v of uneven parts, one of which is empty, there and back; then reduce.
void check_rooted(Context& context, int root, Memory memory) {
  const int ranks = context.size();
  std::vector<std::int64_t> counts;
  std::int64_t rows = 0;
  for (int rank = 0; rank < ranks; ++rank) rows += counts.emplace_back(rank == 1 ? 0 : 5 + 2 * rank);
  const std::int64_t mine = counts[static_cast<std::size_t>(context.rank())];
  Block part(context, Dtype::i16, {mine, 3}, memory);
  Block whole(context, Dtype::i16, {rows, 3}, memory);
  Block back(context, Dtype::i16, {mine, 3}, memory);
  const auto of_mine = [&](const Index& index) { return brought_to_root(context.rank(), index); };
  part.set(of_mine);
  gather_v(context, part.view(), whole.view(), counts, root);
  scatter_v(context, whole.view(), back.view(), counts, root);
  EXPECT_EQ(back.wrong(of_mine), 0) << "root " << root;
  Block same(context, Dtype::i32, {7, 3}, memory);
  Block sum(context, Dtype::i32, {7, 3}, memory);
  same.set(of_mine);
  reduce(context, same.view(), sum.view(), {}, root);
  if (context.rank() != root) return;
  EXPECT_EQ(sum.wrong([&](const Index& index) {
    Number all(0.0);
    for (int rank = 0; rank < ranks; ++rank) all = all + brought_to_root(rank, index);
    return all;
  }),
            0)
      << "root " << root;
}

RANK_TEST(Packets, GatherScatterAndReduce) {
  NEEDS_DEVICES();
  // Where a way of copying was asked for, it is taken.
  const bool in_packets = context.size() > 1 && context.state()->device_topology.node_count() == 1 &&
                          context.state()->options.copy_way == CopyWay::automatic;
  for (const Memory memory : {Memory::device, Memory::device_strided, Memory::device_heap}) {
    for (int root = 0; root < context.size(); ++root) {
      const std::uint32_t before = in_packets ? exchanges_made(context) : 0;
      check_rooted(context, root, memory);
      EXPECT_EQ(in_packets ? exchanges_made(context) - before : 3, 3U);
    }
  }
}

RANK_TEST(Packets, NobodyLeavesABarrierOfStreamsBeforeAllHaveCome) {
  NEEDS_DEVICES();
  for (int late = 0; late < context.size(); ++late) {
    barrier(context, Stream{});
    context.synchronize();
    if (context.rank() == late) std::this_thread::sleep_for(20ms);
    double came = host_clock();
    barrier(context, Stream{});
    context.synchronize();
    const double left = host_clock();
    double last = 0;
    all_reduce(context, View::dense(&came, Dtype::f64, {}), View::dense(&last, Dtype::f64, {}),
               {.reduction = Reduction::max});
    EXPECT_GE(left, last);  // the clock is the machine's
  }
}

/// A product with k cut over the ranks, of whole numbers, and the board that the context has behind it.
std::int64_t slot_behind_product(Context& context, std::int64_t rows, std::int64_t columns) {
  const std::int64_t depth = 2 * context.size();
  Array a = empty(context, {rows, depth}, Slab(1), Dtype::f32);
  Array b = empty(context, {depth, columns}, Slab(0), Dtype::f32);
  Array d = empty(context, {rows, columns}, Replicated(), Dtype::f32);
  write_constant(a, 2);
  write_constant(b, 3);
  write_constant(d, 0);
  matmul_into(a, b, nullptr, d, {.method = MatmulMethod::reduce_scatter});
  const auto expected = static_cast<float>(6 * depth);
  const auto wrong = [&](float element) { return element != expected; };
  EXPECT_EQ(std::count_if(d.data<float>(), d.data<float>() + d.local_size(), wrong), 0);
  return context.state()->packets->slots().slot;
}

// Who wants little has no more memory for it because products may want much.
TEST(Packets, ABoardIsAsLargeAsSomebodyHasWanted) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  using Slots = devices::PacketSlots;
  on_ranks(
      [](Context& context) {
        if (context.size() < 2 || context.state()->device_topology.node_count() > 1) return;
        const std::int64_t small = Slots::slot_bytes(context.size(), Slots::most_given),
                           large = Slots::slot_bytes(context.size(), Slots::most_given_at_once);
        check_chain(context, 1021, Memory::device);
        EXPECT_EQ(context.state()->packets->slots().slot, small);
        EXPECT_EQ(slot_behind_product(context, 4, 64), small);
        EXPECT_EQ(slot_behind_product(context, 48, 8192), large);
        check_chain(context, 1021, Memory::device);  // by plans that have the small one
        check_chain(context, 1023, Memory::device);
        EXPECT_EQ(slot_behind_product(context, 4, 64), large);
      },
      {.device = test_device()});
}

RANK_TEST_WITH(Packets, ARankThatStaysAwayIsATimeoutAndNotAHang, {.device = test_device(), .deadline = 1s}) {
  NEEDS_DEVICES();
  if (ranks().count < 2 || ranks().per_node != 0) GTEST_SKIP() << "needs several ranks of one node";
  Block source(context, Dtype::f32, {33}, Memory::device);
  Block destination(context, Dtype::f32, {33}, Memory::device);
  all_reduce(context, source.view(), destination.view());
  context.synchronize();
  if (context.rank() != 0) {
    all_reduce(context, source.view(), destination.view());
    EXPECT_THROW(context.synchronize(), Error);
    EXPECT_TRUE(context.failed());
    EXPECT_THROW(barrier(context, Stream{}), FailedContextError);
  }
  texts_of_all(context.rank(), "");  // rank 0 stays until the others have given up
}

RANK_TEST(Packets, ABarrierWithoutADeviceKnowsNoStreams) {
  if (context.state()->device) GTEST_SKIP() << "needs a context without a device";
  barrier(context, Stream{});
  int somewhere = 0;
  EXPECT_THROW(barrier(context, Stream{&somewhere}), UnsupportedError);
}

}  // namespace
}  // namespace partita::testing
