// The symmetric heap, on every backing.
#include "array/transfer.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

unsigned char pattern(int rank, std::int64_t index) {
  return static_cast<unsigned char>(31 * rank + 7 * index + index / 251 + 1);
}

std::vector<unsigned char> patterns(std::int64_t bytes, int rank) {
  std::vector<unsigned char> values(static_cast<std::size_t>(bytes));
  for (std::int64_t i = 0; i < bytes; ++i) values[static_cast<std::size_t>(i)] = pattern(rank, i);
  return values;
}

void write_pattern(const Context& context, void* memory, std::int64_t bytes, int rank) {
  std::vector<unsigned char> values = patterns(bytes, rank);
  arrays::copy_view(*context.state(), View::dense(values.data(), Dtype::u8, {bytes}),
                    memory_view(context, memory, bytes));
}

std::vector<unsigned char> read(const Context& context, const void* memory, std::int64_t bytes) {
  std::vector<unsigned char> values(static_cast<std::size_t>(bytes));
  arrays::copy_view(*context.state(), memory_view(context, memory, bytes),
                    View::dense(values.data(), Dtype::u8, {bytes}));
  return values;
}

std::int64_t count_differences(const Context& context, const void* memory, std::int64_t bytes, int rank) {
  const std::vector<unsigned char> values = read(context, memory, bytes), wanted = patterns(bytes, rank);
  return std::inner_product(values.begin(), values.end(), wanted.begin(), std::int64_t{0}, std::plus{},
                            std::not_equal_to{});
}

bool shared(const Context& context, int rank) {
  return context.topology().same_node(rank, context.rank());
}

/// Each rank writes its own part, reads all others', then writes the next rank's.
void read_and_write_peers(Context& context, std::int64_t bytes) {
  SCOPED_TRACE(bytes);
  const SymmetricMemory memory = SymmetricMemory::allocate(context, bytes);
  EXPECT_EQ(memory.bytes(), bytes);
  EXPECT_EQ(memory.peer(context.rank()), memory.data());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 4096, 0U);
  write_pattern(context, memory.data(), bytes, context.rank());
  context.barrier();
  for (int rank = 0; rank < context.size(); ++rank) {
    ASSERT_EQ(memory.peer(rank) != nullptr, shared(context, rank));
    if (shared(context, rank)) {
      EXPECT_EQ(count_differences(context, memory.peer(rank), bytes, rank), 0) << "of rank " << rank;
    }
  }
  context.barrier();
  const int next = (context.rank() + 1) % context.size();
  const int previous = (context.rank() + context.size() - 1) % context.size();
  if (shared(context, next)) write_pattern(context, memory.peer(next), bytes, context.rank() + 50);
  context.barrier();
  const int writer = shared(context, previous) ? previous + 50 : context.rank();
  EXPECT_EQ(count_differences(context, memory.data(), bytes, writer), 0);
  context.barrier();
}

const std::vector<std::int64_t> sizes{0, 1, 13, 4096, 5000, 3 * mebibyte + 7};

RANK_TEST(SymmetricMemory, PeersReadAndWrite) {
  for (const std::int64_t bytes : sizes) read_and_write_peers(context, bytes);
}

TEST(SymmetricMemoryOnNodes, PeersOfOtherNodesAreNull) {
  for (const int per_node : {1, 2, 3}) {
    on_ranks(
        [](Context& context) {
          for (const std::int64_t bytes : sizes) read_and_write_peers(context, bytes);
        },
        {.ranks_per_node = per_node});
  }
}

RANK_TEST(SymmetricMemory, FreshMemoryIsZero) {
  const std::int64_t bytes = 5 * mebibyte + 3;
  const std::vector<int> all = all_ranks(context);
  Context fresh = context.subgroup(all);
  const SymmetricMemory memory = SymmetricMemory::allocate(fresh, bytes);
  const std::vector<unsigned char> values = read(context, memory.data(), bytes);
  EXPECT_EQ(std::count(values.begin(), values.end(), 0), bytes);
}

RANK_TEST(SymmetricMemory, UnequalSizes) {
  const std::int64_t mine = 1000 + 3000 * context.rank();
  if (context.size() > 1) {
    const std::string text = same_error<DisagreementError>(
        context, [&] { SymmetricMemory::allocate(context, context.rank() == 0 ? 16 : 24); });
    EXPECT_NE(text.find("the ranks disagree on bytes: 16 on rank 0; 24 on rank"), text.npos) << text;
  }
  const SymmetricMemory memory = SymmetricMemory::make_symmetric(context, mine);
  EXPECT_EQ(memory.bytes(), 1000 + 3000 * (context.size() - 1));
  write_pattern(context, memory.data(), memory.bytes(), context.rank());
}

RANK_TEST(SymmetricMemory, DifferentCallsAreFoundOut) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  same_error<DisagreementError>(context, [&] {
    if (context.rank() == 0) {
      SymmetricMemory::allocate(context, 64);
    } else {
      SymmetricMemory::make_symmetric(context, 64);
    }
  });
  same_error<DisagreementError>(context, [&] {
    if (context.rank() == 0) {
      SymmetricMemory::allocate(context, 64);
    } else {
      context.collect();
    }
  });
  read_and_write_peers(context, 77);
}

