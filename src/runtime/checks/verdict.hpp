// One error for all ranks of a node that do not do the same: who notices asks the others, and all throw what
// it has found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/checks/error_kind.hpp"

namespace partita::runtime {

struct Runtime;

/// What the ranks of a node are asked.
struct Question {
  enum class About : std::uint8_t {
    now = 1,    ///< the collective check or execution that the rank is in
    execution,  ///< the execution of this number
    capture,    ///< the captured execution of this number
  };
  About about = About::now;
  std::uint64_t number = 0;
};

/// The words for `found`, a disagreement, that all ranks of this node use. The first rank of the node that
/// comes here asks all, and waits a second for those that are in a wait; the others answer and wait for its
/// words. From the answers: `all_reduce: the ranks disagree on reduction: sum on rank 0; max on rank 1`.
/// Where they say nothing, or none come, it is `found`. `mine`: the call that this rank is in. Any thread.
CaughtError agreed_words(Runtime& context, std::string_view mine, const CaughtError& found,
                         const Question& question);

/// Fails the context with these words and throws them.
[[noreturn]] void give_up_together(Runtime& context, std::string_view mine, const CaughtError& found,
                                   const Question& question);

/// Answers a rank that asks. Called by all waits, by the thread that uses the context. Whether one asks: then
/// the context is about to fail.
bool answer_question(Runtime& context, std::string_view mine);

}  // namespace partita::runtime
