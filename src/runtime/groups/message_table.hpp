// Numbers for messages in flight. The slots are used again, so nothing is allocated in steady state; they
// stay where they are, so that a transport may keep pointers to them.
#pragma once

#include <deque>
#include <vector>

#include "base/check.hpp"
#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

template <class Message>
class MessageTable {
 public:
  /// A slot in the state in which its last user left it.
  MessageId add() {
    if (free_.empty()) {
      free_.push_back(static_cast<MessageId>(slots_.size()));
      slots_.emplace_back();
    }
    const MessageId number = free_.back();
    free_.pop_back();
    slots_[static_cast<std::size_t>(number)].used = true;
    return number;
  }

  Message& at(MessageId number) {
    const auto place = static_cast<std::size_t>(number);
    invariant(number >= 0 && place < slots_.size() && slots_[place].used, "message {} is not in flight",
              number);
    return slots_[place].message;
  }

  void remove(MessageId number) {
    at(number);
    slots_[static_cast<std::size_t>(number)].used = false;
    free_.push_back(number);
  }

  std::size_t in_flight() const { return slots_.size() - free_.size(); }

  template <class Visit>
  void for_each(Visit&& visit) {
    for (Slot& slot : slots_) {
      if (slot.used) visit(slot.message);
    }
  }

 private:
  struct Slot {
    Message message;
    bool used = false;
  };
  std::deque<Slot> slots_;
  std::vector<MessageId> free_;
};

}  // namespace partita::runtime
