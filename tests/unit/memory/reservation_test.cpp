#include "memory/reservation.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/page.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// Whether `body` says true in a process whose address space is limited.
bool holds_within(std::int64_t more_bytes, const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const auto limit = static_cast<rlim_t>(pages * page_bytes + more_bytes);
    const rlimit limits{limit, limit};
    setrlimit(RLIMIT_AS, &limits);
    bool good = false;
    try {
      good = body();
    } catch (...) {
      good = false;
    }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_mapped(const char* address) {
  unsigned char resident = 0;
  void* const page = const_cast<char*>(address);
  return mincore(page, 4096, &resident) == 0;
}

TEST(Reservation, BeginsAtAHugePageAndIsGoneAfterwards) {
  const char* data = nullptr;
  {
    const memory::Reservation range(3 * huge_page_bytes);
    data = range.data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % huge_page_bytes, 0U);
    EXPECT_TRUE(is_mapped(data));
    EXPECT_TRUE(is_mapped(data + range.bytes() - 4096));
  }
  EXPECT_FALSE(is_mapped(data));
}

TEST(Reservation, TrimGivesTheEndBack) {
  memory::Reservation range(8 * huge_page_bytes);
  range.trim(3 * huge_page_bytes);
  EXPECT_EQ(range.bytes(), 3 * huge_page_bytes);
  EXPECT_TRUE(is_mapped(range.data() + 3 * huge_page_bytes - 4096));
  EXPECT_FALSE(is_mapped(range.data() + 3 * huge_page_bytes));
  memory::Reservation other = std::move(range);
  // NOLINTNEXTLINE(bugprone-use-after-move): that it holds nothing is tested
  EXPECT_EQ(range.data(), nullptr);
  EXPECT_TRUE(is_mapped(other.data()));
}

TEST(Reservation, StrideIsTwiceTheMemoryOverTheRanks) {
  EXPECT_EQ(memory::preferred_stride(16 * gibibyte, 1, 1), 32 * gibibyte);
  EXPECT_EQ(memory::preferred_stride(16 * gibibyte, 3, 1), 11 * gibibyte);
  EXPECT_EQ(memory::preferred_stride(gibibyte / 2, 7, 2), gibibyte);
}

// Threads on machines with terabytes, each a node of its own.
TEST(Reservation, AllNodesOfAProcessHaveAddresses) {
  for (const int nodes : {1, 3, 100}) {
    for (const int ranks : {1, 100}) {
      const std::int64_t stride = memory::preferred_stride(std::int64_t{24} << 40, ranks, nodes);
      EXPECT_GE(stride, std::int64_t{64} << 20);
      EXPECT_LE(stride * ranks * nodes,
                std::max(std::int64_t{1} << 46, (std::int64_t{64} << 20) * ranks * nodes));
      EXPECT_EQ(stride % huge_page_bytes, 0);
    }
  }
}

TEST(Reservation, HalvesTheStrideUntilItCanBeHad) {
  if (sanitized) GTEST_SKIP() << "sanitizers take the address space themselves";
  EXPECT_TRUE(holds_within(8 * gibibyte, [] {
    const auto [range, stride] = memory::Reservation::segments(3, 16 * gibibyte);
    return stride == gibibyte && range.bytes() == 3 * gibibyte;  // half of 8 GiB over 3, as 16 GiB / 2^n
  }));
}

TEST(Reservation, SaysWhenThereAreNoAddresses) {
  if (sanitized) GTEST_SKIP() << "sanitizers take the address space themselves";
  EXPECT_TRUE(holds_within(gibibyte / 8, [] {
    const auto reserve = [] { memory::Reservation::segments(4, 16 * gibibyte); };
    return contains(text_of_error<MemoryError>(reserve), "ulimit -v");
  }));
  EXPECT_THROW(memory::Reservation(std::int64_t{1} << 60), MemoryError);
}

}  // namespace
}  // namespace partita
