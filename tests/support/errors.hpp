// Checks of exceptions and texts.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <typeinfo>

namespace partita::testing {

/// The text of the exception of exactly this class that `action` throws; a test failure and "" otherwise.
template <class Failure, class Action>
std::string caught(Action&& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Failure& failure) {
    EXPECT_EQ(typeid(failure), typeid(Failure)) << failure.what();
    return failure.what();
  } catch (const std::exception& failure) {
    ADD_FAILURE() << "another exception was thrown: " << typeid(failure).name() << ": " << failure.what();
  }
  return "";
}

/// The text of the exception of this class that `action` throws; "" if it throws none.
template <class Failure, class Action>
std::string text_of_error(Action&& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// A test failure at this line for each part that the text does not contain.
inline std::string expect_parts(std::string text, std::initializer_list<std::string> parts, const char* file,
                                int line) {
  for (const std::string& part : parts) {
    if (!contains(text, part)) ADD_FAILURE_AT(file, line) << "expected \"" << part << "\" in: " << text;
  }
  return text;
}

}  // namespace partita::testing

namespace partita {
using testing::caught;
using testing::contains;
using testing::text_of_error;
}  // namespace partita

/// The expression throws an exception of exactly this class, with all the given texts in its own.
#define EXPECT_ERROR(Failure, expression, ...)                                                              \
  static_cast<void>(::partita::testing::expect_parts(                                                       \
      ::partita::testing::caught<Failure>([&] { static_cast<void>(expression); }), {__VA_ARGS__}, __FILE__, \
      __LINE__))
