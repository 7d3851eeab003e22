#include "runtime/threads_mail.hpp"

#include <cstring>
#include <thread>

namespace partita {
namespace {

void deliver(Mail& send, Mail& receive) {
  const bool fits = send.bytes == receive.bytes;
  if (fits && send.bytes > 0) std::memcpy(receive.to, send.from, static_cast<std::size_t>(send.bytes));
  send.bytes_of_peer = receive.bytes;
  receive.bytes_of_peer = send.bytes;
  const Mail::State state = fits ? Mail::State::delivered : Mail::State::misfit;
  send.state.store(state, std::memory_order_release);
  receive.state.store(state, std::memory_order_release);
}

}  // namespace

void Mailbox::post(Mail& mail) {
  Mail* match = take_match(mail);
  if (match == nullptr) return;
  if (mail.is_send) {
    deliver(mail, *match);
  } else {
    deliver(*match, mail);
  }
}

Mail* Mailbox::take_match(Mail& mail) {
  const std::lock_guard lock(mutex_);
  if (first_ != nullptr && first_->is_send != mail.is_send) {
    Mail* match = first_;
    first_ = match->next;
    match->state.store(Mail::State::matched, std::memory_order_relaxed);
    return match;
  }
  mail.next = nullptr;
  mail.state.store(Mail::State::waiting, std::memory_order_relaxed);
  (first_ == nullptr ? first_ : last_->next) = &mail;
  last_ = &mail;
  return nullptr;
}

void Mailbox::withdraw(Mail& mail) {
  {
    const std::lock_guard lock(mutex_);
    if (mail.state.load(std::memory_order_relaxed) == Mail::State::waiting) {
      Mail* before = nullptr;
      for (Mail* at = first_; at != &mail; at = at->next) before = at;
      (before == nullptr ? first_ : before->next) = mail.next;
      if (last_ == &mail) last_ = before;
      mail.state.store(Mail::State::withdrawn, std::memory_order_relaxed);
    }
  }
  // A copy takes no longer than memory does; its thread needs nobody else to finish it.
  while (mail.state.load(std::memory_order_acquire) == Mail::State::matched) std::this_thread::yield();
}

void Attendance::say(const Farewell& farewell) {
  const std::lock_guard lock(mutex_);
  farewells_.push_back(farewell);
}

std::vector<Farewell> Attendance::farewells(int except) const {
  const std::lock_guard lock(mutex_);
  std::vector<Farewell> others = farewells_;
  std::erase_if(others, [&](const Farewell& farewell) { return farewell.rank == except; });
  return others;
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

}  // namespace partita
