#include "memory/node_limits.hpp"

#include <unistd.h>

#include "support/test.hpp"

namespace partita {
namespace {

/// A folder with its own /proc and /sys, removed afterwards.
class NodeLimitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "partita-limits-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    write("proc/meminfo", "MemTotal:  1024000 kB\nMemFree: 1 kB\nMemAvailable:   512000 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = root_ / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  memory::NodeLimits read() const { return memory::NodeLimits::read(root_.string()); }
  std::filesystem::path root_;
};

TEST_F(NodeLimitsTest, TheMachineAlone) {
  const memory::NodeLimits limits = read();
  EXPECT_EQ(limits.total, 1024000 * 1024);
  EXPECT_EQ(limits.available, 512000 * 1024);
  EXPECT_EQ(limits.bound, "the machine");
}

TEST_F(NodeLimitsTest, UnifiedGroupsBoundAtEveryLevel) {
  write("proc/self/cgroup", "0::/jobs/7\n");
  write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  write("sys/fs/cgroup/jobs/7/memory.max", "max\n");
  write("sys/fs/cgroup/jobs/7/memory.current", "1000\n");
  write("sys/fs/cgroup/jobs/memory.max", std::to_string(100 * mebibyte));
  write("sys/fs/cgroup/jobs/memory.current", std::to_string(70 * mebibyte));
  write("sys/fs/cgroup/jobs/memory.stat", "anon 5\ninactive_file 10485760\nactive_file 1048576\n");
  const memory::NodeLimits limits = read();
  EXPECT_EQ(limits.total, 100 * mebibyte);
  EXPECT_EQ(limits.available, 41 * mebibyte);
  EXPECT_EQ(limits.bound, "the control group /jobs");
}

TEST_F(NodeLimitsTest, ALooserLimitWithLessLeftCounts) {
  write("proc/self/cgroup", "0::/jobs/7\n");
  write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  write("sys/fs/cgroup/jobs/7/memory.max", std::to_string(100 * mebibyte));
  write("sys/fs/cgroup/jobs/7/memory.current", std::to_string(10 * mebibyte));
  write("sys/fs/cgroup/jobs/memory.max", std::to_string(200 * mebibyte));
  write("sys/fs/cgroup/jobs/memory.current", std::to_string(195 * mebibyte));
  EXPECT_EQ(read().total, 100 * mebibyte);
  EXPECT_EQ(read().available, 5 * mebibyte);
}

TEST_F(NodeLimitsTest, FirstVersionInAContainer) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/\n");
  write("proc/self/mountinfo",
        "30 23 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
        "31 23 0:28 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(64 * mebibyte));
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(60 * mebibyte));
  write("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 1048576\n");
  const memory::NodeLimits limits = read();
  EXPECT_EQ(limits.total, 64 * mebibyte);
  EXPECT_EQ(limits.available, 5 * mebibyte);
  EXPECT_EQ(limits.bound, "the control group /");
}

TEST_F(NodeLimitsTest, UnlimitedAndUnreadableGroupsBoundNothing) {
  write("proc/self/cgroup", "4:memory:/a\n");
  write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "77\n");
  EXPECT_EQ(read().bound, "the machine");
  EXPECT_EQ(read().available, 512000 * 1024);
}

TEST(NodeLimits, OfThisMachine) {
  const memory::NodeLimits limits = memory::NodeLimits::read();
  EXPECT_GT(limits.total, 64 * mebibyte);
  EXPECT_GT(limits.available, 0);
  EXPECT_LE(limits.available, limits.total);
}

}  // namespace
}  // namespace partita
