// The ranks of a context and the messages between them. One of the few virtual seams: backends `mpi`,
// `sockets` and `threads`.
#pragma once

#include <cstdint>
#include <memory>
#include <partita/topology.hpp>
#include <string>
#include <vector>

#include "runtime/checks/error_kind.hpp"

namespace partita::runtime {

/// Messages of different lanes never match each other.
enum class Lane : std::uint8_t {
  control,         ///< checks, allocation, barriers
  data,            ///< the messages of plans
  point_to_point,  ///< from one rank to another, outside of collective calls
  greetings,       ///< of executions between nodes that go past the host
  halves,          ///< the messages of plans that are begun and finished apart
};

inline constexpr int lane_count = 5;

/// A message in flight: a number of the group's own table, so that nothing is allocated per message in steady
/// state.
using MessageId = std::int32_t;

/// What a rank says when it takes part in a context no more.
struct Farewell {
  std::uint64_t context = 0;  ///< its identity; names are not reused by later contexts
  int rank = -1;
  bool failed = false;   ///< its context has failed, with `why`; else it has left it, and `why.text` says how
  CaughtError why = {};  ///< its text is truncated to `longest_farewell` bytes
};

inline constexpr int longest_farewell = 511;

/// What one rank tells another one.
struct Note {
  std::uint64_t context = 0;  ///< its identity
  int rank = -1;              ///< who tells it
  std::string text = {};      ///< of at most `longest_farewell` bytes
};

/// Used by one thread at a time. Nothing here blocks.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Who shares a node, after PARTITA_RANKS_PER_NODE or its option. Different backends never share.
  virtual const Topology& topology() const = 0;
  /// All ranks live in this process (addresses may be exchanged).
  virtual bool in_process() const = 0;

  /// Starts a message. The k-th send to a peer on a lane matches the k-th receive from it there; a receive
  /// must name the same number of bytes. Any size (beyond 2^31 too). The buffer must stay until `test` said
  /// true.
  virtual MessageId send(int peer, Lane lane, const void* data, std::int64_t bytes) = 0;
  virtual MessageId receive(int peer, Lane lane, void* data, std::int64_t bytes) = 0;
  /// Addresses of device memory may be given to `send` and `receive`.
  virtual bool takes_device_memory() const { return false; }

  /// Whether the message is complete; its number is then free again. Makes progress on all messages.
  /// Throws Error where the transport reports a failure (a truncated message, a dead peer).
  virtual bool test(MessageId message) = 0;

  /// Lets the transport work, also on messages that are not ours: a rank that waits for a signal in shared
  /// memory may still owe its peers the rest of what the program sent by MPI itself, and MPI moves only
  /// inside its calls.
  virtual void progress() {}

  /// Messages that have not been found complete.
  virtual std::size_t in_flight() const = 0;

  /// Notifies the ranks of other nodes (those of this node read its board) that this rank takes no further
  /// part. They receive it while they wait. Does not wait. Callable from any thread.
  virtual void say_farewell(const Farewell& farewell) noexcept = 0;
  /// What other ranks have said of the context of this identity. Any thread.
  virtual std::vector<Farewell> farewells(std::uint64_t context) = 0;

  /// Sends a note as farewells are sent, to one other rank, of this node or another one. Does not wait.
  virtual void tell(int peer, const Note& note) noexcept = 0;
  /// What this rank has been told in the context of this identity, each note once, those of one rank in their
  /// order. Of what is never taken the oldest is lost.
  virtual std::vector<Note> take_notes(std::uint64_t context) = 0;

  /// "" while the peer is alive as far as known without waiting, else what is known: "rank 2 (process 4711)
  /// has ended". Any thread.
  virtual std::string lost(int peer) = 0;

  /// Gives up all messages in flight, when a context has failed: receives that no peer has begun to fill are
  /// taken back, so that nothing is written to their buffers any more. Other buffers (of sends to another
  /// process, of large messages half received) must stay until the process ends. Does not communicate. By
  /// the thread that uses the group, as everything that has to do with messages.
  virtual void abandon() noexcept = 0;

  /// A group of these ranks of this group, in that order. Local: no communication. `key` is agreed by all
  /// members and keeps the messages of different groups apart. Lives as long as it likes, also after its
  /// parent.
  virtual std::unique_ptr<ProcessGroup> subgroup(const std::vector<int>& ranks, std::int32_t key) = 0;

  /// Where this rank runs, for error messages: "host:pid".
  virtual std::string place() const = 0;
};

}  // namespace partita::runtime
