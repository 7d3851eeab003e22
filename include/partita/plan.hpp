// Plans: the steps of one rank, as data. They can be printed, verified and simulated without execution.
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

/// The kinds of buffers.
enum class BufferKind : std::uint8_t {
  operand,  ///< an array of the caller
  shared,   ///< scratch on the symmetric heap: peers of the same node access it in place
  scratch,  ///< private scratch of this rank
};

/// Memory that steps refer to by number. All ranks of an operation list the same buffers; `bytes` of `shared`
/// scratch is the same on all ranks.
struct Buffer {
  std::string name;  ///< "source", "destination", "staging", ...
  BufferKind kind = BufferKind::operand;
  /// Set for operands and for scratch that holds an array: the local part is stored as the operand says,
  /// dense, from the start of the buffer. Other scratch is addressed by byte offsets (`Place`).
  std::optional<Operand> operand;
  std::int64_t bytes = 0;           ///< size of scratch
  std::optional<Dtype> dtype = {};  ///< dtype of scratch without an operand; if unset: that of the plan's
                                    ///< first operand
  /// Number of the buffer whose dense memory this buffer reinterprets as another array (a long line as a
  /// matrix); its kind is scratch. -1: separate memory.
  int view_of = -1;
  /// For device scratch that is filled while the plan computes: prefer copy engines to kernels.
  bool filled_beside = false;
};

/// The kinds of steps.
enum class StepKind : std::uint8_t {
  copy,        ///< region: from -> to
  accumulate,  ///< region: to = reduction(to, from)
  fill,        ///< region of `to` = identity of `reduction`
  send,        ///< starts a message of `bytes` from scratch at `from` to `peer`; does not wait
  receive,     ///< starts to receive `bytes` from `peer` into scratch at `to`; does not wait
  signal,      ///< increments the counter (this rank -> peer, channel); publishes earlier writes
  wait,        ///< waits until the counter (peer -> this rank, channel) has reached `count` in this execution
  finish,      ///< waits until the messages in `after` are complete
  compute,     ///< executes a local kernel: works[work] of the plan
};

/// One step. The steps of a rank are executed in order; messages complete in the background, and a step with
/// `after` first waits for those messages (indices of earlier send or receive steps). Message k from a rank
/// to a peer is matched with receive k of the peer from that rank.
struct Step {
  StepKind kind = StepKind::copy;
  int peer = -1;  ///< for send, receive, signal, wait; for a copy the owner of the data, as information
  Region region;  ///< for copy, accumulate, fill: global indices (of the source's index space)
  Place from;
  Place to;
  Reduction reduction = Reduction::sum;
  std::int64_t bytes = 0;  ///< size of a message
  /// -1, or for a message whose size depends on data, of which `bytes` is the most, the size that prices
  /// take. The size itself is one i64 that the rank has computed before the step, at `to` of a send and at
  /// `from` of a receive, the same at both ends; it may be 0.
  std::int64_t expected_bytes = -1;
  /// For messages: the messages of one round may be enqueued as one group, as with NCCL. The same number at
  /// both ends of a message; no step waits for a message of a round before the last message of that round.
  /// -1: not in a group.
  std::int64_t round = -1;
  int channel = 0;         ///< for signal and wait: 0 to channel_count - 1
  std::int64_t count = 0;  ///< for wait: number of signals since the start of this execution
  std::vector<int> after;
  int work = -1;  ///< for compute: index into Plan::works
};

inline constexpr int channel_count = 4;  ///< number of signal channels between two ranks

/// The steps of one rank, without contexts and pointers. A value.
struct PARTITA_API Plan {
  std::string operation;         ///< "redistribute"
  std::string method;            ///< name of the chosen algorithm
  std::string reason;            ///< why it was chosen
  int rank = 0;                  ///< the rank that executes the steps
  Topology topology;             ///< of all ranks of the operation
  std::vector<Buffer> buffers;   ///< operands first, then scratch
  std::vector<Step> steps;       ///< in order of execution
  std::vector<Work> works = {};  ///< works of the compute steps
  /// Whether every message has a round and there are no signals; the same on all ranks. The messages can then
  /// be enqueued on a stream as groups of sends and receives, without the host.
  bool grouped = false;
  /// The request: operands, options, reduction, root, ... It must be the same on all ranks, and is compared
  /// when a plan is made and, with the hash, at each execution.
  std::vector<Fact> identity = {};

  /// Hash of operation, identity, method, buffers and topology; the same on every rank.
  std::uint64_t hash() const;
};

/// Computes the plan of any rank. Pure.
using Planner = std::function<Plan(int rank)>;

/// The data that a plan moves. Bytes that stay on the rank count as `local`.
struct Traffic {
  std::int64_t local_bytes = 0;    ///< copied within this rank's memory, except staging
  std::int64_t node_bytes = 0;     ///< received from peers of the same node
  std::int64_t network_bytes = 0;  ///< received as messages
  std::int64_t staging_bytes = 0;  ///< copied into or out of scratch
  std::int64_t messages = 0;       ///< number sent
  std::int64_t signals = 0;        ///< number sent
};
/// The traffic of one rank's plan. Pure.
PARTITA_API Traffic traffic(const Plan& plan);

/// Form and detail of `explain`.
struct ExplainOptions {
  /// Text for people, JSON for programs.
  enum class Format : std::uint8_t { text, json } format = Format::text;  ///< output format
  bool steps = false;  ///< list every step, in addition to the totals
};
/// Describes one rank's plan and, if `planner` is given, the totals over all ranks: up to 1,024 ranks all
/// plans are computed, beyond a sample of 256 (fewer if plans have many steps), which the text
/// states. Pure.
PARTITA_API std::string explain(const Plan& plan, const ExplainOptions& options = {},
                                const Planner& planner = {});

/// The faults that `verify` found, one line each, at most 20; empty if there are none.
struct Verdict {
  std::vector<std::string> faults;  ///< with rank, step and element
  /// Whether there are no faults.
  bool ok() const { return faults.empty(); }
};

/// Executes the plans of all ranks on symbols instead of numbers, under `schedules` different interleavings
/// of the ranks (round-robin, each rank as far as possible, and random ones from `seed`), and checks that
/// - every element of every rank's destination gets the correct value: each contribution exactly once, by one
///   write and accumulations of the other contributions, each read from an owner,
/// - no step reads scratch before the plan has written it or after it was overwritten, or memory of a rank on
///   another node,
/// - a peer's operand is accessed only between that peer's first and last step,
/// - accesses to scratch are within bounds,
/// - every message has a receive of the same size, and there is no cycle of waits.
///
/// Memory and time grow with the number of elements: use it for arrays of up to about 10^6 elements. `source`
/// and `destination` are buffer numbers; both are in the plan's index space. Local, thread-safe.
PARTITA_API Verdict verify(const Planner& planner, int source = 0, int destination = 1, int schedules = 4,
                           std::uint64_t seed = 1);

}  // namespace partita
