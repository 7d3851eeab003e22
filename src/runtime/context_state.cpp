#include "runtime/context_state.hpp"

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
  require_alive(operation);
  check(!closed, "{}: the context is closed", operation);
}

std::string ContextState::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
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
  fail(why, kind, true);
}

void ContextState::fail(const std::string& why, ErrorKind kind, bool seen) noexcept {
  try {
    const std::lock_guard lock(failure_mutex_);
    if (failed()) return;
    failure_ = why;
    unseen_disagreement_ = !seen;
    failed_.store(true, std::memory_order_release);
  } catch (...) {
    failed_.store(true, std::memory_order_release);
  }
  if (board) board->fail(kind, why);
  note_failed_context();
  if (group) group->abandon();
  if (flags) flags->poison();  // nothing on the device waits for ever
  if (DeviceGroup* const vendors = device_group()) vendors->abort();
  try {
    if (log) log->info("the context has failed: {}", why);
  } catch (...) {
    // A log that cannot be written must not hide the failure.
  }
}

void ContextState::fail_with_current() noexcept {
  const CaughtError error = describe_error(std::current_exception());
  fail(error.text, error.kind);
}

void ContextState::fail_in_disagreement(const std::string& why) noexcept {
  fail(why, ErrorKind::disagreement, false);
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
    if (board) board->leave();
    return;
  }
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
