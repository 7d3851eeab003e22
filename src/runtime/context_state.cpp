#include "runtime/context_state.hpp"

#include <exception>
#include <utility>

#include "base/check.hpp"
#include "device/finish.hpp"
#include "runtime/keeper.hpp"
#include "runtime/mpi_group.hpp"

namespace partita {

void ContextState::require_alive(std::string_view operation) const {
  if (!failed()) return;
  if (unseen_disagreement_.exchange(false)) throw DisagreementError(failure());
  throw FailedContextError(fmt::format("{}: the context has failed: {}", operation, failure()));
}

void ContextState::require_usable(std::string_view operation) const {
  settle_failure();
  require_alive(operation);
  check(!closed, "{}: the context is closed", operation);
}

std::string ContextState::failure() const {
  if (!home.is_here()) {  // whose locks may be held by threads that are not here
    return fmt::format("a context stays with the process that made it ({}), and this one is a fork of it",
                       home.number());
  }
  const std::lock_guard lock(failure_mutex_);
  return failure_.text;
}

DeviceGroup* ContextState::device_group() const {
  const std::lock_guard lock(failure_mutex_);
  return device_group_.get();
}

void ContextState::adopt(std::unique_ptr<DeviceGroup> vendors) {
  DeviceGroup* const adopted = vendors.get();
  {
    const std::lock_guard lock(failure_mutex_);
    device_group_ = std::move(vendors);
  }
  if (adopted != nullptr && failed()) adopted->abort();
}

SymmetricHeap& ContextState::heap_in(MemorySpace space) const {
  if (space == MemorySpace::host) return *heap;
  check<UnsupportedError>(device_heap != nullptr,
                          "device memory: the context has no device; initialize it with Device::cuda()");
  return *device_heap;
}

void ContextState::fail(const std::string& why, ErrorKind kind) noexcept {
  note_failure(why, kind, true);
  settle_failure();
}

void ContextState::fail_beside(const std::string& why, ErrorKind kind) noexcept {
  note_failure(why, kind, false);
}

void ContextState::fail_with_current() noexcept {
  const CaughtError error = describe_error(std::current_exception());
  fail(error.text, error.kind);
}

void ContextState::settle_failure() const noexcept {
  if (settled_ || !failed() || !home.is_here()) return;
  settled_ = true;
  if (group) group->abandon();
}

void ContextState::give_up(const CaughtError& why) {
  fail(why.text, why.kind);
  throw_failure();
  throw_error(why.kind, why.text);  // not reached: the context has failed
}

void ContextState::throw_failure() const {
  if (!failed()) return;
  settle_failure();
  unseen_disagreement_ = false;
  const std::unique_lock lock(failure_mutex_);
  throw_error(failure_.kind, failure_.text);
}

void ContextState::note_failure(const std::string& why, ErrorKind kind, bool seen) noexcept {
  try {
    if (!home.is_here()) return;
    const std::lock_guard lock(failure_mutex_);
    if (failed()) return;
    failure_ = {kind, why};
    unseen_disagreement_ = !seen && kind == ErrorKind::disagreement;
    failed_.store(true, std::memory_order_release);
  } catch (...) {
    failed_.store(true, std::memory_order_release);
  }
  if (board) board->fail(kind, why);
  note_failed_context();
  tell(true, kind, why);
  if (flags) flags->poison();  // nothing on the device waits for ever
  if (DeviceGroup* const vendors = device_group()) vendors->abort();
  try {
    if (log) log->info("the context has failed: " + why);
  } catch (...) {
    // A log that cannot be written must not hide the failure.
  }
}

// What this rank has sent and nobody has taken yet may still be all that a peer waits for: then nothing is
// held against it.
void ContextState::leave(std::string_view how) noexcept {
  if (failed() || !group) return;  // a failure has been told
  const bool silent = closed || group->in_flight() > 0;
  if (board) board->leave(silent ? "" : how);
  if (!silent) tell(false, ErrorKind::lost_peer, how);
}

void ContextState::tell(bool has_failed, ErrorKind kind, std::string_view text) const noexcept {
  try {
    if (group) group->say_farewell({identity, rank(), has_failed, {kind, std::string(text)}});
  } catch (...) {
    // No memory for the text: the ranks of other nodes find out by their deadline.
  }
}

// Messages may still arrive in a failed context's memory, and peers may still read it.
ContextState::~ContextState() {
  watchdog.reset();
  try {
    // Nothing of the device is given back before its streams have done with it; where they do not come to
    // their end, the context has failed.
    if (device && !failed()) finish_device(*this, "the end of a context");
  } catch (...) {
    // noted as the failure
  }
  device_group_.reset();
  if (!failed()) {
    greetings.reset();
    letters.reset();  // which looks once more what has been taken
    leave(std::uncaught_exceptions() > 0 ? "has left its context by an exception"
                                         : "has left its context without closing it");
    return;
  }
  settle_failure();
  try {
    keep_until_exit(std::make_shared<PlanCache>(std::move(plans)));
  } catch (...) {
    // No memory left for the note: the plans go, as those of a context that has not failed do.
  }
  keep_until_exit(std::shared_ptr<FlagBoard>(std::move(flags)));
  keep_until_exit(std::shared_ptr<SymmetricHeap>(std::move(device_heap)));
  keep_until_exit(std::shared_ptr<NodeMemory>(std::move(device_memory)));
  keep_until_exit(std::shared_ptr<Accelerator>(std::move(device)));
  keep_until_exit(std::shared_ptr<SymmetricHeap>(std::move(heap)));
  keep_until_exit(std::shared_ptr<NodeMemory>(std::move(node_memory)));
  keep_until_exit(std::shared_ptr<ProcessGroup>(std::move(group)));
}

}  // namespace partita
