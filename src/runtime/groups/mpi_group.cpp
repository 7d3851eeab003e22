#include "runtime/groups/mpi_group.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/round.hpp"
#include "runtime/groups/group_of_processes.hpp"
#include "runtime/groups/message_table.hpp"
#include "runtime/groups/mpi_communicator.hpp"
#include "runtime/groups/mpi_exit.hpp"
#include "runtime/groups/mpi_farewells.hpp"
#include "runtime/groups/mpi_library.hpp"

namespace partita::runtime {
namespace {

/// MPI counts in int; larger messages go in pieces of this size.
constexpr std::int64_t piece_bytes = std::int64_t{1} << 30;

constexpr int ranks_told_at_once = 64;

class MpiGroup final : public GroupOfProcesses {
 public:
  /// The job's ranks are the communicator's.
  MpiGroup(std::shared_ptr<OurCommunicator> shared, std::shared_ptr<MpiFarewells> farewells, std::int32_t key,
           ProcessMembers members);
  ~MpiGroup() override;

  MessageId send(int peer, Lane lane, const void* data, std::int64_t bytes) override;
  MessageId receive(int peer, Lane lane, void* data, std::int64_t bytes) override;
  bool test(MessageId message) override;
  void progress() override { farewells_->listen(); }
  std::size_t in_flight() const override { return messages_.in_flight(); }
  void say_farewell(const Farewell& farewell) noexcept override;
  std::vector<Farewell> farewells(std::uint64_t context) override;
  void tell(int peer, const Note& note) noexcept override;
  std::vector<Note> take_notes(std::uint64_t context) override { return farewells_->take_notes(context); }
  void abandon() noexcept override;
  std::unique_ptr<ProcessGroup> subgroup(const std::vector<int>& ranks, std::int32_t key) override;
  bool takes_device_memory() const override { return mpi_takes_device_memory(); }

 private:
  struct Message {
    std::vector<mpi::Request> pieces;
    std::size_t completed = 0;  ///< pieces
    std::int64_t bytes = 0;
    int peer = 0;
    bool is_send = false;
    bool abandoned = false;
    std::int64_t bytes_of(std::size_t piece) const {
      return std::min(piece_bytes, bytes - static_cast<std::int64_t>(piece) * piece_bytes);
    }
  };
  template <class Start>
  MessageId start(bool is_send, int peer, std::int64_t bytes, Start&& start_piece);
  bool test_piece(Message& message);
  std::vector<int> told();
  int tag(Lane lane) const { return static_cast<int>(lane) + lane_count * key_; }

