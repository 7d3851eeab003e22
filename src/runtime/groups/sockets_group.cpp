#include "runtime/groups/sockets_group.hpp"

#include <array>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "runtime/groups/group_of_processes.hpp"
#include "runtime/groups/message_table.hpp"
#include "runtime/groups/sockets_launch.hpp"
#include "runtime/groups/sockets_links.hpp"

namespace partita::runtime {
namespace {

class SocketsGroup final : public GroupOfProcesses {
 public:
  SocketsGroup(std::shared_ptr<SocketsLinks> links, std::uint32_t room, std::int32_t key,
               ProcessMembers members);
  ~SocketsGroup() override;

  MessageId send(int peer, Lane lane, const void* data, std::int64_t bytes) override;
  MessageId receive(int peer, Lane lane, void* data, std::int64_t bytes) override;
  bool test(MessageId message) override;
  void progress() override { links_->progress(); }
  std::string lost(int peer) override;
  std::size_t in_flight() const override { return messages_.in_flight(); }
  void say_farewell(const Farewell& farewell) noexcept override;
  std::vector<Farewell> farewells(std::uint64_t context) override { return links_->heard(context); }
  void tell(int peer, const Note& note) noexcept override;
  std::vector<Note> take_notes(std::uint64_t context) override { return links_->take_notes(context); }
  void abandon() noexcept override;
  std::unique_ptr<ProcessGroup> subgroup(const std::vector<int>& ranks, std::int32_t key) override;

 private:
  struct Message {
    MessageId number = -1;  ///< of the links
    std::int64_t bytes = 0;
    int peer = 0;
    bool is_send = false;
    bool given_up = false;
  };
  SocketsAddress address(int peer, Lane lane, std::int64_t bytes) const;

  std::shared_ptr<SocketsLinks> links_;
  std::uint32_t room_;
  std::int32_t key_;
  MessageTable<Message> messages_;
};

SocketsGroup::SocketsGroup(std::shared_ptr<SocketsLinks> links, std::uint32_t room, std::int32_t key,
                           ProcessMembers members)
    : GroupOfProcesses(std::move(members)), links_(std::move(links)), room_(room), key_(key) {
  links_->enter(room_);
}

SocketsGroup::~SocketsGroup() {
  abandon();
  links_->leave(room_, key_);
}

SocketsAddress SocketsGroup::address(int peer, Lane lane, std::int64_t bytes) const {
  return {room_, key_, lane, in_job(peer, bytes)};
}

MessageId SocketsGroup::send(int peer, Lane lane, const void* data, std::int64_t bytes) {
  const MessageId number = links_->send(address(peer, lane, bytes), data, bytes);
  const MessageId ours = messages_.add();
  messages_.at(ours) = {number, bytes, peer, true, false};
  return ours;
}

MessageId SocketsGroup::receive(int peer, Lane lane, void* data, std::int64_t bytes) {
  const MessageId number = links_->receive(address(peer, lane, bytes), data, bytes);
  const MessageId ours = messages_.add();
  messages_.at(ours) = {number, bytes, peer, false, false};
  return ours;
}

bool SocketsGroup::test(MessageId number) {
  const Message message = messages_.at(number);
  if (message.given_up) messages_.remove(number);
  check<Error>(!message.given_up, "the message {} rank {} was abandoned", message.is_send ? "to" : "from",
               message.peer);
  const auto outcome = links_->test(message.number);
  if (!outcome) return false;
  messages_.remove(number);
  check<DisagreementError>(
      outcome->fits, "a message of {} bytes from rank {} does not match a receive of {} bytes at rank {}",
      message.is_send ? message.bytes : outcome->bytes_of_peer, message.is_send ? rank_ : message.peer,
      message.is_send ? outcome->bytes_of_peer : message.bytes, message.is_send ? message.peer : rank_);
  return true;
}

/// Who holds a copy of the ended process's descriptors (a shell around it) keeps its connections open; the
/// kernel's word on the process comes later, but never fails.
std::string SocketsGroup::lost(int peer) {
  std::string what = GroupOfProcesses::lost(peer);
  const auto place = static_cast<std::size_t>(peer);
  if (!what.empty() || !links_->closed(ranks_[place])) return what;
  return fmt::format("rank {} (process {}) has ended", peer, hosts_[place].process);
}

void SocketsGroup::say_farewell(const Farewell& farewell) noexcept {
  try {
    std::vector<int> told;
    for (int peer = 0; peer < size(); ++peer) {
      if (!topology_.same_node(peer, rank_)) told.push_back(ranks_[static_cast<std::size_t>(peer)]);
    }
    links_->say(FarewellMessage(farewell), told);
  } catch (const std::exception&) {
    // No memory for the list: the ranks of other nodes find out by their deadline.
  }
}

void SocketsGroup::tell(int peer, const Note& note) noexcept {
  try {
    links_->say(FarewellMessage(note), {ranks_[static_cast<std::size_t>(peer)]});
  } catch (const std::exception&) {
    // No memory for it: it is not told.
  }
}

void SocketsGroup::abandon() noexcept {
  messages_.for_each([this](Message& message) {
    if (!std::exchange(message.given_up, true)) links_->give_up(message.number);
  });
}

std::unique_ptr<ProcessGroup> SocketsGroup::subgroup(const std::vector<int>& ranks, std::int32_t key) {
  return std::make_unique<SocketsGroup>(links_, room_, key, members(ranks));
}

/// The key of the room's first messages; those of sub-groups are positive, and 0 is the group's.
constexpr std::int32_t cards_key = -1;

/// Every rank's card, by messages of the room that no group has entered yet.
class CardExchange {
 public:
  CardExchange(SocketsLinks& links, std::uint32_t room, const HostCard& mine);
  ~CardExchange();
  CardExchange(const CardExchange&) = delete;
  CardExchange& operator=(const CardExchange&) = delete;
  std::vector<HostCard> wait(std::chrono::milliseconds deadline);

