#include "runtime/environment.hpp"

#include <gtest/gtest.h>

#include <partita/error.hpp>
#include <string>

#include "runtime/logging.hpp"
#include "setting.hpp"

namespace partita {
namespace {

using testing::Setting;

std::string refusal(const char* name, const char* value) {
  const Setting setting(name, value);
  try {
    with_environment({});
    static_cast<void>(log_level());
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

TEST(Environment, WinsOverTheOptions) {
  ContextOptions options;
  options.deadline = std::chrono::seconds(9);
  options.threads = 5;
  const Setting deadline("PARTITA_DEADLINE", "0.25"), threads("PARTITA_THREADS", "2");
  const Setting ranks("PARTITA_RANKS_PER_NODE", "");
  const ContextOptions result = with_environment(options);
  EXPECT_EQ(result.deadline, std::chrono::milliseconds(250));
  EXPECT_EQ(result.threads, 2);
  EXPECT_EQ(result.ranks_per_node, 0);
}

TEST(Environment, APlanCacheHasAPlaceAtLeast) {
  ContextOptions options;
  options.plan_cache_size = 0;
  EXPECT_THROW(with_environment(options), ArgumentError);
}

TEST(Environment, BadValuesAreRefusedByName) {
  for (const char* value : {"soon", "-1", "0", "1e99", "nan", "5 s", "0x10"}) {
    EXPECT_NE(refusal("PARTITA_DEADLINE", value).find("PARTITA_DEADLINE is \""), std::string::npos) << value;
  }
  for (const char* name : {"PARTITA_THREADS", "PARTITA_RANKS_PER_NODE"}) {
    for (const char* value : {"many", "-1", "1.5", "99999999999"}) {
      EXPECT_NE(refusal(name, value).find(std::string(name) + " is \""), std::string::npos) << value;
    }
    EXPECT_EQ(refusal(name, "0"), "");
  }
  EXPECT_NE(refusal("PARTITA_LOG", "loud").find("PARTITA_LOG is \"loud\"; known: trace"), std::string::npos);
  for (const char* value : {"", "trace", "debug", "info", "warn", "error", "off"}) {
    EXPECT_EQ(refusal("PARTITA_LOG", value), "");
  }
}

}  // namespace
}  // namespace partita
