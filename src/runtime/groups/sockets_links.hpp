// The connections of this process to the other ranks of its job, and the messages on them, of all groups. For
// the files of the sockets backend only.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/file_descriptor.hpp"
#include "runtime/groups/heard_farewells.hpp"
#include "runtime/groups/message_table.hpp"
#include "runtime/groups/sockets_frame.hpp"
#include "runtime/groups/sockets_stream.hpp"

namespace partita::runtime {

/// The messages of a lane of a group to or from a rank of the job.
struct SocketsAddress {
  std::uint32_t room = 0;
  std::int32_t key = 0;
  Lane lane = Lane::control;
  int peer = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 that it compares with for a pointer
  auto operator<=>(const SocketsAddress&) const = default;
};

/// For any number of threads. Nothing blocks but `flush`.
class SocketsLinks {
 public:
  /// sockets[r]: a stream to rank r of the job; this rank's own place is empty. Throws Error where the kernel
  /// gives no epoll instance.
  SocketsLinks(int rank, std::vector<FileDescriptor> sockets);

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(peers_.size()); }

  /// A room for a group and its sub-groups: the ranks' first rooms belong together, their second ones, and so
  /// on. It is there until each group that has entered it has left.
  std::uint32_t begin_room();
  void enter(std::uint32_t room);
  /// Messages that the group of this key has not received are dropped.
  void leave(std::uint32_t room, std::int32_t key) noexcept;

  MessageId send(const SocketsAddress& to, const void* data, std::int64_t bytes);
  MessageId receive(const SocketsAddress& from, void* data, std::int64_t bytes);
  struct Outcome {
    bool fits = true;
    std::int64_t bytes_of_peer = 0;
  };
  /// Of a message that is over; its number is then free again. Makes progress.
  std::optional<Outcome> test(MessageId message);
  /// The message's buffer is neither read nor written from here on; its number is not to be used again.
  void give_up(MessageId message) noexcept;
  /// Throws Error where a peer sends what no peer would.
  void progress();
  /// The connection has ended, and all that came by it was taken in.
  bool closed(int peer) const;

  void say(const FarewellMessage& message, const std::vector<int>& ranks) noexcept;
  std::vector<Farewell> heard(std::uint64_t context) const;
  std::vector<Note> take_notes(std::uint64_t context);

  /// Waits until all that was sent is with the kernel, or no longer than `patience`.
  void flush(std::chrono::milliseconds patience);

 private:
  enum class State : std::uint8_t { pending, complete, misfit };
  struct Message {
    State state = State::pending;
    bool is_send = false;
    bool granted = false;
    bool given_up = false;
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    std::int64_t bytes_of_peer = 0;
    std::int64_t moved = 0;  ///< bytes that have come
    SocketsAddress address;
  };
  /// A message that has come before its receive: its bytes, or the request of a large one.
  struct Arrival {
    SocketsFrame frame;
    std::vector<std::byte> kept;
  };
  /// One of the two is empty.
  struct Mailbox {
    std::deque<Arrival> arrived;
    std::deque<MessageId> receives;
  };
  struct Peer {
    SocketsStream stream;
    SocketsFrame piece = {};      ///< of a large message, that is coming in
    std::int64_t piece_left = 0;  ///< bytes of it
  };
  using Payload = std::span<const std::byte>;

  Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  MessageId add(const SocketsAddress& address, bool is_send, const void* data, std::int64_t bytes);
  void transmit(int to, const SocketsFrame& frame, const std::byte* data = nullptr, std::int64_t bytes = 0,
                MessageId number = -1);
  void write(Peer& peer);
  void finish(MessageId number, State state);
  void make_progress();
  void read(int from);
  void parse(int from);
  bool pour(Peer& peer);
  void take_piece(Peer& peer);
  void begin_piece(int from, const SocketsFrame& frame);
  void count_piece(Peer& peer, std::size_t bytes);
  void arrive(int from, const SocketsFrame& frame, Payload payload);
  void arrive_message(int from, const SocketsFrame& frame, Payload payload);
  void match(int from, MessageId receive, const SocketsFrame& frame, Payload payload);
  void start_data(int to, const SocketsFrame& grant);

  int rank_;
  mutable std::mutex mutex_;
  std::vector<Peer> peers_;
  FileDescriptor poll_;
  MessageTable<Message> messages_;
  std::map<SocketsAddress, Mailbox> mailboxes_;
  std::map<std::uint32_t, int> rooms_;  ///< groups in each that is there
  std::uint32_t next_room_ = 0;
  HeardFarewells heard_;
  std::vector<MessageId> written_;
};

}  // namespace partita::runtime
