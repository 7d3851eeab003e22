#include "plan/dependencies.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "plan/channels.hpp"

namespace partita::planning {
namespace {

using Steps = std::vector<int>;

using Access = std::pair<int, bool>;  // of a rank's shared memory; a write
using Flag = std::array<int, 3>;      // signal or wait, peer, channel

struct Lane {
  LastTouch reads, writes;
  std::map<Flag, int> flags;
  std::map<Access, int> accessed;
  std::map<Access, int> awaited;
  Steps known;  // by lane: the last that is done before what comes next
};

bool is_flag(const Step& step) {
  return step.kind == StepKind::signal || step.kind == StepKind::wait;
}

Flag flag_of(const Step& step) {
  return {static_cast<int>(step.kind), step.peer, step.channel};
}

template <class Key>
int last_of(const std::map<Key, int>& steps, const Key& key) {
  const auto found = steps.find(key);
  return found == steps.end() ? -1 : found->second;
}

template <class Visit>
void for_each_access(const SharedAccess& access, const Visit& visit) {
  if (access.reads) visit(Access{access.rank, false});
  if (access.writes) visit(Access{access.rank, true});
}

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
  /// Of the ranges that peers may access, too.
  template <class Visit>
  void for_each_access(const Touched& touched, const Visit& visit) const {
    const auto look = [&](const std::vector<MemoryRange>& ranges, bool written) {
      for (const MemoryRange& range : ranges) {
        if (range.shared || range.rank != plan_.rank) visit(Access{range.rank, written});
      }
    };
    look(touched.read, false);
    look(touched.written, true);
  }

  /// The last one of the lane that the step follows.
  int last_before(const Step& step, const Touched& touched, const Lane& lane) const {
    int last = -1;
    const auto follow = [&last](int before) { last = std::max(last, before); };
    for (const MemoryRange& range : touched.read) follow(lane.writes.last(range));
    for (const MemoryRange& range : touched.written) {
      follow(lane.writes.last(range));
      follow(lane.reads.last(range));
    }
    for_each_access(touched, [&](const Access& access) { follow(last_of(lane.awaited, access)); });
    if (is_flag(step)) follow(last_of(lane.flags, flag_of(step)));
    if (step.kind == StepKind::signal) {
      planning::for_each_access(announced_by(step, plan_.rank),
                                [&](const Access& access) { follow(last_of(lane.accessed, access)); });
    }
    return last;
  }

  void note(std::size_t index, const Touched& touched, std::size_t number) {
    const auto number_of_step = static_cast<int>(index);
    const Step& step = plan_.steps[index];
    Lane& lane = lanes_[number];
    for (const MemoryRange& range : touched.read) lane.reads.touch(range, number_of_step);
    for (const MemoryRange& range : touched.written) lane.writes.touch(range, number_of_step);
    for_each_access(touched, [&](const Access& access) { lane.accessed[access] = number_of_step; });
    if (is_flag(step)) lane.flags[flag_of(step)] = number_of_step;
    if (step.kind == StepKind::wait) {
      planning::for_each_access(awaited_by(step, plan_.rank),
                                [&](const Access& access) { lane.awaited[access] = number_of_step; });
    }
    lane.known[number] = number_of_step;
    known_at_[index] = lane.known;
  }

  const Plan& plan_;
  std::vector<Lane> lanes_;
  std::vector<Steps> known_at_;  // by step: of its lane, itself among them
};

}  // namespace

// A reader has read, a writer has written; an owner has written what may be read, and no longer uses what may
// be written.
SharedAccess announced_by(const Step& signal, int own) {
  switch (static_cast<Channel>(signal.channel)) {
    case Channel::ready:
      return {own, false, true};
    case Channel::grant:
      return {own, true, true};
    case Channel::done:
      return {signal.peer, true, false};
    case Channel::written:
      return {signal.peer, false, true};
  }
  return {own, true, true};
}

SharedAccess awaited_by(const Step& wait, int own) {
  switch (static_cast<Channel>(wait.channel)) {
    case Channel::ready:
      return {wait.peer, true, false};
    case Channel::grant:
      return {wait.peer, false, true};
    case Channel::done:
      return {own, false, true};
    case Channel::written:
      return {own, true, true};
  }
  return {own, true, true};
}

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
