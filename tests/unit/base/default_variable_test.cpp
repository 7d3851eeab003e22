#include "base/default_variable.hpp"

#include <unistd.h>

#include "support/test.hpp"

namespace partita {
namespace {

constexpr const char* variable_name = "PARTITA_TEST_DEFAULT";

std::optional<std::string> value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

TEST(DefaultVariable, IsThereForAsLongAsItLives) {
  {
    const DefaultVariable variable(variable_name, "a=b");
    EXPECT_EQ(value_of(variable_name), "a=b");
    const DefaultVariable again(variable_name, "c");
    EXPECT_EQ(value_of(variable_name), "a=b");
  }
  EXPECT_EQ(value_of(variable_name), std::nullopt);
}

TEST(DefaultVariable, TheUsersStays) {
  const testing::Setting users(variable_name, "mine");
  {
    const DefaultVariable variable(variable_name, "other");
    EXPECT_EQ(value_of(variable_name), "mine");
  }
  EXPECT_EQ(value_of(variable_name), "mine");
}

TEST(DefaultVariable, TheArrayThatOthersReadIsNotTouched) {
  const testing::Setting known("PARTITA_TEST_KNOWN", "1");  // from here on the array is the C library's
  char** const array = environ;
  std::vector<char*> entries;
  for (char** entry = array; *entry != nullptr; ++entry) entries.push_back(*entry);
  entries.push_back(nullptr);
  const auto expect_untouched = [&] {
    for (std::size_t i = 0; i < entries.size(); ++i) ASSERT_EQ(array[i], entries[i]) << i;
  };
  {
    const DefaultVariable variable(variable_name, "1");
    ASSERT_NE(environ, array);
    expect_untouched();
  }
  ASSERT_EQ(environ, array);
  expect_untouched();
}

TEST(DefaultVariable, WhatOthersSetMeanwhileStays) {
  std::optional<testing::Setting> other;
  {
    const DefaultVariable variable(variable_name, "1");
    other.emplace("PARTITA_TEST_OTHER", "2");
    EXPECT_EQ(value_of(variable_name), "1");
  }
  EXPECT_EQ(value_of(variable_name), std::nullopt);
  EXPECT_EQ(value_of("PARTITA_TEST_OTHER"), "2");
  other.reset();
  EXPECT_EQ(value_of("PARTITA_TEST_OTHER"), std::nullopt);
}

TEST(DefaultVariable, TheFirstMayGoBeforeTheSecond) {
  auto first = std::make_unique<DefaultVariable>(variable_name, "1");
  auto second = std::make_unique<DefaultVariable>("PARTITA_TEST_SECOND", "2");
  first.reset();
  EXPECT_EQ(value_of(variable_name), std::nullopt);
  EXPECT_EQ(value_of("PARTITA_TEST_SECOND"), "2");
  second.reset();
  EXPECT_EQ(value_of("PARTITA_TEST_SECOND"), std::nullopt);
}

TEST(DefaultVariable, ComesAndGoesWhileOthersRead) {
  const testing::Setting known("PARTITA_TEST_KNOWN", "1");
  std::atomic<bool> over = false;
  std::atomic<int> missed = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&] {
      while (!over) {
        if (value_of("PARTITA_TEST_KNOWN") != "1") ++missed;
      }
    });
  }
  for (int round = 0; round < 3000; ++round) {
    const DefaultVariable variable(variable_name, "1");
    const DefaultVariable second("PARTITA_TEST_SECOND", "2");
  }
  over = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace partita
