// Who gives what to whom in a small exchange, as bytes and as nests; without devices.
#include "plan/small_exchange.hpp"

#include "collectives/layouts.hpp"
#include "execute/device/packet_nests.hpp"
#include "execute/device/packet_ranges.hpp"
#include "redistribute/packets.hpp"
#include "support/models/layout_model.hpp"
#include "support/models/random_layouts.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using model::for_each_index;

Operand on_device(const Layout& layout, Dtype dtype) {
  Operand operand = Operand::of(layout, dtype, Order::row_major, Residency::heap);
  operand.space = MemorySpace::device;
  return operand;
}

bool holds(const Region& region, const Index& index) {
  bool all = true;
  for (int i = 0; i < index.size(); ++i) {
    all = all && region.sets[static_cast<std::size_t>(i)].contains(index[i]);
  }
  return all;
}

std::vector<planning::SmallExchange> of_all_ranks(const Layout& from, const Layout& to, Dtype dtype) {
  std::vector<planning::SmallExchange> all;
  for (int rank = 0; rank < from.ranks(); ++rank) {
    const auto one = redistribution::small_exchange(on_device(from, dtype), on_device(to, dtype),
                                                    Topology::regular(from.ranks()), rank);
    if (one) all.push_back(*one);
  }
  return all;
}

/// From which ranks `rank` gets the element.
std::vector<int> givers(const std::vector<planning::SmallExchange>& all, int rank, const Index& index) {
  const planning::SmallExchange& mine = all[static_cast<std::size_t>(rank)];
  std::vector<int> result;
  if (mine.kept && holds(*mine.kept, index)) result.push_back(rank);
  for (const planning::SmallExchange::Part& taken : mine.taken) {
    if (holds(taken.region, index)) result.push_back(taken.peer);
  }
  return result;
}

TEST(SmallExchange, EveryWantedElementComesOnceFromARankThatOwnsIt) {
  RandomLayouts random(7);
  for (int round = 0; round < 150; ++round) {
    const int ranks = random.number(2, 6);
    const Shape shape = random.shape(random.number(1, 3), 7);
    const Layout from = random.layout(shape, ranks), to = random.layout(shape, ranks);
    if (from.partial() || to.partial()) continue;
    const std::vector<planning::SmallExchange> all = of_all_ranks(from, to, Dtype::f32);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks));
    for_each_index(shape, [&](const Index& index) {
      for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<int> from_whom = givers(all, rank, index);
        ASSERT_EQ(from_whom.size(), holds(to.region(rank), index) ? 1U : 0U)
            << from.to_string() << " -> " << to.to_string();
        for (const int giver : from_whom) EXPECT_TRUE(holds(from.region(giver), index));
      }
    });
  }
}

TEST(SmallExchange, BothEndsOfAMessageSayTheSame) {
  RandomLayouts random(11);
  for (int round = 0; round < 100; ++round) {
    const int ranks = random.number(2, 6);
    const Shape shape = random.shape(2, 9);
    const auto all = of_all_ranks(random.layout(shape, ranks), random.layout(shape, ranks), Dtype::u8);
    std::map<std::pair<int, int>, Region> sent, received;
    for (const planning::SmallExchange& one : all) {
      for (const auto& part : one.given)
        EXPECT_TRUE(sent.emplace(std::pair(one.rank, part.peer), part.region).second);
      for (const auto& part : one.taken)
        EXPECT_TRUE(received.emplace(std::pair(part.peer, one.rank), part.region).second);
    }
    EXPECT_EQ(sent, received);
  }
}

