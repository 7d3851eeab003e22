// The exception family. A failed collective call throws the same exception, with the same text, on every
// rank.
#pragma once

#include <partita/export.hpp>
#include <stdexcept>
#include <string>

namespace partita {

/// Base of everything that Partita throws. `what()` is one line and says what to do where that is known.
class PARTITA_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

/// A bad argument: wrong shape, unknown text, a distribution that does not cover its array, ...
class PARTITA_API ArgumentError : public Error {
 public:
  using Error::Error;
  ~ArgumentError() override;
};

/// Ranks called different operations, or the same with different arguments. The text names the ranks and what
/// they differ in. Where they had begun to execute, the context has failed.
class PARTITA_API DisagreementError : public ArgumentError {
 public:
  using ArgumentError::ArgumentError;
  ~DisagreementError() override;
};

/// The request is legal but this build, machine or dtype does not offer it.
class PARTITA_API UnsupportedError : public Error {
 public:
  using Error::Error;
  ~UnsupportedError() override;
};

/// No memory left on at least one rank, a double free, or a pointer that the symmetric heap does not own.
class PARTITA_API MemoryError : public Error {
 public:
  using Error::Error;
  ~MemoryError() override;
};

/// A file is missing, truncated, foreign, or could not be written whole.
class PARTITA_API FileError : public Error {
 public:
  using Error::Error;
  ~FileError() override;
};

/// A blocking wait made no progress until its deadline, or a peer died. The context is failed from here on.
class PARTITA_API TimeoutError : public Error {
 public:
  using Error::Error;
  ~TimeoutError() override;
};

/// A peer process ended while this rank waited for it. The context is failed from here on.
class PARTITA_API LostPeerError : public Error {
 public:
  using Error::Error;
  ~LostPeerError() override;
};

/// A call on a context that failed earlier; the text repeats the first failure.
class PARTITA_API FailedContextError : public Error {
 public:
  using Error::Error;
  ~FailedContextError() override;
};

}  // namespace partita
