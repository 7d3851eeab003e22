// What the tests of memory ask of several ranks.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <partita/context.hpp>
#include <partita/view.hpp>
#include <string>
#include <vector>

#include "context/context_state.hpp"
#include "runtime/checks/agree.hpp"
#include "support/errors.hpp"

namespace partita::testing {

inline std::vector<int> all_ranks(const Context& context) {
  std::vector<int> ranks(static_cast<std::size_t>(context.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

inline void expect_same_on_all(const Context& context, const std::string& text) {
  for (const std::string& other : runtime::exchange(*context.state(), "compare texts", text))
    EXPECT_EQ(other, text);
}

/// Of memory of the context's own memory space.
inline View memory_view(const Context& context, const void* memory, std::int64_t bytes) {
  return {const_cast<void*>(memory), Dtype::u8, {bytes}, {1}, context.state()->default_space()};
}

/// As EXPECT_ERROR, with the same text on every rank of the `context` of the test.
#define EXPECT_ERROR_ON_ALL(Failure, expression, ...)                                           \
  ::partita::testing::expect_same_on_all(                                                       \
      context, ::partita::testing::expect_parts(                                                \
                   ::partita::testing::caught<Failure>([&] { static_cast<void>(expression); }), \
                   {__VA_ARGS__}, __FILE__, __LINE__))

/// Calls `body`, which must throw a `Failure` with the same text on every rank. Returns the text.
template <class Failure, class Body>
std::string same_error(const Context& context, Body&& body) {
  std::string text = caught<Failure>(body);
  expect_same_on_all(context, text);
  return text;
}

/// Whether all ranks have dropped block `block`, when in each step up to `step` rank r drops block
/// (step + r) mod `count`.
inline bool dropped_by_all(int block, int step, int ranks, int count) {
  for (int rank = 0; rank < ranks; ++rank) {
    const int dropped_in = ((block - rank) % count + count) % count;
    if (dropped_in > step) return false;
  }
  return true;
}

}  // namespace partita::testing
