#include "runtime/checks/error_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <partita/error.hpp>

namespace partita::runtime {
namespace {

struct Row {
  ErrorKind kind;
  bool (*is_of)(const std::exception& error);
  void (*raise)(const std::string& text);
};

template <class Class>
constexpr Row row(ErrorKind kind) {
  return {kind, [](const std::exception& error) { return dynamic_cast<const Class*>(&error) != nullptr; },
          [](const std::string& text) { throw Class(text); }};
}

// Derived classes stand before their bases.
constexpr std::array rows{row<DisagreementError>(ErrorKind::disagreement),
                          row<ArgumentError>(ErrorKind::argument),
                          row<UnsupportedError>(ErrorKind::unsupported),
                          row<MemoryError>(ErrorKind::memory),
                          row<FileError>(ErrorKind::file),
                          row<SingularError>(ErrorKind::singular),
                          row<TimeoutError>(ErrorKind::timeout),
                          row<LostPeerError>(ErrorKind::lost_peer),
                          row<FailedContextError>(ErrorKind::failed_context)};

}  // namespace

CaughtError describe_error(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    return {ErrorKind::memory, "out of memory (std::bad_alloc)"};
  } catch (const std::filesystem::filesystem_error& error) {  // whose text begins with "filesystem error: "
    return {ErrorKind::file, fmt::format("{}: {}", error.path1().string(), error.code().message())};
  } catch (const std::exception& error) {
    const auto found = std::ranges::find_if(rows, [&](const Row& row) { return row.is_of(error); });
    return {found == rows.end() ? ErrorKind::error : found->kind, error.what()};
  } catch (...) {
    return {ErrorKind::error, "an exception that is not a std::exception"};
  }
}

void throw_error(ErrorKind kind, const std::string& text) {
  const auto found = std::ranges::find(rows, kind, &Row::kind);
  if (found != rows.end()) found->raise(text);
  throw Error(text);
}

}  // namespace partita::runtime
