#include "runtime/groups/threads_group.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/check.hpp"
#include "runtime/groups/host_identity.hpp"
#include "runtime/groups/message_table.hpp"
#include "runtime/groups/subgroup.hpp"
#include "runtime/groups/threads_mail.hpp"

namespace partita::runtime {

ThreadsShared::ThreadsShared(int ranks) {
  check(ranks >= 1, "a thread group needs at least one rank, not {}", ranks);
  members_.resize(static_cast<std::size_t>(ranks));
}

std::shared_ptr<MailRoom> ThreadsShared::next_room(int rank) {
  const std::lock_guard lock(mutex_);
  const std::size_t number = members_.at(static_cast<std::size_t>(rank)).groups++;
  Room& entry = rooms_[number];
  if (!entry.room) entry.room = std::make_shared<MailRoom>();
  std::shared_ptr<MailRoom> room = entry.room;
  if (++entry.arrived == ranks()) rooms_.erase(number);
  return room;
}

void ThreadsShared::end(int rank, std::string_view reason) {
  const std::lock_guard lock(mutex_);
  std::string& ended = members_.at(static_cast<std::size_t>(rank)).ended;
  if (ended.empty())
    ended = reason.empty() ? "(thread) has ended" : fmt::format("(thread) has ended: {}", reason);
}

std::string ThreadsShared::ended(int rank) const {
  const std::lock_guard lock(mutex_);
  return members_.at(static_cast<std::size_t>(rank)).ended;
}

namespace {

class ThreadsGroup final : public ProcessGroup {
 public:
  /// ranks[r]: the place of this group's rank r in the thread group.
  ThreadsGroup(std::shared_ptr<ThreadsShared> shared, std::shared_ptr<MailRoom> room, std::int32_t key,
               std::vector<int> ranks, int rank, Topology topology);
  ~ThreadsGroup() override;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  const Topology& topology() const override { return topology_; }
  bool in_process() const override { return true; }
  MessageId send(int peer, Lane lane, const void* data, std::int64_t bytes) override;
  MessageId receive(int peer, Lane lane, void* data, std::int64_t bytes) override;
  bool test(MessageId message) override;
  std::string lost(int peer) override;
  std::size_t in_flight() const override { return messages_.in_flight(); }
  void say_farewell(const Farewell& farewell) noexcept override;
  std::vector<Farewell> farewells(std::uint64_t context) override {
    return attendance_->farewells(rank_, context);
  }
  void tell(int peer, const Note& note) noexcept override;
  std::vector<Note> take_notes(std::uint64_t) override { return attendance_->take_notes(rank_); }
  void abandon() noexcept override;
  std::unique_ptr<ProcessGroup> subgroup(const std::vector<int>& ranks, std::int32_t key) override;
  std::string place() const override;

