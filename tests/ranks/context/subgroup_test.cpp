// Some ranks of a context as a new context.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

std::vector<int> sequence(int first, int end) {
  std::vector<int> ranks(static_cast<std::size_t>(end - first));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

bool has(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// Everything that a context does: exchange, symmetric memory read by the neighbours, barrier.
void use(Context& group, const std::string& label) {
  const auto texts = runtime::exchange(*group.state(), "use", label + std::to_string(group.rank()));
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], label + std::to_string(i));
  SymmetricMemory memory = SymmetricMemory::allocate(group, 64, MemorySpace::host);
  *static_cast<int*>(memory.data()) = 100 + group.rank();
  group.barrier();
  for (int rank = 0; rank < group.size(); ++rank) {
    const auto* theirs = static_cast<const int*>(memory.peer(rank));
    EXPECT_EQ(theirs != nullptr, group.topology().same_node(rank, group.rank()));
    if (theirs != nullptr) {
      EXPECT_EQ(*theirs, 100 + rank);
    }
  }
  group.barrier();
}

RANK_TEST(Subgroup, TwoHalvesAtOnce) {
  const int half = (context.size() + 1) / 2;
  const bool first = context.rank() < half;
  Context mine = context.subgroup(first ? sequence(0, half) : sequence(half, context.size()));
  EXPECT_EQ(mine.size(), first ? half : context.size() - half);
  EXPECT_EQ(mine.rank(), first ? context.rank() : context.rank() - half);
  for (int i = 0; i < 5; ++i) use(mine, first ? "first" : "second");
  use(context, "all");
  use(mine, "again");
}

RANK_TEST(Subgroup, OfRanksThatAreWrittenOut) {
  if (context.size() < 2) GTEST_SKIP() << "needs two ranks";
  if (context.rank() < 2) {
    Context pair = context.subgroup({1, 0});
    EXPECT_EQ(pair.rank(), 1 - context.rank());
    use(pair, "pair");
  }
  use(context, "all");
}

RANK_TEST(Subgroup, SplitByColour) {
  std::optional<Context> mine = context.split(context.rank() % 2);
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine->rank(), context.rank() / 2);
  EXPECT_EQ(mine->size(), (context.size() + 1 - context.rank() % 2) / 2);
  use(*mine, "colour");
  use(context, "all");
}

RANK_TEST(Subgroup, SplitInTheOrderOfKeys) {
  Context reversed = context.split(7, -context.rank()).value();
  EXPECT_EQ(reversed.rank(), context.size() - 1 - context.rank());
  use(reversed, "reversed");
  // Equal keys: as here.
  EXPECT_EQ(context.split(0, 5).value().rank(), context.rank());
}

RANK_TEST(Subgroup, ANegativeColourIsInNone) {
  const bool out = context.rank() == context.size() - 1;
  std::optional<Context> mine = context.split(out ? -1 : 3);
  EXPECT_EQ(mine.has_value(), !out);
  if (mine) use(*mine, "those that are in");
  EXPECT_FALSE(context.split(-5));
  use(context, "all");
}

RANK_TEST(Subgroup, InAnotherOrder) {
  std::vector<int> reversed = sequence(0, context.size());
  std::reverse(reversed.begin(), reversed.end());
  Context mine = context.subgroup(reversed);
  EXPECT_EQ(mine.rank(), context.size() - 1 - context.rank());
  use(mine, "reversed");
}

RANK_TEST(Subgroup, OverlappingOnesOneAfterTheOther) {
  std::vector<Context> groups;
  for (int first = 0; first + 1 < context.size(); ++first) {
    const std::vector<int> pair{first, first + 1};
    if (has(pair, context.rank())) groups.push_back(context.subgroup(pair));
  }
  for (Context& group : groups) use(group, "pair");
  context.barrier();
}

RANK_TEST(Subgroup, ManyOfTheSameRanks) {
  const std::vector<int> all = sequence(0, context.size());
  Context first = context.subgroup(all);
  Context second = context.subgroup(all);
  Context inner = second.subgroup(all);
  use(inner, "inner");
  use(first, "first");
  {
    Context gone = context.subgroup(all);
    use(gone, "gone");
  }
  use(second, "second");
}

RANK_TEST(Subgroup, OfOneRank) {
  const std::vector<int> me{context.rank()};
  Context alone = context.subgroup(me);
  EXPECT_EQ(alone.size(), 1);
  use(alone, "alone");
  EXPECT_EQ(alone.close(), "");
}

RANK_TEST(Subgroup, OutlivesItsParent) {
  const std::vector<int> all = sequence(0, context.size());
  std::optional<Context> parent = context.subgroup(all);
  Context child = parent->subgroup(all);
  use(*parent, "parent");
  parent.reset();
  use(child, "child");
}

RANK_TEST(Subgroup, FailsAlone) {
  const std::vector<int> all = sequence(0, context.size());
  Context group = context.subgroup(all);
  group.barrier();
  context.barrier();  // all have left the one before
  group.state()->fail("for a test");
  EXPECT_TRUE(group.failed());
  EXPECT_ERROR(FailedContextError, group.barrier(), "for a test");
  use(context, "whole");
}

RANK_TEST(Subgroup, BadListsAreRefused) {
  const int size = context.size();
  const auto refusal = [&](const std::vector<int>& ranks) {
    return caught<ArgumentError>([&] { context.subgroup(ranks); });
  };
  EXPECT_TRUE(contains(refusal({context.rank(), size}), "is not one of"));
  EXPECT_TRUE(contains(refusal({context.rank(), -1}), "is not one of"));
  EXPECT_TRUE(contains(refusal({context.rank(), context.rank()}), "twice"));
  if (size > 1) {
    EXPECT_TRUE(contains(refusal({(context.rank() + 1) % size}), "not in the list"));
  }
  EXPECT_FALSE(refusal({}).empty());
  use(context, "after");
}

RANK_TEST(Subgroup, AListThatIsBadOnOneRankIsRefusedOnAll) {
  std::vector<int> ranks = sequence(0, context.size());
  if (context.rank() == 0) ranks.push_back(context.size());
  EXPECT_ERROR(ArgumentError, context.subgroup(ranks), "is not one of");
  ranks = sequence(0, context.size());
  if (context.rank() == context.size() - 1) ranks.push_back(0);
  EXPECT_ERROR(ArgumentError, context.subgroup(ranks), "twice");
  use(context, "after");
}

RANK_TEST(Subgroup, TheSameRanksInDifferentOrders) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  std::vector<int> ranks = sequence(0, context.size());
  if (context.rank() == 0) std::swap(ranks[0], ranks[1]);
  EXPECT_ERROR(DisagreementError, context.subgroup(ranks),
               "subgroup: the ranks disagree on the list of ranks: 1,0");
  use(context, "after");
}

RANK_TEST_WITH(SubgroupOfOthers, IsADisagreementThatFailsTheParent, {.deadline = std::chrono::seconds(20)}) {
  if (ranks().count < 3 || ranks().per_node == 1) GTEST_SKIP() << "needs three ranks, and several of a node";
  // Ranks 0 and 1 meet; rank 1 thinks that rank 2 comes too.
  std::vector<int> list{0, 1};
  if (context.rank() > 0) list.push_back(2);
  context.barrier();
  if (context.rank() > 2) return;
  EXPECT_ERROR(DisagreementError, context.subgroup(list),
               "subgroup of ranks 0,1 on rank 0; subgroup of ranks 0-2 on ranks 1,2");
  EXPECT_TRUE(context.failed());
}

}  // namespace
}  // namespace partita::testing
