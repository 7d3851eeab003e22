#include "device/watchdog.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/board/peer_watch.hpp"
#include "runtime/checks/announcement.hpp"
#include "runtime/checks/rank_list.hpp"

namespace partita::devices {
namespace {

using namespace std::chrono_literals;

/// Whoever waits in a call of ours notices first, and can say more.
constexpr std::chrono::milliseconds grace = 500ms;
constexpr std::chrono::milliseconds longest_nap = 500ms;

}  // namespace

Watchdog::Watchdog(DeviceRuntime& state) : state_(state) {
  operation_.reserve(64);  // executions allocate nothing
  thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::begin(std::string_view operation) {
  {
    const std::lock_guard lock(mutex_);
    operation_ = operation;
  }
  noted_.fetch_add(1, std::memory_order_release);
}

void Watchdog::end() noexcept {
  noted_.fetch_add(1, std::memory_order_release);
}

std::string Watchdog::operation() const {
  const std::lock_guard lock(mutex_);
  return operation_;
}

void Watchdog::watch() {
  const auto nap = std::clamp<std::chrono::milliseconds>(state_.options.deadline / 8, 10ms, longest_nap);
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, nap, [this] { return ending_; })) {
    lock.unlock();
    bool more = false;
    try {
      more = look();
    } catch (const std::exception& error) {
      state_.fail_beside({runtime::ErrorKind::error, error.what()});
    }
    if (!more) return;
    lock.lock();
  }
}

bool Watchdog::look() {
  if (state_.failed() || found_disagreement()) return false;
  bool waits = false;
  if (DeviceGroup* const group = state_.device_group()) {
    const std::string why = group->failed();
    check<Error>(why.empty(), "{}", why);  // fails the context
    waits = group->in_call();
  }
  const std::uint64_t noted = noted_.load(std::memory_order_acquire);
  if (noted != settled_) {
    state_.device->use();
    const bool is_given_more = noted % 2 != 0;
    if (cannot_be_asked() || (is_given_more && idle())) {
      moved_ = Clock::now();
    } else if (idle()) {
      settled_ = noted;
      signals_.clear();
    } else if (is_overdue(noted)) {
      give_up();
      return false;
    } else {
      waits = true;
    }
  }
  if (waits) {
    look_at_neighbours();
  } else {
    peers_.reset();
  }
  return true;
}

/// Found twice: a call that waits notices in between, and throws it.
bool Watchdog::found_disagreement() {
  const std::string mine = operation();
  const auto found =
      runtime::all_are_in_check(state_) ? std::nullopt : runtime::announced_difference(state_, mine);
  if (found && disagrees_) {
    state_.fail_beside(runtime::agreed_words(state_, mine, found->error, found->question));
  }
  return found && std::exchange(disagrees_, true);
}

bool Watchdog::is_overdue(std::uint64_t noted) {
  const auto now = Clock::now();
  std::vector<std::uint64_t> signals = state_.flags->arrived();
  if (signals != signals_ || noted != seen_) {
    signals_ = std::move(signals);
    seen_ = noted;
    moved_ = now;
  }
  return now - moved_ >= state_.options.deadline + grace;
}

void Watchdog::look_at_neighbours() {
  if (!peers_) {
    awaited_operation_ = operation();
    reason_ = {awaited_operation_, {}, -1, [this] { return neighbours(); }};
    peers_ = std::make_unique<runtime::PeerWatch>(state_, reason_);
  }
  const auto found = peers_->look_for_the_lost(Clock::now());
  if (found) state_.fail_beside(found->error);
}

/// Those of this node that still have the context, or owe the device something. Of processes elsewhere
/// nothing is known.
std::vector<int> Watchdog::neighbours() const {
  const runtime::NodeBoard& board = *state_.board;
  const std::vector<int> node = state_.neighbours();
  std::vector<int> ranks;
  for (int number = 0; number < board.node_ranks(); ++number) {
    if (number != board.me()) ranks.push_back(node[static_cast<std::size_t>(number)]);
  }
  return less_those_that_left(state_, std::move(ranks));
}

/// A stream that is being captured does nothing of what it is given.
bool Watchdog::cannot_be_asked() const {
  return !state_.device_work_is_marked && own_stream_is_captured(state_);
}

bool Watchdog::idle() const {
  return state_.device_work_is_marked ? state_.device_mark->reached() : state_.device->idle();
}

void Watchdog::give_up() {
  state_.fail_beside(
      {runtime::ErrorKind::timeout,
       fmt::format("{}: the device of rank {} has waited {:g} s for {}; set PARTITA_DEADLINE or "
                   "ContextOptions::deadline for a longer wait",
                   operation(), state_.rank(), static_cast<double>(state_.options.deadline.count()) / 1000.0,
                   runtime::rank_list(state_.flags->owing()))});
}

}  // namespace partita::devices
