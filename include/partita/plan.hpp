// A plan: the steps of one rank, as data. It can be printed, checked and priced without running it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <partita/fact.hpp>
#include <partita/operand.hpp>
#include <partita/reduction.hpp>
#include <partita/topology.hpp>
#include <partita/work.hpp>
#include <string>
#include <vector>

namespace partita {

/// Whose the memory is.
enum class BufferKind : std::uint8_t {
  operand,  ///< an array that the caller binds
  shared,   ///< scratch on the symmetric heap: peers of the same node read it in place
  scratch,  ///< scratch of this rank alone
};

/// A piece of memory that a plan speaks of by number. All ranks of an operation list the same buffers;
/// `bytes` of `shared` scratch is the same on all ranks.
struct Buffer {
  std::string name;  ///< "source", "destination", "staging", ...
  BufferKind kind = BufferKind::operand;
  /// Of an operand, and of scratch that holds a whole array: its local parts lie as the operand says, dense,
  /// from the start of the buffer on. Other scratch has none and is used as places say.
  std::optional<Operand> operand;
  std::int64_t bytes = 0;           ///< of scratch
  std::optional<Dtype> dtype = {};  ///< of what lies in scratch without an operand; nothing: that of the
                                    ///< plan's first operand
  /// Not memory of its own but the dense memory of that buffer, seen as another array (a long line as a
  /// matrix); its kind is that of scratch. -1: its own.
  int view_of = -1;
  /// Of scratch of devices: while the plan computes beside it, engines had better fill it than kernels.
  bool filled_beside = false;
};

/// What a step does.
enum class StepKind : std::uint8_t {
  copy,        ///< region: from -> to
  accumulate,  ///< region: to = reduction(to, from)
  fill,        ///< region of `to` becomes the identity of `reduction`
  send,        ///< `bytes` of scratch at `from` to `peer`: starts, does not wait
  receive,     ///< `bytes` from `peer` to scratch at `to`: starts, does not wait
  signal,  ///< adds one to the counter (this rank -> peer, channel); what was written before is visible after
  wait,    ///< until the counter (peer -> this rank, channel) has reached `count` in this execution
  finish,  ///< until the messages in `after` are complete
  compute,  ///< a local kernel: the plan's works[work]
};

/// One coarse step. Steps of a rank run in order; messages complete in the background, and a step with
/// `after` first waits for those messages (indices of earlier send or receive steps). The k-th message that a
/// rank sends to a peer is the k-th that the peer receives from it.
struct Step {
  StepKind kind = StepKind::copy;
  int peer = -1;  ///< of send, receive, signal, wait; the owner of the data, for information, of a copy
  Region region;  ///< of copy, accumulate, fill: global indices (of the source's index space)
  Place from;
  Place to;
  Reduction reduction = Reduction::sum;
  std::int64_t bytes = 0;  ///< of messages
  /// Of messages: all of one round may go as one group, as NCCL puts them into a stream. The same at both
  /// ends of a message; no step waits for a message of a round before the last message of that round. -1: it
  /// goes on its own.
  std::int64_t round = -1;
  int channel = 0;         ///< of signal and wait: 0 .. channel_count - 1
  std::int64_t count = 0;  ///< of wait: signals since the start of this execution
  std::vector<int> after;
  int work = -1;  ///< of compute: index into Plan::works
};

inline constexpr int channel_count = 4;  ///< of signals, between two ranks

/// The steps of one rank. Knows no context and no pointer. A value.
struct PARTITA_API Plan {
  std::string operation;         ///< "redistribute"
  std::string method;            ///< the algorithm that was chosen
  std::string reason;            ///< why, in a few words
  int rank = 0;                  ///< whose steps these are
  Topology topology;             ///< of all ranks of the operation
  std::vector<Buffer> buffers;   ///< operands first, then scratch
  std::vector<Step> steps;       ///< in their order
  std::vector<Work> works = {};  ///< of the compute steps
  /// On all ranks alike: every message has a round, and nothing is signalled. So it may be put into streams
  /// as groups of sends and receives, with no host in between.
  bool grouped = false;
  /// What was asked for, as it must be on all ranks: operands, options, reduction, root, ... Compared when a
  /// plan is made, and with the hash at each execution.
  std::vector<Fact> identity = {};

  /// The same number on every rank of one operation: hash of operation, identity, method, buffers and
  /// topology.
  std::uint64_t hash() const;
};

/// Computes the plan of any rank; pure.
using Planner = std::function<Plan(int rank)>;

/// What a plan moves. Bytes that stay on the rank count as `local`.
struct Traffic {
  std::int64_t local_bytes = 0;    ///< copied inside this rank's memory, staging not counted
  std::int64_t node_bytes = 0;     ///< arriving from peers of the same node
  std::int64_t network_bytes = 0;  ///< arriving as messages
  std::int64_t staging_bytes = 0;  ///< copied into or out of scratch
  std::int64_t messages = 0;       ///< sent
  std::int64_t signals = 0;        ///< sent
};
/// Of this rank's plan. Pure.
PARTITA_API Traffic traffic(const Plan& plan);

/// How much of a plan is told.
struct ExplainOptions {
  /// Text for people, JSON for programs.
  enum class Format : std::uint8_t { text, json } format = Format::text;  ///< as what
  bool steps = false;  ///< list every step, not only the totals
};
/// One rank's plan, and the totals over all ranks of `planner` where it is given (it is asked for every rank
/// up to 1,024 ranks, for an evenly spaced sample of 256 beyond, of fewer where plans have many steps, and
/// says so). Pure.
PARTITA_API std::string explain(const Plan& plan, const ExplainOptions& options = {},
                                const Planner& planner = {});

/// What `verify` found wrong, one line each, at most 20; empty: nothing.
struct Verdict {
  std::vector<std::string> faults;  ///< rank, step and element of each
  /// Nothing is wrong.
  bool ok() const { return faults.empty(); }
};

/// Runs the plans of all ranks on symbols instead of numbers, under `schedules` different interleavings of
/// the ranks (round-robin, each rank as far as it can, and random ones from `seed`), and checks that
/// - every element of every rank's destination holds what it should: each logical contribution exactly once,
///   one write and then the other partials accumulated, each taken from an owner,
/// - no step reads scratch that is not (or no longer) what the plan wrote for it, or memory of a rank on
///   another node,
/// - a peer's operand is read only between that peer's first and last step (its grant),
/// - scratch is within bounds,
/// - every message has its receiver with the same bytes, and no cycle of waits.
///
/// Memory and time grow with the number of elements of the array: meant for up to some 10^6 elements.
/// `source` and `destination` are buffer numbers; both are in the plan's index space. Local, thread-safe.
PARTITA_API Verdict verify(const Planner& planner, int source = 0, int destination = 1, int schedules = 4,
                           std::uint64_t seed = 1);

}  // namespace partita