TEST(SmallExchange, WhatIsJoinedIsAContributionOfEveryRank) {
  for (const int ranks : {2, 3, 5}) {
    const Shape shape{7, 3};
    const Layout from = collective::contributions(shape, Reduction::sum, ranks);
    for (const Layout& to : {collective::everywhere(shape, ranks), collective::at_root(shape, 1, ranks),
                             collective::parts(shape, {}, ranks)}) {
      const std::vector<planning::SmallExchange> all = of_all_ranks(from, to, Dtype::f32);
      ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks));
      for_each_index(shape, [&](const Index& index) {
        for (int rank = 0; rank < ranks; ++rank) {
          std::vector<int> found = givers(all, rank, index), wanted;
          std::sort(found.begin(), found.end());
          if (holds(to.region(rank), index)) {
            wanted.resize(static_cast<std::size_t>(ranks));
            std::iota(wanted.begin(), wanted.end(), 0);
          }
          EXPECT_EQ(found, wanted) << to.to_string();
        }
      });
      for (const planning::SmallExchange& one : all) EXPECT_EQ(one.joined, Reduction::sum);
    }
  }
  const Layout slabs(Slab(0), {6}, 2);
  EXPECT_TRUE(of_all_ranks(slabs, collective::contributions({6}, Reduction::sum, 2), Dtype::f32).empty());
}

// --- as bytes: bytes that say where they come from, moved as the ranges say

using Bytes = std::vector<std::uint8_t>;

std::int64_t bytes_at(const Layout& layout, int rank) {
  return layout.region(rank).empty() ? 0 : layout.local_size(rank);
}

/// Sums of bytes if something is reduced.
std::vector<Bytes> exchanged(const std::vector<devices::ByteExchange>& all, const std::vector<Bytes>& sources,
                             std::vector<Bytes> destinations) {
  const auto ranks = all.size();
  const auto root = static_cast<std::size_t>(std::max(all[0].root, 0));
  const auto put = [&](std::size_t rank, std::size_t giver, std::size_t place) {
    const devices::ByteRange& given = all[giver].given[rank];
    const devices::ByteRange& taken = all[rank].taken[place];
    EXPECT_EQ(given.bytes, taken.bytes) << giver << " -> " << rank;
    for (std::int64_t i = 0; i < std::min(given.bytes, taken.bytes); ++i) {
      std::uint8_t& to = destinations[rank][static_cast<std::size_t>(taken.offset + i)];
      const std::uint8_t from = sources[giver][static_cast<std::size_t>(given.offset + i)];
      to = all[rank].joined ? static_cast<std::uint8_t>(to + from) : from;
    }
  };
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (all[rank].root >= 0) {
      if (rank != root) put(rank, root, rank);
      continue;
    }
    for (std::size_t giver = 0; giver < ranks; ++giver) {
      put(rank, giver, all[rank].passed_on ? rank : giver);
    }
  }
  if (!all[0].passed_on) return destinations;
  const std::vector<Bytes> first = destinations;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t giver = 0; giver < ranks; ++giver) {
      const bool takes = giver != rank && (all[0].root < 0 || (giver != root && rank != root));
      if (!takes) continue;
      const devices::ByteRange& slice = all[rank].taken[giver];
      std::copy_n(first[giver].begin() + slice.offset, slice.bytes,
                  destinations[rank].begin() + slice.offset);
    }
  }
  return destinations;
}

/// Byte i of the whole, of contribution c.
std::uint8_t value(std::int64_t i, int c) {
  return static_cast<std::uint8_t>(i * 31 + c * 7 + 1);
}

Bytes local(const Layout& layout, int rank, int ranks, bool is_sum, bool is_source) {
  Bytes bytes;
  const Region region = layout.region(rank);
  for_each_index(layout.shape(), [&](const Index& index) {
    if (!holds(region, index)) return;
    std::int64_t number = 0;
    for (int i = 0; i < index.size(); ++i) number = number * layout.shape()[i] + index[i];
    std::uint8_t sum = is_sum && !is_source ? 0 : value(number, is_sum ? rank : 0);
    for (int c = 0; is_sum && !is_source && c < ranks; ++c)
      sum = static_cast<std::uint8_t>(sum + value(number, c));
    bytes.push_back(sum);
  });
  return bytes;
}

