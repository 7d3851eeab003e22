// Exceptions. A failed collective call throws the same exception, with the same text, on every rank.
#pragma once

#include <cstdint>
#include <partita/export.hpp>
#include <stdexcept>
#include <string>

namespace partita {

/// Base class of all exceptions of Partita. `what()` is one line, with the remedy if one is known.
class PARTITA_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

/// An invalid argument: wrong shape, unknown text, a distribution that does not cover its array, ...
class PARTITA_API ArgumentError : public Error {
 public:
  using Error::Error;
  ~ArgumentError() override;
};

/// Ranks called different operations, or the same with different arguments. The text names the ranks and both
/// values. If some ranks had begun to execute, the context has failed.
class PARTITA_API DisagreementError : public ArgumentError {
 public:
  using ArgumentError::ArgumentError;
  ~DisagreementError() override;
};

/// The request is valid, but this build, machine or dtype does not support it.
class PARTITA_API UnsupportedError : public Error {
 public:
  using Error::Error;
  ~UnsupportedError() override;
};

/// Memory is exhausted on at least one rank, a block was freed twice, or a pointer is not in the symmetric
/// heap.
class PARTITA_API MemoryError : public Error {
 public:
  using Error::Error;
  ~MemoryError() override;
};

/// A file is missing, truncated, of another format, or could not be written completely.
class PARTITA_API FileError : public Error {
 public:
  using Error::Error;
  ~FileError() override;
};

/// A matrix is singular, or for a Cholesky factorization not positive definite. Every rank throws it, and the
/// context stays valid.
class PARTITA_API SingularError : public Error {
 public:
  /// `index`: see index().
  explicit SingularError(const std::string& text, std::int64_t index = -1) : Error(text), index_(index) {}
  ~SingularError() override;
  /// The row, counted from 0, of the first pivot that is 0, or of the last row of the first leading minor
  /// that is not positive definite. -1: not known.
  std::int64_t index() const { return index_; }

 private:
  std::int64_t index_;
};

/// A blocking wait made no progress until its deadline. The context has failed.
class PARTITA_API TimeoutError : public Error {
 public:
  using Error::Error;
  ~TimeoutError() override;
};

/// A peer process ended while this rank waited for it. The context has failed.
class PARTITA_API LostPeerError : public Error {
 public:
  using Error::Error;
  ~LostPeerError() override;
};

/// A call on a context that has failed; the text repeats the first failure.
class PARTITA_API FailedContextError : public Error {
 public:
  using Error::Error;
  ~FailedContextError() override;
};

}  // namespace partita
