// Errors of collective calls, as tests look at them.
#pragma once

#include <gtest/gtest.h>

#include <string>

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

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace partita::testing