void check_ranges(const Layout& from, const Layout& to, bool passed_on) {
  const int ranks = from.ranks();
  const bool is_sum = from.partial().has_value();
  std::vector<devices::ByteExchange> ranges;
  std::vector<Bytes> sources, destinations, expected;
  for (const planning::SmallExchange& one : of_all_ranks(from, to, Dtype::u8)) {
    const auto mine = execution::byte_ranges(one);
    ASSERT_TRUE(mine.has_value()) << from.to_string() << " -> " << to.to_string();
    EXPECT_EQ(mine->passed_on, passed_on);
    ranges.push_back(*mine);
    sources.push_back(local(from, one.rank, ranks, is_sum, true));
    expected.push_back(local(to, one.rank, ranks, is_sum, false));
    destinations.emplace_back(static_cast<std::size_t>(bytes_at(to, one.rank)));
  }
  ASSERT_EQ(ranges.size(), static_cast<std::size_t>(ranks));
  EXPECT_EQ(exchanged(ranges, sources, destinations), expected)
      << from.to_string() << " -> " << to.to_string();
}

TEST(SmallExchange, CollectivesAsBytes) {
  using namespace collective;
  for (const int ranks : {2, 3, 5, 8}) {
    const Shape shape{13, 3};
    std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), 0);
    counts.front() = 2;
    counts.back() = 11;
    for (const Layout& spread : {parts(shape, {}, ranks), parts(shape, counts, ranks)}) {
      check_ranges(spread, everywhere(shape, ranks), false);          // all_gather
      check_ranges(spread, at_root(shape, ranks - 1, ranks), false);  // gather
      check_ranges(at_root(shape, 1, ranks), spread, false);          // scatter
      check_ranges(contributions(shape, Reduction::sum, ranks), spread, false);
    }
    check_ranges(contributions(shape, Reduction::sum, ranks), at_root(shape, 1, ranks), false);
    check_ranges(contributions(shape, Reduction::sum, ranks), everywhere(shape, ranks), false);
    check_ranges(at_root(shape, 1, ranks), beside_root(shape, 1, ranks), false);
    const Layout rows = by_rank({2 * ranks, 3}, ranks);
    check_ranges(rows, Layout(Slab(1), rows.shape(), ranks), false);  // all_to_all
  }
}

TEST(SmallExchange, MuchGoesInTwoRounds) {
  using namespace collective;
  for (const int ranks : {3, 5, 8}) {
    const Shape shape{500003};  // no multiple of any slice
    check_ranges(contributions(shape, Reduction::sum, ranks), everywhere(shape, ranks), true);
    check_ranges(at_root(shape, 1, ranks), beside_root(shape, 1, ranks), true);
  }
}

TEST(SmallExchange, WhatDoesNotLieInRunsOrIsTooLargeIsNoBytes) {
  const auto fits = [](const Layout& from, const Layout& to) {
    return execution::byte_ranges(of_all_ranks(from, to, Dtype::f32).front()).has_value();
  };
  EXPECT_FALSE(fits(Layout(Slab(0), {12, 20}, 4), Layout(Slab(1), {12, 20}, 4)));
  EXPECT_TRUE(fits(Layout(Slab(0), {13, 20}, 4), Layout(Replicated(), {13, 20}, 4)));
  EXPECT_FALSE(fits(Layout(Slab(0), {1 << 20}, 2), Layout(Replicated(), {1 << 20}, 2)));
  Operand strided = on_device(Layout(Slab(0), {12}, 4), Dtype::f32);
  strided.dense = false;
  const Operand whole = on_device(Layout(Replicated(), {12}, 4), Dtype::f32);
  EXPECT_FALSE(
      execution::byte_ranges(*redistribution::small_exchange(strided, whole, Topology::regular(4), 0)));
}

// --- as nests

constexpr int ranks = 4;

Operand spread(const Distribution& distribution, const Shape& shape, Dtype dtype) {
  return on_device(Layout(distribution, shape, ranks), dtype);
}

std::optional<redistribution::PlanInPackets> plan_of(const Operand& source, const Operand& destination,
                                                     int rank, const RedistributeOptions& options = {}) {
  return redistribution::plan_in_packets(source, destination, Topology::regular(ranks), rank, options);
}

