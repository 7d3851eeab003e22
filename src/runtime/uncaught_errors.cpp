#include "runtime/uncaught_errors.hpp"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <partita/error.hpp>
#include <string>
#include <string_view>
#include <thread>

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
thread_local bool is_rank_zero = false;  // of a context

constexpr std::chrono::milliseconds time_to_report{200};

std::terminate_handler handler_before = nullptr;

/// Of several ranks that lose one whose exception rank 0 is to report, rank 0 does.
bool is_reported_elsewhere(const std::exception& error) {
  const std::string_view text = error.what();
  if (dynamic_cast<const LostPeerError*>(&error) != nullptr) {
    if (text.find(has_not_reported) != std::string_view::npos) return !is_rank_zero;
    return text.find(has_reported) != std::string_view::npos;
  }
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
  // Launchers end all ranks when the first one has ended, as do threads of one process.
  if (silent) std::this_thread::sleep_for(time_to_report);
  std::abort();
}

}  // namespace

void note_error_of_all(int rank, std::string_view text) noexcept {
  latest_of_all = {hash_of(text), rank != 0};
}

void report_uncaught_errors_once(int rank) {
  is_rank_zero = is_rank_zero || rank == 0;
  static std::once_flag once;
  std::call_once(once, [] { handler_before = std::set_terminate(end_process); });
}

}  // namespace partita::runtime