  std::shared_ptr<OurCommunicator> shared_;
  std::shared_ptr<MpiFarewells> farewells_;
  std::int32_t key_;
  MessageTable<Message> messages_;
  std::atomic<std::size_t> told_on_{0};  // farewells
};

MpiGroup::MpiGroup(std::shared_ptr<OurCommunicator> shared, std::shared_ptr<MpiFarewells> farewells,
                   std::int32_t key, ProcessMembers members)
    : GroupOfProcesses(std::move(members)),
      shared_(std::move(shared)),
      farewells_(std::move(farewells)),
      key_(key) {
  note_group_made();
}

MpiGroup::~MpiGroup() {
  note_group_gone();
  if (messages_.in_flight() == 0) return;
  shared_->messages_left = true;
  abandon();
}

/// start_piece(data offset, bytes, rank in the communicator, request)
template <class Start>
MessageId MpiGroup::start(bool is_send, int peer, std::int64_t bytes, Start&& start_piece) {
  const int other = in_job(peer, bytes);
  const MessageId number = messages_.add();
  Message& message = messages_.at(number);
  message.bytes = bytes;
  message.peer = peer;
  message.is_send = is_send;
  message.abandoned = false;
  message.completed = 0;
  const std::int64_t pieces = std::max<std::int64_t>(1, ceil_divide(bytes, piece_bytes));
  message.pieces.assign(static_cast<std::size_t>(pieces), mpi_calls().no_request);
  for (std::size_t piece = 0; piece < message.pieces.size(); ++piece) {
    const MpiCall call;
    check_mpi(start_piece(static_cast<std::int64_t>(piece) * piece_bytes,
                          static_cast<int>(message.bytes_of(piece)), other, &message.pieces[piece]),
              is_send ? "MPI_Isend" : "MPI_Irecv");
  }
  return number;
}

MessageId MpiGroup::send(int peer, Lane lane, const void* data, std::int64_t bytes) {
  return start(true, peer, bytes, [&](std::int64_t offset, int count, int to, mpi::Request* request) {
    const std::byte* from = bytes == 0 ? nullptr : static_cast<const std::byte*>(data) + offset;
    return mpi_calls().isend(from, count, to, tag(lane), shared_->communicator, request);
  });
}

MessageId MpiGroup::receive(int peer, Lane lane, void* data, std::int64_t bytes) {
  return start(false, peer, bytes, [&](std::int64_t offset, int count, int from, mpi::Request* request) {
    std::byte* to = bytes == 0 ? nullptr : static_cast<std::byte*>(data) + offset;
    return mpi_calls().irecv(to, count, from, tag(lane), shared_->communicator, request);
  });
}

bool MpiGroup::test(MessageId number) {
  Message& message = messages_.at(number);
  check<Error>(!message.abandoned, "the message {} rank {} was abandoned", message.is_send ? "to" : "from",
               message.peer);
  try {
    while (message.completed < message.pieces.size()) {
      if (!test_piece(message)) return false;
    }
  } catch (...) {
    messages_.remove(number);
    throw;
  }
  messages_.remove(number);
  return true;
}

/// Tests the oldest piece that is not complete; MPI makes progress on all of them.
bool MpiGroup::test_piece(Message& message) {
  bool complete = false;
  int received = 0;
  {
    const MpiCall call;
    const int code = mpi_calls().test(&message.pieces[message.completed], &complete,
                                      message.is_send ? nullptr : &received);
    if (code != mpi::success) {
      check_mpi(code, fmt::format("a message of {} bytes {} rank {}", message.bytes,
                                  message.is_send ? "to" : "from", message.peer));
    }
    if (!complete) return false;
  }
  const std::int64_t expected = message.bytes_of(message.completed);
  check<DisagreementError>(
      message.is_send || received == expected,
      "a message of {} bytes from rank {} does not match a receive of {} bytes at rank {}", received,
      message.peer, expected, rank_);
  ++message.completed;
  return true;
}

std::vector<Farewell> MpiGroup::farewells(std::uint64_t context) {
  std::vector<Farewell> all = farewells_->heard(context);
  if (size() > ranks_told_at_once) {
    for (std::size_t i = told_on_.exchange(all.size()); i < all.size(); ++i)
      farewells_->say(FarewellMessage(all[i]), told());
  }
  return all;
}

/// In a large group only those to whom the rounds of checks have made connections: they hand it on.
std::vector<int> MpiGroup::told() {
  std::vector<int> ranks;
  const auto add = [&](int peer) {
    if (!topology_.same_node(peer, rank_) && watch_.lost(peer).empty())
      ranks.push_back(ranks_[static_cast<std::size_t>(peer)]);
  };
  if (size() <= ranks_told_at_once) {
    for (int peer = 0; peer < size(); ++peer) add(peer);
    return ranks;
  }
  for (int distance = 1; distance < size(); distance *= 2) {
    add((rank_ + distance) % size());
    add((rank_ - distance + size()) % size());
  }
  return ranks;
}

void MpiGroup::say_farewell(const Farewell& farewell) noexcept {
  try {
    farewells_->say(FarewellMessage(farewell), told());
  } catch (const std::exception&) {
    // No memory for the list: the ranks of other nodes find out by their deadline.
  }
}

void MpiGroup::tell(int peer, const Note& note) noexcept {
  try {
    if (watch_.lost(peer).empty())
      farewells_->say(FarewellMessage(note), {ranks_[static_cast<std::size_t>(peer)]});
  } catch (const std::exception&) {
    // No memory for it: it is not told.
  }
}

/// A cancelled receive is complete at once; one that cannot be cancelled any more is left to itself.
void MpiGroup::abandon() noexcept {
  try {
    if (!mpi_is_running()) return;
    const MpiCall call;
    messages_.for_each([](Message& message) {
      message.abandoned = true;
      for (mpi::Request& piece : message.pieces) {
        if (message.is_send || piece == mpi_calls().no_request) continue;
        bool complete = false;
        mpi_calls().cancel(&piece);
        mpi_calls().test(&piece, &complete, nullptr);
      }
    });
  } catch (const Error&) {
    // Another thread than MPI allows: then no thread makes progress for us either.
  }
}

std::unique_ptr<ProcessGroup> MpiGroup::subgroup(const std::vector<int>& ranks, std::int32_t key) {
  ProcessMembers theirs = members(ranks);
  check<UnsupportedError>(key >= 0 && key <= shared_->largest_key,
                          "sub-group number {} is beyond the {} that this MPI has tags for", key,
                          shared_->largest_key);
  return std::make_unique<MpiGroup>(shared_, farewells_, key, std::move(theirs));
}

}  // namespace

std::unique_ptr<ProcessGroup> make_mpi_group(const Communicator& communicator, int ranks_per_node,
                                             std::chrono::milliseconds deadline) {
  open_mpi(communicator);
  start_mpi();
  if (communicator.handle_bytes == 0) check_world_is_of_launcher();
  const mpi::Comm callers = handle_of(communicator);
  std::shared_ptr<MpiFarewells> farewells = MpiFarewells::of(callers, deadline);
  std::shared_ptr<OurCommunicator> ours = duplicate(callers, deadline);
  RankHosts nodes = find_mpi_hosts(ours->communicator, ranks_per_node, deadline);
  int rank = 0;
  mpi_calls().comm_rank(ours->communicator, &rank);
  note_group(nodes.hosts, rank, deadline);
  return std::make_unique<MpiGroup>(std::move(ours), std::move(farewells), 0,
                                    ProcessMembers::all(std::move(nodes), rank));
}

}  // namespace partita::runtime
