// What the symmetric heap refuses: the same error on every rank, and the heap works on.
#include <sys/mman.h>
#include <unistd.h>

#include "array/transfer.hpp"
#include "memory/node_limits.hpp"
#include "support/on_ranks.hpp"
#include "support/rank_run.hpp"

namespace partita::testing {
namespace {

void write_byte(const Context& context, void* memory) {
  char byte = 'x';
  arrays::copy_view(*context.state(), View::dense(&byte, Dtype::u8, {1}), memory_view(context, memory, 1));
}

void expect_usable(const Context& context) {
  void* const memory = symmetric_allocate(context, 300);
  write_byte(context, static_cast<char*>(memory) + 299);
  symmetric_free(context, memory);
}

RANK_TEST(MemoryErrors, DoubleFree) {
  void* const memory = symmetric_allocate(context, 100);
  symmetric_free(context, memory);
  EXPECT_ERROR_ON_ALL(MemoryError, symmetric_free(context, memory), "double free");
  SymmetricMemory owned = SymmetricMemory::allocate(context, 10);
  owned.free();
  EXPECT_ERROR_ON_ALL(MemoryError, owned.free(), "already freed");
  expect_usable(context);
}

RANK_TEST(MemoryErrors, DoubleFreeOnOneRank) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  void* const first = symmetric_allocate(context, 100);
  void* const second = symmetric_allocate(context, 100);
  symmetric_free(context, first);
  const int guilty = context.size() - 1;
  EXPECT_ERROR_ON_ALL(MemoryError, symmetric_free(context, context.rank() == guilty ? first : second),
                      "rank " + std::to_string(guilty));
  symmetric_free(context, second);
  expect_usable(context);
}

RANK_TEST(MemoryErrors, ForeignPointers) {
  char mine = 0;
  EXPECT_ERROR_ON_ALL(MemoryError, symmetric_free(context, &mine), "foreign pointer");
  EXPECT_ERROR_ON_ALL(MemoryError, symmetric_free(context, nullptr));
  void* const memory = symmetric_allocate(context, 100);
  EXPECT_ERROR_ON_ALL(MemoryError, symmetric_free(context, static_cast<char*>(memory) + 8),
                      "not the start of its block");
  EXPECT_ERROR_ON_ALL(MemoryError,
                      symmetric_free(context, context.rank() == 0 ? static_cast<void*>(&mine) : memory),
                      context.size() > 1 ? "rank 0: " : "foreign pointer");
  symmetric_free(context, memory);
  expect_usable(context);
}

RANK_TEST(MemoryErrors, DifferentBlocks) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  void* const first = symmetric_allocate(context, 100);
  void* const second = symmetric_allocate(context, 200);
  EXPECT_ERROR_ON_ALL(MemoryError, symmetric_free(context, context.rank() == 1 ? second : first),
                      "the ranks free different blocks", "200 bytes at memory_errors_test.cpp:");
  symmetric_free(context, second);
  symmetric_free(context, first);
}

RANK_TEST(MemoryErrors, FreeOfADroppedBlock) {
  SymmetricMemory memory = SymmetricMemory::allocate(context, 100);
  void* const place = memory.data();
  memory = SymmetricMemory();
  EXPECT_ERROR_ON_ALL(MemoryError, symmetric_free(context, place), "owner");
  expect_usable(context);
}

RANK_TEST(MemoryErrors, BadSizes) {
  EXPECT_ERROR_ON_ALL(ArgumentError, SymmetricMemory::allocate(context, -1));
  EXPECT_ERROR_ON_ALL(ArgumentError, SymmetricMemory::make_symmetric(context, context.rank() == 0 ? -5 : 5));
  EXPECT_ERROR_ON_ALL(MemoryError, SymmetricMemory::allocate(context, std::int64_t{1} << 60),
                      "out of memory: 1152921504606846976 bytes requested");
  expect_usable(context);
}

/// More than the machine has, less than the reserved range: found out before a page is touched. Where
/// addresses are short, as under ThreadSanitizer, the range may be less than a large machine has.
RANK_TEST(MemoryErrors, MoreThanTheMachineHas) {
  const std::int64_t stride = context.state()->node_memory->stride();
  const Topology& topology = context.topology();
  const std::size_t sharers = topology.node_ranks(topology.node(context.rank())).size();
  if (stride - 64 * mebibyte <= memory::NodeLimits::read().available / static_cast<std::int64_t>(sharers))
    GTEST_SKIP() << "a rank may have more than all that is available";
  EXPECT_ERROR_ON_ALL(MemoryError,
                      SymmetricMemory::allocate(context, stride - 64 * mebibyte, MemorySpace::host),
                      "out of memory", "bytes available");
  expect_usable(context);
}

/// Where ranks are processes, one of them is enough.
bool last_process() {
  const auto& referee = rank_run().referee;
  return !referee || referee->rank() == referee->size() - 1;
}

TEST(MemoryErrors, NoMemoryLeftOnOneRank) {
  std::optional<Setting> limit;
  if (last_process()) limit.emplace("PARTITA_MEMORY_LIMIT", std::to_string(10 * mebibyte));
  on_ranks(
      [](Context& context) {
        const auto here = [&](std::int64_t bytes) {
          return SymmetricMemory::allocate(context, bytes, MemorySpace::host);
        };
        const SymmetricMemory before = here(3 * mebibyte);
        const bool named = ranks().kind == GroupKind::mpi && context.size() > 1;
        EXPECT_ERROR_ON_ALL(MemoryError, here(20 * mebibyte), "PARTITA_MEMORY_LIMIT is 10485760",
                            named ? "rank " + std::to_string(context.size() - 1) + ": " : "");
        const SymmetricMemory after = here(4 * mebibyte);
        static_cast<char*>(after.data())[4 * mebibyte - 1] = 'x';
        expect_usable(context);
      },
      ContextOptions());
}

TEST(MemoryErrors, BadLimit) {
  std::optional<Setting> limit;
  if (last_process()) limit.emplace("PARTITA_MEMORY_LIMIT", "plenty");
  EXPECT_THROW(
      {
        std::string text;
        ContextOptions options{.deadline = deadline()};
        if (ranks().kind == GroupKind::threads) {
          ThreadGroup::run(
              ranks().count, [](Context&) {}, options);
        } else {
          initialize(options);
        }
      },
      ArgumentError);
}

RANK_TEST_WITH(MemoryErrors, NothingAfterAFailure, ContextOptions()) {
  SymmetricMemory memory = SymmetricMemory::allocate(context, 100, MemorySpace::host);
  context.barrier();
  context.state()->fail("a test says so");
  EXPECT_THROW(SymmetricMemory::allocate(context, 100), FailedContextError);
  EXPECT_THROW(memory.free(), FailedContextError);
  static_cast<char*>(memory.data())[99] = 'x';
}

std::int64_t address_space_bytes() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

// What stays of them is memory, not the addresses into which it might have grown.
TEST(MemoryErrors, FailedContextsKeepFewAddresses) {
  if (has_devices()) GTEST_SKIP() << "the heap of a device keeps its addresses";
  constexpr int contexts = 8;
  const std::int64_t before = address_space_bytes();
  for (int i = 0; i < contexts; ++i) {
    on_ranks(
        [](Context& context) {
          (void)SymmetricMemory::allocate(context, 100, MemorySpace::host);
          context.barrier();
          context.state()->fail("a test says so");
        },
        ContextOptions());
  }
  EXPECT_LT(address_space_bytes() - before, contexts * (std::int64_t{1} << 30)) << "each reserves more";
}

}  // namespace
}  // namespace partita::testing
