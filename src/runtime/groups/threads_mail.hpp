// Where the messages of threads meet.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

/// One side of a message: a send or a receive.
struct PendingMessage {
  enum class State : std::uint8_t {
    waiting,    ///< in the mailbox
    matched,    ///< the other side is copying
    delivered,  ///< complete
    misfit,     ///< the other side names another number of bytes
    withdrawn,  ///< given up by its own rank
  };
  /// The other side's thread sets it, as the last thing that it does with this message.
  std::atomic<State> state{State::delivered};
  bool is_send = false;
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  std::int64_t bytes_of_peer = 0;
  PendingMessage* next = nullptr;  ///< in the mailbox
};

/// The messages of one ordered pair of ranks on one lane of one group that have not met yet: either sends or
/// receives, oldest first. Thread-safe.
class Mailbox {
 public:
  /// Meets the oldest message of the other kind and copies, or waits in the box.
  void post(PendingMessage& message);
  /// Removes the message from the box, or waits for the copy in progress: afterwards its buffer is not
  /// accessed.
  void withdraw(PendingMessage& message);

 private:
  PendingMessage* take_match(PendingMessage& message);
  std::mutex mutex_;
  PendingMessage* first_ = nullptr;
  PendingMessage* last_ = nullptr;
};

/// Which members of a group take part in it no more.
struct Attendance {
  enum class State : std::uint8_t { present, given_up, left };
  explicit Attendance(std::size_t members) : states(members), notes_(members) {}
  std::atomic<State>& of(int member) { return states[static_cast<std::size_t>(member)]; }
  void say(const Farewell& farewell);
  /// Of the others; notes of other topics than `context` are left out.
  std::vector<Farewell> farewells(int except, std::uint64_t context) const;
  void tell(int member, const Note& note);
  std::vector<Note> take_notes(int member);
  std::vector<std::atomic<State>> states;
  int arrived = 0;  ///< guarded by the mail room

 private:
  mutable std::mutex mutex_;
  std::vector<Farewell> farewells_;
  std::vector<std::vector<Note>> notes_;
};

/// The mailboxes of one group and all its sub-groups. Thread-safe. A box exists as long as it is in use.
class MailRoom {
 public:
  struct Address {
    int from, to;
    Lane lane;
    std::int32_t key;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 that it compares with for a pointer
    auto operator<=>(const Address&) const = default;
  };
  std::shared_ptr<Mailbox> box(const Address& address);
  /// Called once by each member of the group.
  std::shared_ptr<Attendance> attendance(std::int32_t key, const std::vector<int>& ranks);

 private:
  std::mutex mutex_;
  std::map<Address, std::weak_ptr<Mailbox>> boxes_;
  using GroupName = std::pair<std::int32_t, std::vector<int>>;
  std::map<GroupName, std::shared_ptr<Attendance>> attendances_;  ///< those that some member has yet to enter
};

}  // namespace partita::runtime
