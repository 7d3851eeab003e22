#include "runtime/groups/threads_mail.hpp"

#include <cstring>
#include <thread>
#include <utility>

namespace partita::runtime {
namespace {

void deliver(PendingMessage& send, PendingMessage& receive) {
  const bool fits = send.bytes == receive.bytes;
  if (fits && send.bytes > 0) std::memcpy(receive.data, send.data, static_cast<std::size_t>(send.bytes));
  send.bytes_of_peer = receive.bytes;
  receive.bytes_of_peer = send.bytes;
  const PendingMessage::State state = fits ? PendingMessage::State::delivered : PendingMessage::State::misfit;
  send.state.store(state, std::memory_order_release);
  receive.state.store(state, std::memory_order_release);
}

}  // namespace

void Mailbox::post(PendingMessage& message) {
  PendingMessage* match = take_match(message);
  if (match == nullptr) return;
  if (message.is_send) {
    deliver(message, *match);
  } else {
    deliver(*match, message);
  }
}

PendingMessage* Mailbox::take_match(PendingMessage& message) {
  const std::lock_guard lock(mutex_);
  if (first_ != nullptr && first_->is_send != message.is_send) {
    PendingMessage* match = first_;
    first_ = match->next;
    match->state.store(PendingMessage::State::matched, std::memory_order_relaxed);
    return match;
  }
  message.next = nullptr;
  message.state.store(PendingMessage::State::waiting, std::memory_order_relaxed);
  (first_ == nullptr ? first_ : last_->next) = &message;
  last_ = &message;
  return nullptr;
}

void Mailbox::withdraw(PendingMessage& message) {
  {
    const std::lock_guard lock(mutex_);
    if (message.state.load(std::memory_order_relaxed) == PendingMessage::State::waiting) {
      PendingMessage* before = nullptr;
      for (PendingMessage* at = first_; at != &message; at = at->next) before = at;
      (before == nullptr ? first_ : before->next) = message.next;
      if (last_ == &message) last_ = before;
      message.state.store(PendingMessage::State::withdrawn, std::memory_order_relaxed);
    }
  }
  // A copy takes no longer than memory does; its thread needs no other thread to finish it.
  while (message.state.load(std::memory_order_acquire) == PendingMessage::State::matched)
    std::this_thread::yield();
}

void Attendance::say(const Farewell& farewell) {
  const std::lock_guard lock(mutex_);
  farewells_.push_back(farewell);
}

std::vector<Farewell> Attendance::farewells(int except, std::uint64_t context) const {
  const std::lock_guard lock(mutex_);
  std::vector<Farewell> others = farewells_;
  std::erase_if(others, [&](const Farewell& farewell) {
    const bool is_note = !farewell.failed && farewell.why.kind == ErrorKind::error;
    return farewell.rank == except || (is_note && farewell.context != context);
  });
  return others;
}

void Attendance::tell(int member, const Note& note) {
  const std::lock_guard lock(mutex_);
  notes_[static_cast<std::size_t>(member)].push_back(note);
}

std::vector<Note> Attendance::take_notes(int member) {
  const std::lock_guard lock(mutex_);
  return std::exchange(notes_[static_cast<std::size_t>(member)], {});
}

std::shared_ptr<Mailbox> MailRoom::box(const Address& address) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Mailbox>& entry = boxes_[address];
  std::shared_ptr<Mailbox> held = entry.lock();
  if (!held) entry = held = std::make_shared<Mailbox>();
  return held;
}

std::shared_ptr<Attendance> MailRoom::attendance(std::int32_t key, const std::vector<int>& ranks) {
  const std::lock_guard lock(mutex_);
  std::erase_if(boxes_, [](const auto& entry) { return entry.second.expired(); });
  const GroupName name(key, ranks);
  std::shared_ptr<Attendance>& entry = attendances_[name];
  if (!entry) entry = std::make_shared<Attendance>(ranks.size());
  std::shared_ptr<Attendance> held = entry;
  if (++held->arrived == static_cast<int>(ranks.size())) attendances_.erase(name);
  return held;
}

}  // namespace partita::runtime
