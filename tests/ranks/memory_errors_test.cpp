// What the symmetric heap refuses: the same error on every rank, and the heap works on.
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <partita/error.hpp>
#include <partita/memory.hpp>

#include "array/transfer.hpp"
#include "context/context_state.hpp"
#include "memory/node_limits.hpp"
#include "ranks/memory_checks.hpp"
#include "ranks/needs_devices.hpp"
#include "ranks/rank_run.hpp"
#include "ranks/rank_test.hpp"
#include "setting.hpp"

namespace partita::testing {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

void write_byte(const Context& context, void* memory) {
  char byte = 'x';
  arrays::copy_view(*context.state(), View::dense(&byte, Dtype::u8, {1}), memory_view(context, memory, 1));
}

void expect_usable(const Context& context) {
  void* const memory = symmetric_allocate(context, 300);
  write_byte(context, static_cast<char*>(memory) + 299);
  symmetric_free(context, memory);
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), text.npos) << "\"" << text << "\" does not say \"" << part << "\"";
}

RANK_TEST(MemoryErrors, DoubleFree) {
  void* const memory = symmetric_allocate(context, 100);
  symmetric_free(context, memory);
  expect_contains(same_error<MemoryError>(context, [&] { symmetric_free(context, memory); }), "double free");
  SymmetricMemory owned = SymmetricMemory::allocate(context, 10);
  owned.free();
  expect_contains(same_error<MemoryError>(context, [&] { owned.free(); }), "already freed");
  expect_usable(context);
}

RANK_TEST(MemoryErrors, DoubleFreeOnOneRank) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  void* const first = symmetric_allocate(context, 100);
  void* const second = symmetric_allocate(context, 100);
  symmetric_free(context, first);
  const int guilty = context.size() - 1;
  const std::string text = same_error<MemoryError>(
      context, [&] { symmetric_free(context, context.rank() == guilty ? first : second); });
  expect_contains(text, "rank " + std::to_string(guilty));
  symmetric_free(context, second);
  expect_usable(context);
}

RANK_TEST(MemoryErrors, ForeignPointers) {
  char mine = 0;
  expect_contains(same_error<MemoryError>(context, [&] { symmetric_free(context, &mine); }),
                  "foreign pointer");
  same_error<MemoryError>(context, [&] { symmetric_free(context, nullptr); });
  void* const memory = symmetric_allocate(context, 100);
  const std::string text =
      same_error<MemoryError>(context, [&] { symmetric_free(context, static_cast<char*>(memory) + 8); });
  expect_contains(text, "not the start of its block");
  const std::string one = same_error<MemoryError>(
      context, [&] { symmetric_free(context, context.rank() == 0 ? static_cast<void*>(&mine) : memory); });
  expect_contains(one, context.size() > 1 ? "rank 0: " : "foreign pointer");
  symmetric_free(context, memory);
  expect_usable(context);
}

RANK_TEST(MemoryErrors, DifferentBlocks) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  void* const first = symmetric_allocate(context, 100);
  void* const second = symmetric_allocate(context, 200);
  const std::string text = same_error<MemoryError>(
      context, [&] { symmetric_free(context, context.rank() == 1 ? second : first); });
  expect_contains(text, "the ranks free different blocks");
  expect_contains(text, "200 bytes at memory_errors_test.cpp:");
  symmetric_free(context, second);
  symmetric_free(context, first);
}

RANK_TEST(MemoryErrors, FreeOfADroppedBlock) {
  SymmetricMemory memory = SymmetricMemory::allocate(context, 100);
  void* const place = memory.data();
  memory = SymmetricMemory();
  expect_contains(same_error<MemoryError>(context, [&] { symmetric_free(context, place); }), "owner");
  expect_usable(context);
}

RANK_TEST(MemoryErrors, BadSizes) {
  same_error<ArgumentError>(context, [&] { SymmetricMemory::allocate(context, -1); });
  same_error<ArgumentError>(context,
                            [&] { SymmetricMemory::make_symmetric(context, context.rank() == 0 ? -5 : 5); });
  const std::string huge =
      same_error<MemoryError>(context, [&] { SymmetricMemory::allocate(context, std::int64_t{1} << 60); });
  expect_contains(huge, "out of memory: 1152921504606846976 bytes requested");
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
  const std::string text = same_error<MemoryError>(
      context, [&] { SymmetricMemory::allocate(context, stride - 64 * mebibyte, MemorySpace::host); });
  expect_contains(text, "out of memory");
  expect_contains(text, "bytes available");
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
        const std::string text = same_error<MemoryError>(context, [&] { here(20 * mebibyte); });
        expect_contains(text, "PARTITA_MEMORY_LIMIT is 10485760");
        if (ranks().kind == GroupKind::mpi && context.size() > 1) {
          expect_contains(text, "rank " + std::to_string(context.size() - 1) + ": ");
        }
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
        ContextOptions options;
        options.deadline = deadline();
        if (ranks().kind == GroupKind::threads) {
          ThreadGroup::run(
              ranks().count, [](Context&) {}, options);
        } else {
          initialize(options);
        }
      },
      ArgumentError);
}

TEST(MemoryErrors, NothingAfterAFailure) {
  on_ranks(
      [](Context& context) {
        SymmetricMemory memory = SymmetricMemory::allocate(context, 100, MemorySpace::host);
        context.barrier();
        context.state()->fail("a test says so");
        EXPECT_THROW(SymmetricMemory::allocate(context, 100), FailedContextError);
        EXPECT_THROW(memory.free(), FailedContextError);
        static_cast<char*>(memory.data())[99] = 'x';
      },
      ContextOptions());
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
