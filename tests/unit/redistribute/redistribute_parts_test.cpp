// Redistribution of a source that becomes ready part by part, run on symbols by the verifier: what makes the
// parts is a copy, so that a part that is taken too early is found.
#include <gtest/gtest.h>

#include "plan/plan_builder.hpp"
#include "redistribute/parts.hpp"
#include "support/models/random_layouts.hpp"

namespace partita {
namespace {

using redistribution::Parts;
using testing::RandomLayouts;

/// The source into shared or ordinary memory, part by part, and from there to the destination.
Plan made_in_parts(const Operand& source, const Operand& made, const Operand& destination,
                   const Topology& topology, int rank, const RedistributeOptions& options, const Parts& parts,
                   bool late = false) {
  auto [exchange, begins] = redistribution::plan_in_parts(made, destination, topology, rank, options, parts);
  Plan plan{"test", exchange.method, "", rank, topology, {}, {}};
  plan.buffers.push_back({"source", BufferKind::operand, source, 0});
  plan.buffers.push_back({"destination", BufferKind::operand, destination, 0});
  const std::int64_t bytes = made.layout.largest_local_size() * size_of(made.dtype);
  plan.buffers.push_back({"made", BufferKind::shared, made, bytes});
  std::vector<int> buffers{2, 1};
  for (std::size_t i = 2; i < exchange.buffers.size(); ++i) {
    buffers.push_back(static_cast<int>(plan.buffers.size()));
    plan.buffers.push_back(exchange.buffers[i]);
  }
  planning::PlanBuilder builder(plan);
  const Region own = made.layout.region(rank);
  const auto make = [&, starts = begins](int step) {
    for (int i = 0; i < parts.count; ++i) {
      const Region part = part_of(own, parts, i);
      const int begin = late && i + 1 < parts.count ? i + 1 : i;
      if (starts[static_cast<std::size_t>(begin)] != step || part.empty()) continue;
      builder.copy(rank, part, builder.own(0), builder.own(2));
    }
  };
  const auto steps = static_cast<int>(exchange.steps.size());
  builder.append(std::move(exchange), buffers, make);
  make(steps);
  return plan;
}

Operand random_operand(RandomLayouts& random, const Layout& layout) {
  return Operand::of(layout, Dtype::f32, random.maybe() ? Order::row_major : Order::column_major,
                     random.maybe(0.7) ? Residency::heap : Residency::ordinary);
}

Layout whole_values(RandomLayouts& random, const Shape& shape, int ranks) {
  Layout layout = random.layout(shape, ranks);
  return layout.partial() ? Layout(Slab(0), shape, ranks) : layout;
}

void verify_random_parts(RandomLayouts& random, int most_ranks, int most_extent) {
  const int ranks = random.number(1, most_ranks);
  const int dimensions = random.number(1, 3);
  const Shape shape = random.shape(dimensions, dimensions == 1 ? most_extent * most_extent : most_extent);
  const Operand made = random_operand(random, whole_values(random, shape, ranks));
  Operand source = made;
  source.residency = Residency::ordinary;
  const Operand destination = random_operand(random, whole_values(random, shape, ranks));
  RedistributeOptions options;
  if (random.maybe(0.2)) options.method = RedistributeMethod::staged;
  if (random.maybe(0.2)) options.method = RedistributeMethod::messages;
  if (random.maybe(0.2)) options.method = RedistributeMethod::grouped;
  if (random.maybe()) options.staging_bytes = 1024 * ranks + random.number(0, 4096);
  const Parts parts{random.number(0, dimensions - 1), random.number(1, 6)};
  const int per_node[] = {0, 1, 2, 3, 7};
  const Topology topology = Topology::regular(ranks, per_node[random.number(0, 4)]);
  const Planner planner = [&](int rank) {
    return made_in_parts(source, made, destination, topology, rank, options, parts);
  };
  for (const std::string& fault : verify(planner).faults) {
    ADD_FAILURE() << made.to_string() << " -> " << destination.to_string() << ", " << planner(0).method
                  << ", " << parts.count << " parts along " << parts.axis << ", staging "
                  << options.staging_bytes << ": " << fault;
  }
}

TEST(RedistributeParts, AnyPairOfDistributionsMadeInParts) {
  RandomLayouts random(91);
  for (int i = 0; i < 300 && !HasFailure(); ++i) verify_random_parts(random, 8, 11);
}

TEST(RedistributeParts, ManyRanks) {
  RandomLayouts random(92);
  for (int i = 0; i < 20 && !HasFailure(); ++i) verify_random_parts(random, 60, 17);
}

TEST(RedistributeParts, APartThatIsMadeTooLateIsFound) {
  const Operand made =
      Operand::of(Layout(Slab(0), {12, 12}, 3), Dtype::f32, Order::row_major, Residency::heap);
  const Operand destination = Operand::of(Layout(Slab(1), {12, 12}, 3), Dtype::f32);
  for (const int per_node : {0, 1, 2}) {
    for (const bool late : {false, true}) {
      const Planner planner = [&](int rank) {
        return made_in_parts(made, made, destination, Topology::regular(3, per_node), rank, {}, {0, 4}, late);
      };
      EXPECT_EQ(verify(planner).ok(), !late) << per_node;
    }
  }
}

TEST(RedistributeParts, PartsAreWhatIsOwnedEachOnce) {
  const Layout layout(BlockCyclic({3, 1}, {2, 4}), {17, 5}, 3);
  for (const Parts& parts : {Parts{0, 1}, Parts{0, 4}, Parts{0, 9}, Parts{1, 3}}) {
    for (int rank = 0; rank < 3; ++rank) {
      const Region own = layout.region(rank);
      std::int64_t total = 0, largest = 0, smallest = own.size();
      for (int i = 0; i < parts.count; ++i) {
        const std::int64_t size = part_of(own, parts, i).size();
        total += size;
        largest = std::max(largest, size);
        smallest = std::min(smallest, size);
      }
      const std::int64_t line = own.size() / own.sets[static_cast<std::size_t>(parts.axis)].size();
      EXPECT_EQ(total, own.size());
      EXPECT_LE(largest - smallest, line);
    }
  }
}

}  // namespace
}  // namespace partita
