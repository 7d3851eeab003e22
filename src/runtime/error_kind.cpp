#include "runtime/error_kind.hpp"

#include <new>
#include <partita/error.hpp>

namespace partita {

// Derived classes stand before their bases.
CaughtError describe_error(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const DisagreementError& error) {
    return {ErrorKind::disagreement, error.what()};
  } catch (const ArgumentError& error) {
    return {ErrorKind::argument, error.what()};
  } catch (const UnsupportedError& error) {
    return {ErrorKind::unsupported, error.what()};
  } catch (const MemoryError& error) {
    return {ErrorKind::memory, error.what()};
  } catch (const FileError& error) {
    return {ErrorKind::file, error.what()};
  } catch (const TimeoutError& error) {
    return {ErrorKind::timeout, error.what()};
  } catch (const LostPeerError& error) {
    return {ErrorKind::lost_peer, error.what()};
  } catch (const FailedContextError& error) {
    return {ErrorKind::failed_context, error.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::memory, "no memory left (std::bad_alloc)"};
  } catch (const std::exception& error) {
    return {ErrorKind::error, error.what()};
  } catch (...) {
    return {ErrorKind::error, "an exception that is not a std::exception"};
  }
}

void throw_error(ErrorKind kind, const std::string& text) {
  switch (kind) {
    case ErrorKind::argument:
      throw ArgumentError(text);
    case ErrorKind::disagreement:
      throw DisagreementError(text);
    case ErrorKind::unsupported:
      throw UnsupportedError(text);
    case ErrorKind::memory:
      throw MemoryError(text);
    case ErrorKind::file:
      throw FileError(text);
    case ErrorKind::timeout:
      throw TimeoutError(text);
    case ErrorKind::lost_peer:
      throw LostPeerError(text);
    case ErrorKind::failed_context:
      throw FailedContextError(text);
    case ErrorKind::error:
      break;
  }
  throw Error(text);
}

}  // namespace partita
