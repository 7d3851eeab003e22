// Ranks that `partita run --threads` has started.
#include <sys/wait.h>
#include <unistd.h>

#include <partita/machine_report.hpp>

#include "runtime/groups/sockets_group.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

RANK_TEST(Sockets, ProgramsThatARankStartsTakeNoPart) {
  if (!runtime::has_sockets()) GTEST_SKIP() << "needs ranks without MPI";
  EXPECT_TRUE(is_launched_rank());
  EXPECT_EQ(std::getenv("PARTITA_SOCKETS"), nullptr);
  const char* const look = "! ls -l /proc/self/fd </dev/null 2>/dev/null | grep -q socket:";
  EXPECT_EQ(std::system(look), 0) << "it has our connections";
  context.barrier();
}

RANK_TEST(Sockets, AForkHasNoPartInThem) {
  if (!runtime::has_sockets()) GTEST_SKIP() << "needs ranks without MPI";
  constexpr int refused = 5;
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      static_cast<void>(initialize());
    } catch (const UnsupportedError&) {
      std::_Exit(refused);
    }
    std::_Exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == refused) << status;
  context.barrier();
}

}  // namespace
}  // namespace partita::testing
