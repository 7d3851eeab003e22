// The classes of the exception family as numbers, so that an error can travel to other ranks and be thrown
// there with the same type.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace partita::runtime {

enum class ErrorKind : std::uint8_t {
  error,
  argument,
  disagreement,
  unsupported,
  memory,
  file,
  singular,
  timeout,
  lost_peer,
  failed_context,
};

struct CaughtError {
  ErrorKind kind = ErrorKind::error;
  std::string text;
  bool of_all = false;  ///< all ranks of the context throw it alike
};

/// What `failure` holds. std::bad_alloc counts as MemoryError; what Partita does not know, as Error.
CaughtError describe_error(const std::exception_ptr& failure);

/// Throws the class of `kind`.
[[noreturn]] void throw_error(ErrorKind kind, const std::string& text);

}  // namespace partita::runtime
