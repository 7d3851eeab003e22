#include "runtime/groups/host_identity.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "runtime/board/process_watch.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

/// A rank on the machine of this name.
runtime::HostIdentity on(char name) {
  runtime::HostIdentity identity;
  identity.host[0] = name;
  return identity;
}

std::vector<int> nodes_of(const std::string& hosts, int ranks_per_node) {
  std::vector<runtime::HostIdentity> ranks;
  for (const char host : hosts) ranks.push_back(on(host));
  const Topology topology = runtime::topology_of(ranks, ranks_per_node);
  std::vector<int> nodes;
  for (int rank = 0; rank < topology.ranks(); ++rank) nodes.push_back(topology.node(rank));
  return nodes;
}

TEST(HostIdentity, RanksOfOneHostShareANode) {
  EXPECT_EQ(nodes_of("a", 0), (std::vector{0}));
  EXPECT_EQ(nodes_of("aaa", 0), (std::vector{0, 0, 0}));
  EXPECT_EQ(nodes_of("abab", 0), (std::vector{0, 1, 0, 1}));
  EXPECT_EQ(nodes_of("bbaac", 0), (std::vector{0, 0, 1, 1, 2}));
}

TEST(HostIdentity, HostsAreSplitIntoConsecutiveRanks) {
  EXPECT_EQ(nodes_of("aaaaa", 2), (std::vector{0, 0, 1, 1, 2}));
  EXPECT_EQ(nodes_of("aaaaa", 1), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(nodes_of("aaaaa", 9), (std::vector{0, 0, 0, 0, 0}));
  EXPECT_EQ(nodes_of("ababaab", 2), (std::vector{0, 1, 0, 1, 2, 2, 3}));
}

TEST(HostIdentity, ContainersOfOneMachineAreApart) {
  runtime::HostIdentity mine = runtime::this_host(), other = mine;
  EXPECT_TRUE(mine.same_node(other));
  other.mount_namespace += 1;
  EXPECT_FALSE(mine.same_node(other));
  EXPECT_TRUE(mine.same_processes(other));
  other.process_namespace += 1;
  EXPECT_FALSE(mine.same_processes(other));
}

TEST(HostIdentity, NamesThisProcess) {
  const runtime::HostIdentity mine = runtime::this_host();
  EXPECT_EQ(mine.process, ::getpid());
  EXPECT_NE(mine.start_time, 0U);
  EXPECT_EQ(mine.place(), mine.host_name() + ":" + std::to_string(::getpid()));
  EXPECT_EQ(runtime::process_start_time(0), 0U);
}

/// A process that sleeps until it is killed.
struct Sleeper {
  pid_t process = ::fork();
  Sleeper() {
    if (process == 0) {
      for (;;) ::pause();
    }
  }
  ~Sleeper() { end(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  void kill() const { ::kill(process, SIGKILL); }
  void end() {
    if (process <= 0) return;
    kill();
    ::waitpid(process, nullptr, 0);
    process = -1;
  }
  runtime::HostIdentity identity() const {
    runtime::HostIdentity identity = runtime::this_host();
    identity.process = process;
    identity.start_time = runtime::process_start_time(process);
    return identity;
  }
};

/// What is known after a few looks.
std::string after_looks(runtime::ProcessWatch& watch, int rank) {
  std::string what;
  for (int look = 0; look < 5 && what.empty(); ++look) {
    what = watch.lost(rank);
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
  }
  return what;
}

TEST(ProcessWatch, SeesThatAProcessEnds) {
  Sleeper lives, dies;
  const std::string ended = "(process " + std::to_string(dies.process) + ") has ended";
  runtime::ProcessWatch watch(runtime::this_host(), {lives.identity(), dies.identity()});
  EXPECT_EQ(after_looks(watch, 0), "");
  EXPECT_EQ(after_looks(watch, 1), "");
  dies.kill();  // its exit code has not been asked for yet
  EXPECT_EQ(after_looks(watch, 1), ended);
  dies.end();
  EXPECT_EQ(after_looks(watch, 1), ended);
  EXPECT_EQ(after_looks(watch, 0), "");
}

TEST(ProcessWatch, SeesWhoEndedBeforeTheFirstLook) {
  Sleeper dies;
  runtime::ProcessWatch watch(runtime::this_host(), {dies.identity()});
  dies.end();
  EXPECT_NE(after_looks(watch, 0), "");
}

TEST(ProcessWatch, AProcessNumberUsedAgainIsAnotherProcess) {
  Sleeper other;
  runtime::HostIdentity former = other.identity();
  former.start_time -= 1;
  runtime::ProcessWatch watch(runtime::this_host(), {former});
  EXPECT_NE(after_looks(watch, 0), "");
}

TEST(ProcessWatch, KnowsNothingOfOtherMachines) {
  runtime::HostIdentity far = runtime::this_host();
  far.boot[0] = 'x';
  far.process = 1 << 30;
  runtime::ProcessWatch watch(runtime::this_host(), {far});
  EXPECT_EQ(after_looks(watch, 0), "");
}

}  // namespace
}  // namespace partita
