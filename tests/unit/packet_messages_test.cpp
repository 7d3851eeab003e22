// Plans of messages between devices, as they are carried in packets.
#include "execute/packet_messages.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "redistribute/packets.hpp"

namespace partita::testing {
namespace {

constexpr int ranks = 4;

Operand on_device(const Distribution& distribution, const Shape& shape, Dtype dtype) {
  Operand operand = Operand::of(Layout(distribution, shape, ranks), dtype, Order::row_major, Residency::heap);
  operand.space = MemorySpace::device;
  return operand;
}

std::optional<Plan> plan_of(const Operand& source, const Operand& destination, int rank,
                            const RedistributeOptions& options = {}) {
  return plan_in_packets(source, destination, Topology::regular(ranks), rank, options);
}

TEST(PacketMessages, PlansAreRightAndFit) {
  const Operand rows = on_device(Slab(0), {12, 20}, Dtype::f32);
  for (const Distribution& distribution : std::vector<Distribution>{
           Slab(1), BlockCyclic({2, 2}, {2, 3}), BlockCyclic({1, ranks}, {1, 1}), Replicated()}) {
    const Operand other = on_device(distribution, {12, 20}, Dtype::f32);
    const Verdict verdict = verify([&](int rank) { return *plan_of(rows, other, rank); });
    EXPECT_TRUE(verdict.ok()) << distribution.to_string() << ": " << verdict.faults.front();
    for (int rank = 0; rank < ranks; ++rank) {
      const Plan plan = *plan_of(rows, other, rank);
      EXPECT_EQ(plan.method, "packets");
      PacketMessages messages(plan);
      EXPECT_TRUE(messages.fits()) << distribution.to_string() << " on rank " << rank;
    }
  }
}

TEST(PacketMessages, EveryPeerHasAPartEachWay) {
  const Operand rows = on_device(Slab(0), {12, 20}, Dtype::f32);
  const Plan plan = *plan_of(rows, on_device(Slab(1), {12, 20}, Dtype::f32), 1);
  PacketMessages messages(plan);
  std::vector<Strides> strides{{20, 1}, {5, 1}};
  strides.resize(plan.buffers.size());  // what is scratch has none
  messages.lower(strides);
  const PacketMoves moves = messages.moves();
  EXPECT_EQ(moves.given.size(), ranks - 1U);
  EXPECT_EQ(moves.taken.size(), ranks - 1U);
  EXPECT_EQ(moves.kept.size(), 1U);
  for (const PacketPart& part : moves.given) {
    ASSERT_NE(part.nest, nullptr);
    EXPECT_EQ(bytes(*part.nest), 3 * 5 * 4);
  }
  EXPECT_EQ(messages.message_bytes(), 3 * 5 * 4);
}

TEST(PacketMessages, UnitsAreAsWideAsRowsAllow) {
  const auto unit = [](const Shape& shape, Dtype dtype, bool dense) {
    Operand source = on_device(Slab(0), shape, dtype);
    if (!dense) source.residency = Residency::ordinary;
    source.dense = dense;
    const Plan plan = *plan_of(source, on_device(Slab(1), shape, dtype), 0);
    return PacketMessages(plan).unit_bytes();
  };
  EXPECT_EQ(unit({16, 64}, Dtype::f32, true), 8);
  EXPECT_EQ(unit({16, 20}, Dtype::f32, true), 4);  // rows of 5
  EXPECT_EQ(unit({16, 20}, Dtype::f64, true), 8);
  EXPECT_EQ(unit({16, 20}, Dtype::u8, true), 1);
  EXPECT_EQ(unit({16, 24}, Dtype::f16, true), 4);
  EXPECT_EQ(unit({16, 64}, Dtype::f32, false), 4);  // strides that nobody knows
  EXPECT_EQ(unit({16, 20}, Dtype::c128, false), 8);
}

TEST(PacketMessages, OnlyLittleBetweenDevicesOfOneNode) {
  const Operand rows = on_device(Slab(0), {64, 64}, Dtype::f32);
  const Operand columns = on_device(Slab(1), {64, 64}, Dtype::f32);
  EXPECT_TRUE(plan_of(rows, columns, 0));
  EXPECT_FALSE(plan_of(rows, rows, 0));  // nothing moves
  EXPECT_FALSE(plan_in_packets(rows, columns, Topology::regular(ranks, 2), 0, {}));
  RedistributeOptions asked;
  asked.method = RedistributeMethod::pushed;
  EXPECT_FALSE(plan_of(rows, columns, 0, asked));
  const Shape large{4096, 4096};
  EXPECT_FALSE(plan_of(on_device(Slab(0), large, Dtype::f32), on_device(Slab(1), large, Dtype::f32), 0));
  Operand host_rows = rows, host_columns = columns;
  host_rows.space = host_columns.space = MemorySpace::host;
  EXPECT_FALSE(plan_of(host_rows, host_columns, 0));
}

}  // namespace
}  // namespace partita::testing