TEST(PacketNests, PlansAreRightAndFit) {
  const Operand rows = spread(Slab(0), {12, 20}, Dtype::f32);
  for (const Distribution& distribution : std::vector<Distribution>{
           Slab(1), BlockCyclic({2, 2}, {2, 3}), BlockCyclic({1, ranks}, {1, 1}), Replicated()}) {
    const Operand other = spread(distribution, {12, 20}, Dtype::f32);
    const Verdict verdict = verify([&](int rank) { return plan_of(rows, other, rank)->plan; });
    EXPECT_TRUE(verdict.ok()) << distribution.to_string() << ": " << verdict.faults.front();
    for (int rank = 0; rank < ranks; ++rank) {
      const redistribution::PlanInPackets planned = *plan_of(rows, other, rank);
      EXPECT_EQ(planned.plan.method, "packets");
      EXPECT_GT(execution::PacketNests(planned.exchange).unit_bytes(), 0)
          << distribution.to_string() << " on rank " << rank;
    }
  }
}

TEST(PacketNests, EveryPeerHasAPartEachWay) {
  const Operand rows = spread(Slab(0), {12, 20}, Dtype::f32);
  execution::PacketNests nests(plan_of(rows, spread(Slab(1), {12, 20}, Dtype::f32), 1)->exchange);
  nests.lower({20, 1}, {5, 1});
  const devices::PacketMoves moves = nests.moves();
  EXPECT_EQ(moves.given.size(), ranks - 1U);
  EXPECT_EQ(moves.taken.size(), ranks - 1U);
  EXPECT_EQ(moves.kept.size(), 1U);
  for (const devices::PacketPart& part : moves.given) {
    ASSERT_NE(part.nest, nullptr);
    EXPECT_EQ(kernels::bytes(*part.nest), 3 * 5 * 4);
  }
  EXPECT_EQ(nests.message_bytes(), 3 * 5 * 4);
}

TEST(PacketNests, UnitsAreAsWideAsRowsAllow) {
  const auto unit = [](const Shape& shape, Dtype dtype, bool dense) {
    Operand source = spread(Slab(0), shape, dtype);
    if (!dense) source.residency = Residency::ordinary;
    source.dense = dense;
    return execution::PacketNests(plan_of(source, spread(Slab(1), shape, dtype), 0)->exchange).unit_bytes();
  };
  EXPECT_EQ(unit({16, 64}, Dtype::f32, true), 8);
  EXPECT_EQ(unit({16, 20}, Dtype::f32, true), 4);  // rows of 5
  EXPECT_EQ(unit({16, 20}, Dtype::f64, true), 8);
  EXPECT_EQ(unit({16, 20}, Dtype::u8, true), 1);
  EXPECT_EQ(unit({16, 24}, Dtype::f16, true), 4);
  EXPECT_EQ(unit({16, 64}, Dtype::f32, false), 4);  // strides that are unknown
  EXPECT_EQ(unit({16, 20}, Dtype::c128, false), 8);
}

TEST(PacketNests, OnlyLittleBetweenDevicesOfOneNode) {
  const Operand rows = spread(Slab(0), {64, 64}, Dtype::f32);
  const Operand columns = spread(Slab(1), {64, 64}, Dtype::f32);
  EXPECT_TRUE(plan_of(rows, columns, 0));
  EXPECT_FALSE(plan_of(rows, rows, 0));  // nothing moves
  EXPECT_FALSE(redistribution::plan_in_packets(rows, columns, Topology::regular(ranks, 2), 0, {}));
  EXPECT_FALSE(plan_of(rows, columns, 0, {.method = RedistributeMethod::pushed}));
  const Shape large{4096, 4096};
  EXPECT_FALSE(plan_of(spread(Slab(0), large, Dtype::f32), spread(Slab(1), large, Dtype::f32), 0));
  Operand host_rows = rows, host_columns = columns;
  host_rows.space = host_columns.space = MemorySpace::host;
  EXPECT_FALSE(plan_of(host_rows, host_columns, 0));
}

}  // namespace
}  // namespace partita::testing