 private:
  struct Letter {
    PendingMessage mail;
    Mailbox* box = nullptr;
    int peer = 0;
  };
  struct Peer {
    // By lane; opened with the first message.
    std::array<std::shared_ptr<Mailbox>, lane_count> outgoing, incoming;
    std::atomic<bool> seen_ended = false;
  };
  Peer& peer_of(int peer, std::int64_t bytes);
  MessageId post(bool is_send, Mailbox& box, int peer, void* data, std::int64_t bytes);
  Mailbox& box(std::shared_ptr<Mailbox>& cached, int from, int to, Lane lane);
  std::string ended(int peer) const;
  int global(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  std::shared_ptr<ThreadsShared> shared_;
  std::shared_ptr<MailRoom> room_;
  std::int32_t key_;
  std::vector<int> ranks_;
  int rank_;
  Topology topology_;
  std::shared_ptr<Attendance> attendance_;
  std::vector<Peer> peers_;
  MessageTable<Letter> messages_;
};

ThreadsGroup::ThreadsGroup(std::shared_ptr<ThreadsShared> shared, std::shared_ptr<MailRoom> room,
                           std::int32_t key, std::vector<int> ranks, int rank, Topology topology)
    : shared_(std::move(shared)),
      room_(std::move(room)),
      key_(key),
      ranks_(std::move(ranks)),
      rank_(rank),
      topology_(std::move(topology)),
      attendance_(room_->attendance(key, ranks_)),
      peers_(ranks_.size()) {}

ThreadsGroup::~ThreadsGroup() {
  abandon();
  attendance_->of(rank_).store(Attendance::State::left, std::memory_order_release);
}

ThreadsGroup::Peer& ThreadsGroup::peer_of(int peer, std::int64_t bytes) {
  check(peer >= 0 && peer < size(), "rank {} is not one of the {} ranks", peer, size());
  check(bytes >= 0, "a message of {} bytes", bytes);
  return peers_[static_cast<std::size_t>(peer)];
}

Mailbox& ThreadsGroup::box(std::shared_ptr<Mailbox>& cached, int from, int to, Lane lane) {
  if (!cached) cached = room_->box({global(from), global(to), lane, key_});
  return *cached;
}

MessageId ThreadsGroup::post(bool is_send, Mailbox& box, int peer, void* data, std::int64_t bytes) {
  const MessageId number = messages_.add();
  Letter& letter = messages_.at(number);
  letter.mail.is_send = is_send;
  letter.mail.data = static_cast<std::byte*>(data);
  letter.mail.bytes = bytes;
  letter.peer = peer;
  letter.box = &box;
  box.post(letter.mail);
  return number;
}

MessageId ThreadsGroup::send(int peer, Lane lane, const void* data, std::int64_t bytes) {
  Mailbox& outgoing = box(peer_of(peer, bytes).outgoing[static_cast<std::size_t>(lane)], rank_, peer, lane);
  return post(true, outgoing, peer, const_cast<void*>(data), bytes);  // what is sent is only read
}

MessageId ThreadsGroup::receive(int peer, Lane lane, void* data, std::int64_t bytes) {
  Mailbox& incoming = box(peer_of(peer, bytes).incoming[static_cast<std::size_t>(lane)], peer, rank_, lane);
  return post(false, incoming, peer, data, bytes);
}

bool ThreadsGroup::test(MessageId message) {
  Letter& letter = messages_.at(message);
  const PendingMessage::State state = letter.mail.state.load(std::memory_order_acquire);
  if (state == PendingMessage::State::waiting || state == PendingMessage::State::matched) return false;
  messages_.remove(message);
  check<Error>(state != PendingMessage::State::withdrawn, "the message {} rank {} was abandoned",
               letter.mail.is_send ? "to" : "from", letter.peer);
  check<DisagreementError>(
      state != PendingMessage::State::misfit,
      "a message of {} bytes from rank {} does not match a receive of {} bytes at rank {}",
      letter.mail.is_send ? letter.mail.bytes : letter.mail.bytes_of_peer,
      letter.mail.is_send ? rank_ : letter.peer,
      letter.mail.is_send ? letter.mail.bytes_of_peer : letter.mail.bytes,
      letter.mail.is_send ? letter.peer : rank_);
  return true;
}

/// Said on the second look only: what the rank did before it ended may have arrived since the caller last
/// looked.
std::string ThreadsGroup::lost(int peer) {
  const std::string what = ended(peer);
  if (what.empty() || !peer_of(peer, 0).seen_ended.exchange(true)) return "";
  return fmt::format("rank {} {}", peer, what);
}

std::string ThreadsGroup::ended(int peer) const {
  std::string what = shared_->ended(global(peer));
  if (!what.empty()) return what;
  switch (attendance_->of(peer).load(std::memory_order_acquire)) {
    case Attendance::State::left:
      return "(thread) has ended";
    case Attendance::State::given_up:
      return "(thread) has failed";
    default:
      return "";
  }
}

void ThreadsGroup::say_farewell(const Farewell& farewell) noexcept {
  try {
    attendance_->say(farewell);
  } catch (const std::exception&) {
    // No memory for it: the others see that this rank has given up or left.
  }
}

void ThreadsGroup::tell(int peer, const Note& note) noexcept {
  try {
    attendance_->tell(peer, note);
  } catch (const std::exception&) {
    // No memory for it: it is not told.
  }
}

void ThreadsGroup::abandon() noexcept {
  messages_.for_each([](Letter& letter) { letter.box->withdraw(letter.mail); });
  attendance_->of(rank_).store(Attendance::State::given_up, std::memory_order_release);
}

std::unique_ptr<ProcessGroup> ThreadsGroup::subgroup(const std::vector<int>& ranks, std::int32_t key) {
  const int place = check_subgroup(ranks, size(), rank_);
  std::vector<int> members;
  for (const int rank : ranks) members.push_back(global(rank));
  return std::make_unique<ThreadsGroup>(shared_, room_, key, std::move(members), place,
                                        subgroup_topology(topology_, ranks));
}

std::string ThreadsGroup::place() const {
  return fmt::format("{} thread {}", this_host().place(), global(rank_));
}

}  // namespace

std::unique_ptr<ProcessGroup> make_threads_group(std::shared_ptr<ThreadsShared> shared, int rank,
                                                 int ranks_per_node) {
  const int size = shared->ranks();
  check(rank >= 0 && rank < size, "rank {} is not one of the {} ranks of the thread group", rank, size);
  check(ranks_per_node >= 0, "ranks_per_node is {}; it must be 0 or more", ranks_per_node);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) ranks[static_cast<std::size_t>(r)] = r;
  std::shared_ptr<MailRoom> room = shared->next_room(rank);
  return std::make_unique<ThreadsGroup>(std::move(shared), std::move(room), 0, std::move(ranks), rank,
                                        Topology::regular(size, ranks_per_node));
}

std::unique_ptr<ProcessGroup> make_threads_group(const Communicator& communicator, int ranks_per_node) {
  check(communicator.thread_member != nullptr, "the communicator is not a member of a ThreadGroup");
  const auto member = std::static_pointer_cast<ThreadMember>(communicator.thread_member);
  return make_threads_group(member->shared, member->rank, ranks_per_node);
}

}  // namespace partita::runtime
