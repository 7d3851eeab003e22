// Timelines of the steps of all ranks, predicted by the cost model or measured.
#pragma once

#include <functional>
#include <memory>
#include <partita/context.hpp>
#include <partita/machine.hpp>
#include <partita/plan.hpp>
#include <span>
#include <string>
#include <vector>

namespace partita {

/// A step of a plan with its begin and end.
struct TracedStep {
  std::string kind;   ///< "copy", "wait", "compute", ...; "all steps": one kernel that executes all of them
  std::string what;   ///< description, as in `explain`
  int execution = 0;  ///< number of the plan's execution since the start of the recording
  int step = 0;       ///< number in the plan; -1: all steps
  int line = 0;       ///< 0: the rank's thread; 1 and more: streams of its device
  double begin = 0;   ///< seconds since the first step of any rank began
  double end = 0;
};

/// The steps of each rank, in order of `begin`.
struct Timeline {
  std::string name;                            ///< "planned", "measured"
  std::vector<std::vector<TracedStep>> ranks;  ///< by rank
};

/// The steps of all ranks as predicted by `simulate`: a step begins when the previous one ends, so it
/// includes the time spent waiting for peers and messages. Up to 64 ranks (ArgumentError). Pure; no MPI.
PARTITA_API Timeline planned_timeline(const Planner& planner, int ranks, const Machine& machine);

/// Calls `body`, and returns the steps that the executors of `context` executed in it, of all ranks, on every
/// rank. On a device the call waits for the work at the end; steps that are enqueued on a stream are timed
/// there, and steps that one kernel executes together have one time (small exchanges: one step, number -1).
/// Captured work is not recorded. Outside of a recording the cost is one comparison per step.
///
/// The times of ranks on one machine are from one clock. Clocks of different machines are aligned by
/// barriers: ranks leave a barrier at about the same time, so the median of about 15 differences is the
/// offset, accurate to about the latency of a message. Device clocks are aligned with the host's in the same
/// way when a recording starts.
///
/// Collective, blocking. `body` must call the same operations on every rank; its exceptions are thrown on all
/// ranks. ArgumentError: a recording inside a recording.
PARTITA_API Timeline record_timeline(const Context& context, const std::function<void()>& body);

/// One execution of a plan by this rank, and its traffic.
struct ExecutedTraffic {
  std::string operation;  ///< "redistribute", "all_reduce", ...
  std::string method;     ///< the algorithm
  Traffic traffic;        ///< of this rank
};

/// Counts the traffic of the executors of `context` on this rank, from construction to `stop` or destruction:
/// every execution of a plan, as `traffic(plan)`. Not counted: transfers without a plan (`send` and
/// `receive`, checks, files), and captured work. Local. Throws ArgumentError if the context is already being
/// recorded, by another record or by `record_timeline`. Not copyable, one thread at a time.
class PARTITA_API TrafficRecord {
 public:
  explicit TrafficRecord(const Context& context);  ///< begins to count
  ~TrafficRecord();
  TrafficRecord(TrafficRecord&&) noexcept;
  TrafficRecord& operator=(TrafficRecord&&) noexcept;

  void stop();                                             ///< ends counting
  const std::vector<ExecutedTraffic>& executions() const;  ///< in order of execution

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// JSON in Chrome's trace event format, for chrome://tracing and Perfetto: one process per timeline, one row
/// per rank (and stream). Pure.
PARTITA_API std::string chrome_trace(std::span<const Timeline> timelines);

}  // namespace partita
