#include <partita/device_report.hpp>

#include "memory/nvshmem_library.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using testing::Setting;

std::vector<memory::NvshmemCapabilities> offers() {
  return {{30800, 11, 100, 0, 0}, {30800, 12, 90, 0, 0}, {30800, 13, 95, 0, 0}};
}

TEST(NvshmemCapabilities, NothingSpeaksAgainstProcessesThatAreAlike) {
  EXPECT_EQ(memory::obstacle(offers()), "");
  std::vector<memory::NvshmemCapabilities> running = offers();
  for (memory::NvshmemCapabilities& one : running) one.world = 77;
  EXPECT_EQ(memory::obstacle(running), "");
}

TEST(NvshmemCapabilities, SaysWhoStandsInTheWay) {
  std::vector<memory::NvshmemCapabilities> all = offers();
  all[2].version = 30700;
  EXPECT_EQ(memory::obstacle(all), "ranks 0 and 2 have different ones");
  all = offers();
  all[2].device = 12;
  EXPECT_EQ(memory::obstacle(all), "ranks 1 and 2 share a device");
  all = offers();
  all[1].world = 5;
  EXPECT_EQ(memory::obstacle(all),
            "rank 1 has started it with other processes than rank 0, and a process can start it only once");
  all = offers();
  all[0].world = 5;
  EXPECT_EQ(memory::obstacle(all),
            "rank 0 has started it with other processes than rank 1, and a process can start it only once");
}

std::int64_t size_of_setting(const char* text) {
  const Setting size("NVSHMEM_SYMMETRIC_SIZE", text);
  return memory::symmetric_size_of_environment(-1);
}

TEST(NvshmemCapabilities, ReadsTheSizeThatTheUserWants) {
  EXPECT_EQ(size_of_setting(""), -1);
  EXPECT_EQ(size_of_setting("1073741824"), std::int64_t{1} << 30);
  EXPECT_EQ(size_of_setting("1.5G"), std::int64_t{3} << 29);
  EXPECT_EQ(size_of_setting("2k"), 2048);
  EXPECT_EQ(size_of_setting("3m"), 3 << 20);
  EXPECT_EQ(size_of_setting("1T"), std::int64_t{1} << 40);
  for (const char* const bad : {"much", "1x", "1GB", "-1", "0", "nan", "inf", "1e99", "9999T", "G"}) {
    EXPECT_THROW((void)size_of_setting(bad), ArgumentError) << bad;
  }
}

TEST(VendorLibraries, AreThereOrSayWhyNot) {
  for (const LibraryReport& report : {report_nvshmem(), report_nccl()}) {
    EXPECT_EQ(report.version == 0, !report.why_none.empty());
    EXPECT_EQ(report.version == 0, report.path.empty());
  }
}

}  // namespace
}  // namespace partita
