// Small redistributions between devices, which go in packets where they fit.
#include "device/copy_way.hpp"
#include "support/models/random_layouts.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

struct Pair {
  Distribution source, destination;
};

std::vector<Pair> pairs(int ranks) {
  return {{Slab(0), Slab(1)},
          {BlockCyclic({ranks, 1}, {1, 1}), BlockCyclic({1, ranks}, {1, 1})},
          {BlockCyclic({ranks, 1}, {2, 3}), BlockCyclic({ranks, 1}, {3, 3})},
          {BlockCyclic({1, ranks}, {2, 3}), Slab(0)},
          {Slab(0), Replicated()},
          {Replicated(), Slab(1)}};
}

bool in_packets(const Context& context) {
  return context.size() > 1 && context.state()->device_topology.node_count() == 1 &&
         context.state()->options.copy_way == CopyWay::automatic;
}

void check_pair(Context& context, const Pair& pair, const Shape& shape, Dtype dtype) {
  Array source = empty(context, shape, pair.source, dtype);
  Array destination = empty(context, shape, pair.destination, dtype);
  write_known(source);
  write_constant(destination, 1);
  Redistribute plan(context, source.operand(), destination.operand());
  plan.execute(source, destination);
  EXPECT_EQ(count_wrong(destination, source.layout()), 0)
      << to_string(shape) << " " << name(dtype) << " " << plan.explain();
}

RANK_TEST(Packets, RedistributionsOfOddShapesAndEveryWidth) {
  NEEDS_DEVICES();
  for (const Pair& pair : pairs(context.size())) {
    for (const Dtype dtype : {Dtype::u8, Dtype::f16, Dtype::f32, Dtype::c64, Dtype::c128}) {
      // Evenly cut, unevenly, with ranks that have nothing.
      for (const Shape& shape : {Shape{24, 48}, Shape{13, 29}, Shape{2, 1}}) {
        check_pair(context, pair, shape, dtype);
      }
    }
  }
}

RANK_TEST(Packets, RedistributionsOfRandomPairsInAnyMemory) {
  NEEDS_DEVICES();
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()));
  for (int i = 0; i < 40; ++i) {
    const Shape shape = random.shape(random.number(1, 3), 12);
    const Layout from = random.layout(shape, context.size()), to = random.layout(shape, context.size());
    if (from.partial() || to.partial()) continue;
    const Dtype dtype = random.maybe(0.5) ? Dtype::i16 : Dtype::f64;
    Wrapped source = make_array(context, from, dtype, random.number(0, 3));
    Wrapped destination = make_array(context, to, dtype, random.number(0, 3));
    write_known(source.array);
    write_constant(destination.array, 1);
    redistribute(source.array, destination.array);
    EXPECT_EQ(count_wrong(destination.array, from), 0) << from.to_string() << " -> " << to.to_string();
  }
}

/// Every second element of memory: no plan knows the strides.
RANK_TEST(Packets, RedistributionsOfStridedParts) {
  NEEDS_DEVICES();
  const Layout rows(Slab(0), {13, 29}, context.size()), columns(Slab(1), {13, 29}, context.size());
  for (const Dtype dtype : {Dtype::u8, Dtype::f32, Dtype::c128}) {
    WrappedSymmetric wrapped = spread(context, rows, dtype, 2);
    Array& strided = wrapped.array;
    Array dense = empty(context, columns, dtype);
    write_known(strided);
    redistribute(strided, dense);
    EXPECT_EQ(count_wrong(dense, rows), 0) << name(dtype);
    write_constant(strided, 1);
    redistribute(dense, strided);
    EXPECT_EQ(count_wrong(strided, columns), 0) << name(dtype);
  }
}

/// There and back without a look in between, with ranks that are late, and collectives among them.
RANK_TEST(Packets, RedistributionsFollowOneAnotherInStreams) {
  NEEDS_DEVICES();
  const Shape shape{37, 53};
  Array rows = empty(context, shape, Slab(0), Dtype::f32);
  Array columns = empty(context, shape, Slab(1), Dtype::f32);
  Redistribute there(context, rows.operand(), columns.operand());
  Redistribute back(context, columns.operand(), rows.operand());
  EXPECT_EQ(there.plan().method == "packets", in_packets(context)) << there.explain();
  write_known(rows);
  std::mt19937 random(static_cast<unsigned>(context.rank()));
  for (int round = 0; round < 20; ++round) {
    there.execute(rows, columns, Stream{});
    if (round % 3 == 0) barrier(context, Stream{});
    back.execute(columns, rows, Stream{});
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
  }
  context.synchronize();
  EXPECT_EQ(count_wrong(rows, rows.layout()), 0);
  EXPECT_EQ(count_wrong(columns, rows.layout()), 0);
}

TEST(Packets, ARankThatDoesNotRedistributeIsATimeoutAndNotAHang) {
  NEEDS_DEVICES();
  using namespace std::chrono_literals;
  if (ranks().count < 2 || ranks().per_node != 0) GTEST_SKIP() << "needs several ranks of one node";
  on_ranks(
      [](Context& context) {
        Array rows = zeros(context, {8, 8}, Slab(0), Dtype::f32);
        Array columns = zeros(context, {8, 8}, Slab(1), Dtype::f32);
        Redistribute plan(context, rows.operand(), columns.operand());
        if (context.rank() != 0) {
          EXPECT_THROW(plan.execute(rows, columns), Error);
          EXPECT_TRUE(context.failed());
        }
        texts_of_all(context.rank(), "");  // rank 0 stays until the others have given up
      },
      {.device = test_device(), .deadline = 1s});
}

}  // namespace
}  // namespace partita::testing
