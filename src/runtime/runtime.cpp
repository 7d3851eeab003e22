#include "runtime/runtime.hpp"

#include <exception>
#include <numeric>
#include <utility>

#include "base/check.hpp"
#include "runtime/checks/node_questions.hpp"
#include "runtime/checks/rank_zero.hpp"
#include "runtime/groups/kept_until_exit.hpp"
#include "runtime/groups/mpi_group.hpp"

namespace partita::runtime {

Runtime::Runtime() : notes(std::make_shared<NotesOfNodes>()) {}

std::vector<int> Runtime::others() const {
  std::vector<int> ranks(static_cast<std::size_t>(size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::erase(ranks, rank());
  return ranks;
}

void Runtime::require_alive(std::string_view operation) const {
  check(!in_on_wait, "{}: called by on_wait, during another call of the context", operation);
  if (!failed()) return;
  if (unseen_disagreement_.exchange(false)) throw DisagreementError(failure());
  throw FailedContextError(fmt::format("{}: the context has failed: {}", operation, failure()));
}

void Runtime::require_usable(std::string_view operation) const {
  require_usable_here(operation);
  refuse_in_rank_zero(*this, operation);
}

void Runtime::require_usable_here(std::string_view operation) const {
  settle_failure();
  require_alive(operation);
  check(!closed, "{}: the context is closed", operation);
}

std::string Runtime::failure() const {
  if (!home.is_here()) {  // whose locks may be held by threads that are not here
    return fmt::format(
        "a context can only be used by the process that made it ({}), and this process is a fork of it",
        home.number());
  }
  const std::lock_guard lock(failure_mutex_);
  return failure_.text;
}

void Runtime::fail(const CaughtError& why) noexcept {
  note_failure(why, true);
  settle_failure();
}

void Runtime::fail(const std::string& why) noexcept {
  try {
    fail(CaughtError{ErrorKind::error, why});
  } catch (...) {  // no memory for the text
    fail(CaughtError{});
  }
}

void Runtime::fail_beside(const CaughtError& why) noexcept {
  note_failure(why, false);
}

void Runtime::fail_with_current() noexcept {
  fail(describe_error(std::current_exception()));
}

void Runtime::settle_failure() const noexcept {
  if (settled_ || !failed() || !home.is_here()) return;
  settled_ = true;
  if (group) group->abandon();
}

void Runtime::give_up(const CaughtError& why) {
  fail(why);
  throw_failure();
  throw_error(why.kind, why.text);  // not reached: the context has failed
}

void Runtime::throw_failure() const {
  if (!failed()) return;
  settle_failure();
  unseen_disagreement_ = false;
  const std::unique_lock lock(failure_mutex_);
  throw_error(failure_.kind, failure_.text);
}

void Runtime::note_failure(const CaughtError& why, bool seen) noexcept {
  try {
    if (!home.is_here()) return;
    const std::lock_guard lock(failure_mutex_);
    if (failed()) return;
    failure_ = why;
    failure_.text.resize(
        std::min(why.text.size(), NodeBoard::longest_failure));  // as much as the neighbours see
    unseen_disagreement_ = !seen && why.kind == ErrorKind::disagreement;
    failed_.store(true, std::memory_order_release);
  } catch (...) {
    failed_.store(true, std::memory_order_release);
  }
  if (board) board->fail(why);
  note_failed_context();
  tell(true, why.kind, why.text, why.of_all);
  release_waits();
  try {
    if (log) log->info("the context has failed: " + why.text);
  } catch (...) {
    // A log that cannot be written must not hide the failure.
  }
}

// What this rank has sent and no rank has received yet may be all that a peer waits for: then nothing is
// held against it.
void Runtime::leave(std::string_view how, bool at_once) noexcept {
  if (failed() || !group) return;  // a failure has been reported
  const bool silent = closed || (!at_once && group->in_flight() > 0);
  if (board) board->leave(silent ? "" : how);
  if (!silent) tell(false, ErrorKind::lost_peer, how);
}

void Runtime::tell(bool has_failed, ErrorKind kind, std::string_view text, bool of_all) const noexcept {
  try {
    if (group) group->say_farewell({identity, rank(), has_failed, {kind, std::string(text), of_all}});
  } catch (...) {
    // No memory for the text: the ranks of other nodes find out by their deadline.
  }
}

// Messages may still arrive in a failed context's memory, and peers may still read it.
Runtime::~Runtime() {
  if (!failed()) return;
  settle_failure();
  keep_until_exit(std::shared_ptr<ProcessGroup>(std::move(group)));
}

}  // namespace partita::runtime
