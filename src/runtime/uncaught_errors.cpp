#include "runtime/uncaught_errors.hpp"

#include <cstdlib>
#include <exception>
#include <mutex>
#include <partita/error.hpp>
#include <string>

#include "base/hash.hpp"
#include "runtime/live_contexts.hpp"

namespace partita::runtime {
namespace {

// What the other ranks read of one that has ended: it has reported the exception, or it has left that to rank
// 0.
constexpr std::string_view has_reported = "ended by an uncaught exception: ";
constexpr std::string_view has_not_reported = "ended by an uncaught exception of all ranks: ";

struct ErrorOfAll {
  std::uint64_t text = 0;
  bool reported_elsewhere = false;
};
thread_local ErrorOfAll latest_of_all;

std::terminate_handler handler_before = nullptr;

bool is_reported_elsewhere(const std::exception& error) {
  const std::string_view text = error.what();
  if (dynamic_cast<const LostPeerError*>(&error) != nullptr)
    return text.find(has_reported) != std::string_view::npos;
  return latest_of_all.reported_elsewhere && latest_of_all.text == hash_of(text);
}

/// Whether another rank reports the exception that is being handled. Tells the others of it.
bool leave_with(const std::exception_ptr& thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    const bool elsewhere = is_reported_elsewhere(error);
    leave_contexts(std::string(elsewhere ? has_not_reported : has_reported) + error.what(), true);
    return elsewhere;
  } catch (...) {
    return false;
  }
}

[[noreturn]] void end_process() noexcept {
  const std::exception_ptr thrown = std::current_exception();
  const bool silent = thrown != nullptr && leave_with(thrown);
  if (!silent && handler_before != nullptr) handler_before();
  std::abort();
}

}  // namespace

void note_error_of_all(int rank, std::string_view text) noexcept {
  latest_of_all = {hash_of(text), rank != 0};
}

void report_uncaught_errors_once() {
  static std::once_flag once;
  std::call_once(once, [] { handler_before = std::set_terminate(end_process); });
}

}  // namespace partita::runtime
