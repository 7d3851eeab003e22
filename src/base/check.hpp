// The one way to refuse an argument.
#pragma once

#include <fmt/core.h>

#include <partita/error.hpp>
#include <utility>

namespace partita {

/// Throws `Failure` with the formatted message unless `condition` holds.
template <class Failure = ArgumentError, class... Arguments>
void check(bool condition, fmt::format_string<Arguments...> message, Arguments&&... arguments) {
  if (!condition) [[unlikely]] {
    throw Failure(fmt::format(message, std::forward<Arguments>(arguments)...));
  }
}

/// An invariant of our own code: its failure is a defect of Partita, and says so.
template <class... Arguments>
void invariant(bool condition, fmt::format_string<Arguments...> message, Arguments&&... arguments) {
  if (!condition) [[unlikely]] {
    throw Error("internal error (please report it): " +
                fmt::format(message, std::forward<Arguments>(arguments)...));
  }
}

}  // namespace partita
