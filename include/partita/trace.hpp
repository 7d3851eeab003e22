// Timelines: what the ranks do step by step, as the cost model predicts it and as it is measured.
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

/// A step of a plan, and when a rank was at it.
struct TracedStep {
  std::string kind;   ///< "copy", "wait", "compute", ...; "all steps": a stroke that does them all
  std::string what;   ///< in words, as `explain` lists it
  int execution = 0;  ///< of a plan, counted from the start of the recording
  int step = 0;       ///< its number in the plan; -1: all of them
  int line = 0;       ///< 0: the rank's thread; 1 and more: streams of its device
  double begin = 0;   ///< seconds since the first step of any rank began
  double end = 0;
};

/// What each rank does, in order of `begin`.
struct Timeline {
  std::string name;                            ///< "planned", "measured"
  std::vector<std::vector<TracedStep>> ranks;  ///< by rank
};

/// The steps of all ranks as `simulate` runs them: a step begins when the one before it has ended, so the
/// time that it waits for peers and messages is part of it. Up to 64 ranks (ArgumentError). Pure; no MPI.
PARTITA_API Timeline planned_timeline(const Planner& planner, int ranks, const Machine& machine);

/// Calls `body`, and returns what the executors of `context` did in it, of all ranks, on every rank. On a
/// device the work is waited for at the end; steps that go into a stream are timed there, and steps that it
/// does in one go have one time (small exchanges are a single kernel: one step, -1). What is put into a graph
/// is not recorded. Outside of a recording an executor does one comparison a step for it.
///
/// The times of ranks on one machine are by one clock. Between machines clocks are compared by barriers:
/// ranks leave a barrier at about the same time, so the median of the differences of some 15 of them is taken
/// for the difference of the clocks. That is good to about the latency of a message. Clocks of devices are
/// compared with the host's in the same way, when a recording starts.
///
/// Collective, blocking. `body` must call the same operations on every rank; what it throws on some rank is
/// thrown on all. ArgumentError: a recording inside a recording.
PARTITA_API Timeline record_timeline(const Context& context, const std::function<void()>& body);

/// One execution of a plan by this rank, and what it moved.
struct ExecutedTraffic {
  std::string operation;  ///< "redistribute", "all_reduce", ...
  std::string method;     ///< the algorithm
  Traffic traffic;        ///< of this rank
};

/// Counts what the executors of `context` move on this rank, from its creation to `stop` or its end: every
/// execution of a plan, as `traffic(plan)` counts it. Not what needs no plan: messages of `send` and
/// `receive`, checks, files; nor what is put into a graph. Local. Throws ArgumentError: what the context does
/// is recorded already, here or by `record_timeline`. Not copyable, one thread at a time.
class PARTITA_API TrafficRecord {
 public:
  explicit TrafficRecord(const Context& context);  ///< begins
  ~TrafficRecord();
  TrafficRecord(TrafficRecord&&) noexcept;
  TrafficRecord& operator=(TrafficRecord&&) noexcept;

  void stop();                                             ///< nothing is counted from here on
  const std::vector<ExecutedTraffic>& executions() const;  ///< in their order

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// As JSON in Chrome's trace event format, which chrome://tracing and Perfetto load: a process a timeline, a
/// row a rank (and stream). Pure.
PARTITA_API std::string chrome_trace(std::span<const Timeline> timelines);

}  // namespace partita
