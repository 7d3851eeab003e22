#include "runtime/board/wait.hpp"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "base/check.hpp"
#include "runtime/board/long_waits.hpp"
#include "runtime/board/peer_watch.hpp"
#include "runtime/checks/rank_list.hpp"
#include "runtime/checks/verdict.hpp"
#include "runtime/checks/withdrawal.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds shortest_nap = 20us;
constexpr std::chrono::nanoseconds longest_nap = 1ms;
constexpr auto between_looks = 10ms;
constexpr auto between_calls = 10ms;  // of on_wait

// Tells the processor that this is a spinning wait.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

std::string seconds_text(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000.0);
}

}  // namespace

std::vector<int> awaited(const WaitReason& reason) {
  if (reason.peers) return reason.peers();
  return reason.peer < 0 ? std::vector<int>{} : std::vector<int>{reason.peer};
}

WaitLoop::WaitLoop(Runtime& state, const WaitReason& reason) : state_(state), reason_(reason) {}

WaitLoop::~WaitLoop() = default;

void WaitLoop::progressed() {
  turns_ = 0;
  watch_.reset();
  note_.reset();
}

void WaitLoop::pause() {
  if (turns_ < state_.spin_turns) {
    ++turns_;
    relax();
    return;
  }
  yield_or_sleep();
}

void WaitLoop::yield_or_sleep() {
  const auto now = Clock::now();
  if (turns_ == state_.spin_turns) {
    start_ = now;
    next_look_ = now + between_looks;
    nap_ = shortest_nap;
    ++turns_;
  }
  state_.throw_failure();  // of another thread's finding
  progress();
  if (state_.options.on_wait && now >= state_.on_wait_due) call_on_wait();
  if (now - start_ < reason_.yields_for) {
    sched_yield();
    return;
  }
  if (now - start_ >= state_.options.deadline) give_up();
  if (now >= next_look_) look(now);
  std::this_thread::sleep_for(nap_);
  nap_ = std::min(nap_ + nap_ / 4, longest_nap);
}

/// What the transport reports here may be of any message: no later one can be relied on.
void WaitLoop::progress() {
  try {
    state_.group->progress();
  } catch (const std::exception& error) {
    state_.fail(error.what());
    throw;
  }
}

/// At most so often over all waits: each may be short, and there may be many.
void WaitLoop::call_on_wait() {
  state_.in_on_wait = true;
  try {
    state_.options.on_wait();
  } catch (...) {
    state_.in_on_wait = false;
    state_.fail_with_current();
    throw;
  }
  state_.in_on_wait = false;
  state_.on_wait_due = Clock::now() + between_calls;
}

void WaitLoop::look(Clock::time_point now) {
  if (!watch_) {
    watch_ = std::make_unique<PeerWatch>(state_, reason_);
    note_ = std::make_unique<WaitNote>(state_, reason_);
  }
  note_->update();
  answer_question(state_, reason_.operation);
  if (const auto found = watch_->look(now)) {
    if (found->may_withdraw) throw Withdrawal();
    give_up_of(state_, reason_.operation, *found);
  }
  next_look_ = Clock::now() + between_looks;
}

void WaitLoop::give_up() const {
  const std::vector<int> peers = awaited(reason_);
  const std::string what = reason_.what ? fmt::format(" ({})", reason_.what()) : "";
  const std::string text = fmt::format(
      "{}: rank {} waited {} for {}{}; set PARTITA_DEADLINE or ContextOptions::deadline for a longer wait",
      reason_.operation, state_.rank(), seconds_text(state_.options.deadline),
      peers.empty() ? "the other ranks" : rank_list(peers), what);
  const CaughtError timeout{ErrorKind::timeout, text};
  // Another rank may just be finding the words for what is wrong.
  const bool is_asked = state_.board && state_.board->verdict_of();
  state_.give_up(is_asked ? agreed_words(state_, reason_.operation, timeout, {}) : timeout);
}

}  // namespace partita::runtime