 private:
  bool poll();

  SocketsLinks& links_;
  std::uint32_t room_;
  HostCard mine_;
  std::vector<HostCard> all_;
  /// By rank, the send and the receive; -1: over.
  std::vector<std::array<MessageId, 2>> messages_;
};

CardExchange::CardExchange(SocketsLinks& links, std::uint32_t room, const HostCard& mine)
    : links_(links), room_(room), mine_(mine), all_(static_cast<std::size_t>(links.size())) {
  links_.enter(room_);
  for (int rank = 0; rank < links.size(); ++rank) {
    const SocketsAddress address{room_, cards_key, Lane::control, rank};
    messages_.push_back({links.send(address, &mine_, sizeof(mine_)),
                         links.receive(address, &all_[static_cast<std::size_t>(rank)], sizeof(mine_))});
  }
}

CardExchange::~CardExchange() {
  for (const auto& of_rank : messages_) {
    for (const MessageId message : of_rank) {
      if (message >= 0) links_.give_up(message);
    }
  }
  links_.leave(room_, cards_key);
}

/// Whether all have arrived. A rank that has left without sending its card does not send it any more.
bool CardExchange::poll() {
  bool all_over = true;
  for (int rank = 0; rank < links_.size(); ++rank) {
    const bool gone = links_.closed(rank);
    for (MessageId& message : messages_[static_cast<std::size_t>(rank)]) {
      if (message >= 0 && links_.test(message)) message = -1;
      check<LostPeerError>(message < 0 || !gone, "initialize: rank {} has ended", rank);
      all_over = all_over && message < 0;
    }
  }
  return all_over;
}

std::vector<HostCard> CardExchange::wait(std::chrono::milliseconds deadline) {
  const auto start = std::chrono::steady_clock::now();
  for (int turn = 0; !poll(); ++turn) {
    check<TimeoutError>(std::chrono::steady_clock::now() - start <= deadline,
                        "initialize: not all of the {} ranks answered within {} s", links_.size(),
                        std::chrono::duration<double>(deadline).count());
    if (turn < 200) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  return all_;
}

}  // namespace

std::unique_ptr<ProcessGroup> make_sockets_group(std::shared_ptr<SocketsLinks> links, int ranks_per_node,
                                                 std::chrono::milliseconds deadline) {
  check(ranks_per_node >= 0, "ranks_per_node is {}; it must be 0 or more", ranks_per_node);
  const std::uint32_t room = links->begin_room();
  CardExchange exchange(*links, room, {this_host(), ranks_per_node});
  ProcessMembers all = ProcessMembers::all(hosts_of(exchange.wait(deadline)), links->rank());
  return std::make_unique<SocketsGroup>(std::move(links), room, 0, std::move(all));
}

std::unique_ptr<ProcessGroup> make_sockets_group(int ranks_per_node, std::chrono::milliseconds deadline) {
  return make_sockets_group(sockets_of_launcher(deadline), ranks_per_node, deadline);
}

}  // namespace partita::runtime
