#include "runtime/threads_per_rank.hpp"

#include <unistd.h>

#include "support/test.hpp"

namespace partita {
namespace {

runtime::Cores cores(const std::string& host, int first, int end, double quota = 0) {
  runtime::Cores result{host, std::vector<int>(static_cast<std::size_t>(end - first)), quota};
  std::iota(result.usable.begin(), result.usable.end(), first);
  return result;
}

TEST(ThreadsPerRank, SharesTheCoresOfAHost) {
  const std::vector<runtime::Cores> unbound(4, cores("a", 0, 16));
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(runtime::threads_per_rank(unbound, rank), 4);
  const std::vector<runtime::Cores> uneven(3, cores("a", 0, 16));
  EXPECT_EQ(runtime::threads_per_rank(uneven, 2), 5);
  const std::vector<runtime::Cores> crowded(5, cores("a", 0, 2));
  EXPECT_EQ(runtime::threads_per_rank(crowded, 0), 1);
}

TEST(ThreadsPerRank, CountsBoundRanksByThemselves) {
  // Rank 0 has separate cores; ranks 1 and 2 share theirs; rank 3 is on another host.
  const std::vector<runtime::Cores> ranks{cores("a", 0, 6), cores("a", 6, 10), cores("a", 6, 10),
                                          cores("b", 0, 3)};
  EXPECT_EQ(runtime::threads_per_rank(ranks, 0), 6);
  EXPECT_EQ(runtime::threads_per_rank(ranks, 1), 2);
  EXPECT_EQ(runtime::threads_per_rank(ranks, 2), 2);
  EXPECT_EQ(runtime::threads_per_rank(ranks, 3), 3);
}

TEST(ThreadsPerRank, KeepsTheQuotaOfTheControlGroup) {
  const std::vector<runtime::Cores> ranks(2, cores("a", 0, 64, 6.0));
  EXPECT_EQ(runtime::threads_per_rank(ranks, 1), 3);
  const std::vector<runtime::Cores> little(2, cores("a", 0, 64, 1.5));
  EXPECT_EQ(runtime::threads_per_rank(little, 1), 1);
}

TEST(CoresForAll, SaysWhetherSpinningTakesTimeFromOthers) {
  EXPECT_TRUE(runtime::cores_for_all(std::vector<runtime::Cores>(2, cores("a", 0, 2)), 0));
  EXPECT_FALSE(runtime::cores_for_all(std::vector<runtime::Cores>(3, cores("a", 0, 2)), 0));
  EXPECT_FALSE(runtime::cores_for_all(std::vector<runtime::Cores>(3, cores("a", 0, 8, 2.0)), 0));
  // Each bound to a separate core.
  EXPECT_TRUE(runtime::cores_for_all(std::vector<runtime::Cores>{cores("a", 0, 1), cores("a", 1, 2)}, 1));
  EXPECT_FALSE(runtime::cores_for_all(std::vector<runtime::Cores>{cores("a", 0, 1), cores("a", 0, 1)}, 1));
}

TEST(Cores, TravelAsBytes) {
  for (const runtime::Cores& sent :
       {cores("node.example.org", 0, 3, 2.5), cores("b", 5, 6), cores("c", 200, 300, 0.1)}) {
    const runtime::Cores received = deserialize<runtime::Cores>(serialize(sent));
    EXPECT_EQ(received.host, sent.host);
    EXPECT_EQ(received.usable, sent.usable);
    EXPECT_EQ(received.quota, sent.quota);
  }
}

TEST(Cores, OfThisProcess) {
  const runtime::Cores mine = runtime::this_rank_cores("somewhere:4711");
  EXPECT_EQ(mine.host, "somewhere");
  EXPECT_FALSE(mine.usable.empty());
}

// A tree like /proc and /sys with the files that a test needs.
class Machine {
 public:
  Machine() : root_(std::filesystem::temp_directory_path() / ("quota-" + std::to_string(getpid()))) {}
  ~Machine() { std::filesystem::remove_all(root_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  double quota() const { return runtime::processor_quota(root_.string()); }

 private:
  std::filesystem::path root_;
};

TEST(ProcessorQuota, OfVersionTwoIsTheLowestOnTheWay) {
  const Machine machine;
  EXPECT_EQ(machine.quota(), 0);
  machine.write("proc/self/cgroup", "0::/jobs/seven\n");
  machine.write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  machine.write("sys/fs/cgroup/jobs/seven/cpu.max", "max 100000\n");
  EXPECT_EQ(machine.quota(), 0);
  machine.write("sys/fs/cgroup/jobs/cpu.max", "250000 100000\n");
  EXPECT_EQ(machine.quota(), 2.5);
  machine.write("sys/fs/cgroup/jobs/seven/cpu.max", "300000 100000\n");
  EXPECT_EQ(machine.quota(), 2.5);
}

TEST(ProcessorQuota, OfVersionOne) {
  const Machine machine;
  machine.write("proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/docker/abc\n0::/\n");
  machine.write("proc/self/mountinfo",
                "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  machine.write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  machine.write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(machine.quota(), 0);
  machine.write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(machine.quota(), 1.5);
}

TEST(ProcessorQuota, InAContainerThatShowsItsOwnLevelAsTheRoot) {
  const Machine machine;
  machine.write("proc/self/cgroup", "4:cpu:/docker/abc\n");
  machine.write("proc/self/mountinfo",
                "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  machine.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  machine.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
  EXPECT_EQ(machine.quota(), 4);
}

}  // namespace
}  // namespace partita
