#include "plan/dependencies.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace partita::planning {
namespace {

using Steps = std::vector<int>;

struct Lane {
  LastTouch reads, writes;
  int flag = -1;
  int wait = -1;
  int seen_by_peers = -1;
  Steps known;  // by lane: the last that is done before what comes next
};

class Search {
 public:
  Search(const Plan& plan, std::size_t lanes) : plan_(plan), lanes_(lanes), known_at_(plan.steps.size()) {
    for (Lane& lane : lanes_) lane.known.assign(lanes, -1);
  }

  /// What the step waits for. Steps come in the order of the plan.
  Steps put(std::size_t index, const Touched& touched, std::size_t number) {
    Lane& own = lanes_[number];
    std::vector<std::pair<int, std::size_t>> wanted;  // step and lane
    for (std::size_t other = 0; other < lanes_.size(); ++other) {
      const int last = other == number ? -1 : last_before(plan_.steps[index], touched, lanes_[other]);
      if (last >= 0) wanted.emplace_back(last, other);
    }
    std::ranges::sort(wanted, std::greater());  // a later one may have waited for an earlier one
    Steps waits;
    for (const auto& [last, other] : wanted) {
      if (own.known[other] >= last) continue;
      waits.push_back(last);
      const Steps& learnt = known_at_[static_cast<std::size_t>(last)];
      std::ranges::transform(learnt, own.known, own.known.begin(),
                             [](int a, int b) { return std::max(a, b); });
    }
    note(index, touched, number);
    return waits;
  }

 private:
  /// The last one of the lane that the step follows.
  static int last_before(const Step& step, const Touched& touched, const Lane& lane) {
    int last = -1;
    for (const MemoryRange& range : touched.read) last = std::max(last, lane.writes.last(range));
    for (const MemoryRange& range : touched.written) {
      last = std::max({last, lane.writes.last(range), lane.reads.last(range)});
    }
    const bool signals = step.kind == StepKind::signal;
    if (signals || step.kind == StepKind::wait) last = std::max(last, lane.flag);
    if (signals) last = std::max(last, lane.seen_by_peers);
    if (touched.seen_by_peers) last = std::max(last, lane.wait);
    return last;
  }

  void note(std::size_t index, const Touched& touched, std::size_t number) {
    const auto step = static_cast<int>(index);
    const StepKind kind = plan_.steps[index].kind;
    Lane& lane = lanes_[number];
    for (const MemoryRange& range : touched.read) lane.reads.touch(range, step);
    for (const MemoryRange& range : touched.written) lane.writes.touch(range, step);
    if (kind == StepKind::signal || kind == StepKind::wait) lane.flag = step;
    if (kind == StepKind::wait) lane.wait = step;
    if (touched.seen_by_peers) lane.seen_by_peers = step;
    lane.known[number] = step;
    known_at_[index] = lane.known;
  }

  const Plan& plan_;
  std::vector<Lane> lanes_;
  std::vector<Steps> known_at_;  // by step: of its lane, itself among them
};

}  // namespace

Dependencies find_dependencies(const Plan& plan, std::span<const Touched> touched,
                               std::span<const int> lanes) {
  const int last = lanes.empty() ? -1 : *std::ranges::max_element(lanes);
  Search search(plan, static_cast<std::size_t>(last + 1));
  Dependencies found{std::vector<std::vector<int>>(plan.steps.size())};
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (lanes[i] >= 0) found.after[i] = search.put(i, touched[i], static_cast<std::size_t>(lanes[i]));
  }
  return found;
}

}  // namespace partita::planning
