#include "runtime/settings.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using testing::Setting;

std::string refusal(const char* name, const char* value) {
  const Setting setting(name, value);
  return text_of_error<ArgumentError>([] { runtime::with_environment({}); });
}

TEST(Environment, WinsOverTheOptions) {
  const Setting deadline("PARTITA_DEADLINE", "0.25"), threads("PARTITA_THREADS", "2");
  const Setting ranks("PARTITA_RANKS_PER_NODE", "");
  const ContextOptions result =
      runtime::with_environment({.deadline = std::chrono::seconds(9), .threads = 5});
  EXPECT_EQ(result.deadline, std::chrono::milliseconds(250));
  EXPECT_EQ(result.threads, 2);
  EXPECT_EQ(result.ranks_per_node, 0);
}

TEST(Environment, EverySettingOfAContextIsRead) {
  const Setting log("PARTITA_LOG", "off"), limit("PARTITA_MEMORY_LIMIT", "123456789012");
  const Setting size("PARTITA_PLAN_CACHE_SIZE", "3"), machine("PARTITA_MACHINE", "cluster");
  const Setting heap("PARTITA_DEVICE_HEAP", "nvshmem"), who("PARTITA_DEVICE_COLLECTIVES", "library");
  const Setting messages("PARTITA_DEVICE_MESSAGES", "direct"), way("PARTITA_COPY_WAY", "kernel");
  const Setting lanes("PARTITA_DEVICE_LANES", "7"), reads("PARTITA_CROSS_MEMORY", "allow");
  const ContextOptions result = runtime::with_environment({});
  EXPECT_EQ(result.log, LogLevel::off);
  EXPECT_EQ(result.memory_limit, 123456789012);
  EXPECT_EQ(result.plan_cache_size, 3);
  EXPECT_EQ(result.machine, "cluster");
  EXPECT_EQ(result.device_heap, DeviceHeap::nvshmem);
  EXPECT_EQ(result.device_collectives, DeviceCollectives::library);
  EXPECT_EQ(result.device_messages, DeviceMessages::direct);
  EXPECT_EQ(result.copy_way, CopyWay::kernel);
  EXPECT_EQ(result.device_lanes, 7);
  EXPECT_EQ(result.cross_memory, CrossMemory::allow);
}

TEST(Environment, BadOptionsAreRefusedByName) {
  const auto refused = [](const ContextOptions& options) {
    return text_of_error<ArgumentError>([&] { runtime::with_environment(options); });
  };
  ContextOptions options{.device_lanes = 8};
  EXPECT_EQ(refused(options), "device_lanes is 8; it must be a whole number from 0 to 7");
  options = {.plan_cache_size = 0};
  EXPECT_EQ(refused(options), "plan_cache_size is 0; it must be a whole number, 1 or more");
  options = {.memory_limit = -1};
  EXPECT_EQ(refused(options), "memory_limit is -1; it must be a whole number of bytes, 0 or more");
  options = {.deadline = std::chrono::milliseconds(0)};
  EXPECT_NE(refused(options), "");
}

TEST(Environment, BadValuesAreRefusedByName) {
  for (const char* value : {"soon", "-1", "0", "1e99", "nan", "5 s", "0x10"}) {
    EXPECT_TRUE(contains(refusal("PARTITA_DEADLINE", value), "PARTITA_DEADLINE is \"")) << value;
  }
  for (const char* name : {"PARTITA_THREADS", "PARTITA_RANKS_PER_NODE", "PARTITA_MEMORY_LIMIT"}) {
    for (const char* value : {"many", "-1", "1.5", "x", "1x", " 1", "99999999999999999999"}) {
      EXPECT_TRUE(contains(refusal(name, value), std::string(name) + " is \"")) << value;
    }
    EXPECT_EQ(refusal(name, "0"), "");
  }
  EXPECT_TRUE(contains(refusal("PARTITA_LOG", "loud"), "PARTITA_LOG is \"loud\"; known: trace"));
  for (const char* name : {"PARTITA_CROSS_MEMORY", "PARTITA_DEVICE_HEAP", "PARTITA_DEVICE_COLLECTIVES",
                           "PARTITA_DEVICE_MESSAGES", "PARTITA_COPY_WAY"}) {
    EXPECT_TRUE(contains(refusal(name, "pigeon"), std::string(name) + " is \"pigeon\"; known: automatic, "));
    EXPECT_EQ(refusal(name, "automatic"), "");
  }
  EXPECT_NE(refusal("PARTITA_PLAN_CACHE_SIZE", "0"), "");
  EXPECT_NE(refusal("PARTITA_DEVICE_LANES", "8"), "");
  for (const char* value : {"", "trace", "debug", "info", "warn", "error", "off"}) {
    EXPECT_EQ(refusal("PARTITA_LOG", value), "");
  }
}

}  // namespace
}  // namespace partita