RANK_TEST(SymmetricMemory, GrowsOnDemandAtTheSameOffsets) {
  std::vector<SymmetricMemory> blocks;
  for (const std::int64_t bytes :
       {std::int64_t{1}, 5 * mebibyte, 33 * mebibyte + 1, std::int64_t{100}, 20 * mebibyte}) {
    blocks.push_back(SymmetricMemory::allocate(context, bytes));
    void* const data = blocks.back().data();
    expect_same_on_all(context, std::to_string(context.state()->heap->offset_of(data)));
    if (bytes >= 2 * mebibyte) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % (2 * mebibyte), 0U);
    }
    write_pattern(context, static_cast<char*>(data) + bytes - 1, 1, context.rank());
  }
  for (const SymmetricMemory& block : blocks) {
    EXPECT_EQ(
        count_differences(context, static_cast<char*>(block.data()) + block.bytes() - 1, 1, context.rank()),
        0);
  }
}

RANK_TEST(SymmetricMemory, FreedBlocksAreUsedAgain) {
  void* const first = symmetric_allocate(context, 3 * mebibyte);
  void* const second = symmetric_allocate(context, 5000);
  symmetric_free(context, first);
  void* const third = symmetric_allocate(context, 3 * mebibyte);
  EXPECT_EQ(third, first);
  symmetric_free(context, second);
  symmetric_free(context, third);
  for (int i = 0; i < 50; ++i) {
    SymmetricMemory memory = SymmetricMemory::allocate(context, 3 * mebibyte);
    EXPECT_EQ(memory.data(), first);
    memory.free();
    EXPECT_EQ(memory.data(), nullptr);
  }
}

RANK_TEST(SymmetricMemory, RanksMayDropInAnyOrder) {
  constexpr int count = 5;
  context.collect();  // what earlier tests dropped must not become free in the middle of this one
  std::vector<SymmetricMemory> blocks;
  for (int i = 0; i < count; ++i) blocks.push_back(SymmetricMemory::allocate(context, 10000));
  std::vector<void*> places;
  for (const SymmetricMemory& block : blocks) places.push_back(block.data());
  // In step s rank r drops block s + r, and some ranks wait with telling.
  for (int step = 0; step < count; ++step) {
    blocks[static_cast<std::size_t>((step + context.rank()) % count)] = SymmetricMemory();
    if (step == count - 1) break;
    if (step % 2 == 0) context.collect();
    if (context.size() < 2) continue;
    const SymmetricMemory other = SymmetricMemory::allocate(context, 10000);
    for (int i = 0; i < count; ++i) {
      const bool by_all = dropped_by_all(i, step, context.size(), count);
      EXPECT_TRUE(by_all || other.data() != places[static_cast<std::size_t>(i)]) << "block " << i << " lives";
    }
  }
  context.collect();
  // All is free as it was at first, so the same blocks get the same places, whatever holes the heap has.
  std::vector<SymmetricMemory> again;
  for (int i = 0; i < count; ++i) again.push_back(SymmetricMemory::allocate(context, 10000));
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(again[static_cast<std::size_t>(i)].data(), places[static_cast<std::size_t>(i)])
        << "block " << i;
  }
}

RANK_TEST(SymmetricMemory, AnyThreadMayDrop) {
  void* place = nullptr;
  {
    SymmetricMemory memory = SymmetricMemory::allocate(context, 9 * mebibyte);
    place = memory.data();
    std::thread([moved = std::move(memory)] {}).join();
  }
  EXPECT_EQ(SymmetricMemory::allocate(context, 9 * mebibyte).data(), place);
}

RANK_TEST(SymmetricMemory, LeaksAreReportedWithTheirPlace) {
  const std::vector<int> all = all_ranks(context);
  Context other = context.subgroup(all);
  const int line = __LINE__ + 1;
  SymmetricMemory kept = SymmetricMemory::allocate(other, mebibyte);
  SymmetricMemory dropped = SymmetricMemory::allocate(other, 5);
  void* const by_hand = symmetric_allocate(other, 77);
  dropped = SymmetricMemory();
  const std::string leaks = other.state()->heap_in(other.state()->default_space()).leaks();
  EXPECT_EQ(leaks, "1048576 bytes at memory_test.cpp:" + std::to_string(line) +
                       " (symmetric memory)\n77 bytes at memory_test.cpp:" + std::to_string(line + 2) +
                       " (symmetric memory)");
  symmetric_free(other, by_hand);
  kept.free();
  EXPECT_EQ(other.close(), "");
}

RANK_TEST(SymmetricMemory, OutlivesItsContext) {
  const std::vector<int> all = all_ranks(context);
  SymmetricMemory memory;
  {
    const Context other = context.subgroup(all);
    memory = SymmetricMemory::allocate(other, 12345);
    write_pattern(context, memory.data(), 12345, context.rank());
    other.barrier();
  }
  context.barrier();
  EXPECT_EQ(count_differences(context, memory.data(), 12345, context.rank()), 0);
  for (int rank = 0; rank < context.size(); ++rank) {
    if (!shared(context, rank)) continue;
    EXPECT_EQ(count_differences(context, memory.peer(rank), 12345, rank), 0);
  }
}

RANK_TEST(SymmetricMemory, PeerOfAPointer) {
  void* const memory = symmetric_allocate(context, 100);
  void* const inside = static_cast<char*>(memory) + 99;
  EXPECT_EQ(symmetric_peer(context, inside, context.rank()), inside);
  int mine = 0;
  EXPECT_THROW(symmetric_peer(context, &mine, 0), MemoryError);
  EXPECT_THROW(symmetric_peer(context, static_cast<char*>(memory) + 100, 0), MemoryError);
  EXPECT_THROW(symmetric_peer(context, memory, context.size()), ArgumentError);
  symmetric_free(context, memory);
  EXPECT_THROW(symmetric_peer(context, memory, 0), MemoryError);
}

}  // namespace
}  // namespace partita::testing
