#include "plan/events.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "base/check.hpp"
#include "plan/cost.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita::planning {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct RankState {
  std::size_t next = 0;          // the step to start
  double ready = 0;              // when the latency of the last started step is over
  double remaining = 0;          // bytes of the copy in hand
  double cap = 0;                // bytes a second that it reaches alone
  double begin = 0;              // of the last step
  double end = 0;                // of the last step
  std::vector<double> complete;  // when messages complete, by step
};

struct Message {
  std::size_t step;
  double bytes;
};

// The messages of an ordered pair of ranks; the k-th sent is the k-th received.
struct PairQueue {
  std::vector<Message> sends;
  std::vector<Message> receives;
  std::size_t matched = 0;
  double free = 0;  // inside a node: when the last transfer of the pair ends
};

struct Link {
  double outgoing_free = 0;
  double incoming_free = 0;
};

class Events {
 public:
  Events(const std::vector<Plan>& plans, const Machine& machine, const StepObserver& observer)
      : plans_(plans),
        machine_(machine),
        observer_(observer),
        topology_(plans.front().topology),
        ranks_(plans.size()),
        links_(static_cast<std::size_t>(topology_.node_count())),
        copying_(links_.size(), 0) {
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      ranks_[rank].complete.assign(plans[rank].steps.size(), never);
    }
  }

  std::vector<double> run() {
    start_all();
    while (!all_ended()) {
      count_copying();
      const double next = next_event();
      check(next < never, "the plans of {} deadlock; verify shows where", plans_.front().operation);
      copy_until(next);
      start_all();
    }
    std::vector<double> ends;
    for (const RankState& rank : ranks_) ends.push_back(rank.end);
    return ends;
  }

 private:
  bool ended(std::size_t rank) const {
    return ranks_[rank].next == plans_[rank].steps.size() && ranks_[rank].remaining == 0;
  }
  bool all_ended() const {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (!ended(rank)) return false;
    }
    return true;
  }
  std::size_t node(std::size_t rank) const {
    return static_cast<std::size_t>(topology_.node(static_cast<int>(rank)));
  }
  bool copying(const RankState& state) const { return state.remaining > 0 && state.ready <= now_; }

  // --- starting steps

  void start_all() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        while (!ended(rank) && start_time(rank) <= now_) {
          start(rank);
          changed = true;
        }
      }
    }
  }

  // When the next step of a rank that does not copy can start, as far as that is known now.
  double start_time(std::size_t rank) const {
    const RankState& state = ranks_[rank];
    if (state.remaining > 0) return never;
    const Step& step = plans_[rank].steps[state.next];
    double time = state.ready;
    for (const int message : step.after) {
      time = std::max(time, state.complete.at(static_cast<std::size_t>(message)));
    }
    return step.kind == StepKind::wait ? std::max(time, signal_time(rank, step)) : time;
  }

  double signal_time(std::size_t rank, const Step& step) const {
    if (step.count < 1) return 0;
    const auto found = signals_.find({step.peer, static_cast<int>(rank), step.channel});
    if (found == signals_.end()) return never;
    const auto index = static_cast<std::size_t>(step.count - 1);
    return index < found->second.size() ? found->second[index] : never;
  }

  void start(std::size_t rank) {
    RankState& state = ranks_[rank];
    const Step& step = plans_[rank].steps[state.next];
    state.begin = state.end;
    state.ready = now_;
    if (is_copy(step.kind)) start_copy(state, plans_[rank], step);
    if (step.kind == StepKind::compute) state.ready += compute_seconds(plans_[rank], step, machine_);
    if (is_message(step.kind)) start_message(rank, step);
    if (step.kind == StepKind::signal) {
      state.ready += machine_.signal_latency;
      signals_[{static_cast<int>(rank), step.peer, step.channel}].push_back(state.ready);
    }
    state.end = state.ready;
    ++state.next;
    if (state.remaining == 0) observe(rank);
  }

  // The last step of a rank has ended.
  void observe(std::size_t rank) const {
    const RankState& state = ranks_[rank];
    if (observer_) observer_(rank, state.next - 1, state.begin, state.end);
  }

  void start_copy(RankState& state, const Plan& plan, const Step& step) {
    const CopyCost cost = copy_cost(plan, step, machine_);
    state.ready += machine_.copy_latency;
    state.remaining = cost.traffic;
    state.cap = cost.cap;
  }

  // --- messages

  void start_message(std::size_t rank, const Step& step) {
    const auto peer = static_cast<std::size_t>(step.peer);
    check(peer < ranks_.size(), "rank {} has a message with rank {} of {}", rank, step.peer, ranks_.size());
    const Message message{ranks_[rank].next, static_cast<double>(expected_bytes(step))};
    const bool is_send = step.kind == StepKind::send;
    const std::size_t sender = is_send ? rank : peer;
    const std::size_t receiver = is_send ? peer : rank;
    PairQueue& lane = lanes_[{sender, receiver}];
    (is_send ? lane.sends : lane.receives).push_back(message);
    if (lane.matched < std::min(lane.sends.size(), lane.receives.size())) match(lane, sender, receiver);
  }

  // Both ends are there: the transfer queues for the links of both nodes.
  void match(PairQueue& lane, std::size_t sender, std::size_t receiver) {
    const Message& sent = lane.sends[lane.matched];
    const Message& received = lane.receives[lane.matched++];
    const bool same_node = node(sender) == node(receiver);
    double& leaves = same_node ? lane.free : links_[node(sender)].outgoing_free;
    double& arrives = same_node ? lane.free : links_[node(receiver)].incoming_free;
    const double start = std::max({now_, leaves, arrives});
    leaves = arrives = start + sent.bytes / message_bandwidth(same_node, machine_);
    const double complete = arrives + message_latency(same_node, machine_);
    ranks_[sender].complete[sent.step] = complete;
    ranks_[receiver].complete[received.step] = complete;
  }

  // --- time

  void count_copying() {
    std::fill(copying_.begin(), copying_.end(), 0);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (copying(ranks_[rank])) ++copying_[node(rank)];
    }
  }

  // The copies that run on a node at the same time share its bandwidth evenly.
  double rate(std::size_t rank) const {
    return std::min(ranks_[rank].cap, machine_.node_copy_bandwidth / copying_[node(rank)]);
  }

  double event_time(std::size_t rank) const {
    const RankState& state = ranks_[rank];
    if (ended(rank)) return never;
    if (copying(state)) return now_ + state.remaining / rate(rank);
    return state.remaining > 0 ? state.ready : start_time(rank);
  }

  double next_event() const {
    double next = never;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) next = std::min(next, event_time(rank));
    return next;
  }

  void copy_until(double time) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      RankState& state = ranks_[rank];
      if (!copying(state)) continue;
      // Rounding must not leave a rest that takes no time.
      const bool done = event_time(rank) <= time * (1 + 1e-12);
      state.remaining = done ? 0 : std::max(0.0, state.remaining - rate(rank) * (time - now_));
      if (state.remaining > 0) continue;
      state.ready = state.end = time;
      observe(rank);
    }
    now_ = time;
  }

  const std::vector<Plan>& plans_;
  const Machine& machine_;
  const StepObserver& observer_;
  const Topology& topology_;
  std::vector<RankState> ranks_;
  std::vector<Link> links_;   // of each node
  std::vector<int> copying_;  // ranks of each node that copy now
  std::map<std::pair<std::size_t, std::size_t>, PairQueue> lanes_;
  std::map<std::tuple<int, int, int>, std::vector<double>> signals_;  // (from, to, channel): arrival times
  double now_ = 0;
};

}  // namespace

std::vector<double> run_events(const std::vector<Plan>& plans, const Machine& machine,
                               const StepObserver& observer) {
  return Events(plans, machine, observer).run();
}

}  // namespace partita::planning
