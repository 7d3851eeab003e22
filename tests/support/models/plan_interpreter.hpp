// Runs the plans of all ranks on real numbers in one thread, in a random interleaving, with messages that
// complete as late as it likes. Independent of the verifier and of the executors.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <partita/plan.hpp>
#include <random>
#include <string>
#include <vector>

#include "support/models/indices.hpp"

namespace partita::testing {

using Number = std::uint64_t;

inline constexpr Number identity_mark = 0xf111f111f111f111;

/// Order and multiplicity of contributions show in the result: reduce(a, b) is neither commutative nor
/// idempotent.
inline Number joined(Number a, Number b) {
  return a * 0x100000001b3 + b;
}

class PlanInterpreter {
 public:
  using Memory = std::vector<Number>;

  PlanInterpreter(const Planner& planner, int ranks, std::uint64_t seed) : random_(seed) {
    for (int rank = 0; rank < ranks; ++rank) plans_.push_back(planner(rank));
    states_.resize(plans_.size());
    for (std::size_t r = 0; r < plans_.size(); ++r) allocate(r);
  }

  const Plan& plan(int rank) const { return plans_[static_cast<std::size_t>(rank)]; }
  Memory& memory(int buffer, int rank) {
    return states_[static_cast<std::size_t>(rank)].memory[static_cast<std::size_t>(buffer)];
  }

  /// The offsets of the elements of a region in a place's memory: first + sum of step * position in set.
  struct Addresses {
    std::vector<IndexSet> sets;
    Strides strides;
    std::int64_t first = 0;

    Addresses(const Plan& plan, const Place& place, const Region& region) {
      const Buffer& buffer = plan.buffers.at(static_cast<std::size_t>(place.buffer));
      if (buffer.operand) {
        sets = buffer.operand->layout.region(place.rank).sets;
        strides = buffer.operand->local_strides(place.rank);
        return;
      }
      sets = region.sets;
      first = place.offset / static_cast<std::int64_t>(sizeof(Number));
      strides = Extents::filled(static_cast<int>(sets.size()), 1);
      std::int64_t step = 1;
      for (int i = place.axis_order.size() - 1; i >= 0; --i) {
        const auto dimension = static_cast<int>(place.axis_order[i]);
        strides[dimension] = step;
        step *= sets[static_cast<std::size_t>(dimension)].size();
      }
    }

    std::int64_t of(const Index& at) const {
      std::int64_t result = first;
      for (int d = 0; d < at.size(); ++d) {
        const IndexSet& set = sets[static_cast<std::size_t>(d)];
        if (!set.contains(at[d])) return -1;
        result += set.position(at[d]) * strides[d];
      }
      return result;
    }
  };

  /// Empty: all went well.
  std::string run() {
    // Of 64: how often a message moves although some rank could go on; in some runs only when none can.
    const std::uint64_t eagerness = std::array<std::uint64_t, 3>{0, 6, 24}[random_() % 3];
    while (fault_.empty()) {
      std::vector<std::size_t> able;
      for (std::size_t r = 0; r < plans_.size(); ++r) {
        if (!ended(r) && can_step(r)) able.push_back(r);
      }
      if (able.empty() || random_() % 64 < eagerness) {
        if (deliver_message()) continue;
        if (able.empty()) break;
      }
      const std::size_t r = able[random_() % able.size()];
      step(r);
    }
    for (std::size_t r = 0; r < plans_.size() && fault_.empty(); ++r) {
      if (!ended(r)) fault_ = "rank " + std::to_string(r) + " is stuck at " + std::to_string(states_[r].next);
    }
    if (fault_.empty() && !open_.empty()) fault_ = "a message was never sent or received";
    return fault_;
  }

 private:
  struct State {
    std::vector<Memory> memory;
    std::size_t next = 0;
    std::map<int, bool> complete;  // of messages, by step
    std::map<std::pair<int, int>, std::int64_t> signals;
  };
  struct Pair {
    std::deque<int> sends;
    std::deque<int> receives;
  };

  void allocate(std::size_t r) {
    for (const Buffer& buffer : plans_[r].buffers) {
      const std::int64_t elements = buffer.operand ? buffer.operand->layout.local_size(static_cast<int>(r))
                                                   : buffer.bytes / static_cast<std::int64_t>(sizeof(Number));
      states_[r].memory.emplace_back(static_cast<std::size_t>(elements), Number{0xdead} + random_() % 1000);
    }
  }

  bool ended(std::size_t r) const { return states_[r].next == plans_[r].steps.size(); }

  bool can_step(std::size_t r) const {
    const Step& step = plans_[r].steps[states_[r].next];
    for (const int message : step.after) {
      const auto found = states_[r].complete.find(message);
      if (found == states_[r].complete.end() || !found->second) return false;
    }
    if (step.kind != StepKind::wait) return true;
    const auto found = states_[r].signals.find({step.peer, step.channel});
    return found != states_[r].signals.end() && found->second >= step.count;
  }

  void step(std::size_t r) {
    const auto number = static_cast<int>(states_[r].next);
    const Step& step = plans_[r].steps[states_[r].next++];
    const int rank = static_cast<int>(r);
    switch (step.kind) {
      case StepKind::signal:
        ++states_[static_cast<std::size_t>(step.peer)].signals[{rank, step.channel}];
        return;
      case StepKind::send:
        states_[r].complete[number] = false;
        open_[{rank, step.peer}].sends.push_back(number);
        return;
      case StepKind::receive:
        states_[r].complete[number] = false;
        open_[{step.peer, rank}].receives.push_back(number);
        return;
      case StepKind::copy:
      case StepKind::accumulate:
      case StepKind::fill:
        return move(plans_[r], step);
      default:
        return;
    }
  }

  Number* element(const Plan& plan, const Place& place, const Addresses& addresses, const Index& at) {
    Memory& memory = this->memory(place.buffer, place.rank);
    const std::int64_t where = addresses.of(at);
    if (where < 0 || where >= static_cast<std::int64_t>(memory.size())) {
      fault_ =
          "rank " + std::to_string(plan.rank) + " reaches outside buffer " + std::to_string(place.buffer);
      return nullptr;
    }
    return &memory[static_cast<std::size_t>(where)];
  }

  void check_place(const Plan& plan, const Step& step, const Place& place) {
    if (place.rank == plan.rank) return;
    const Buffer& buffer = plan.buffers.at(static_cast<std::size_t>(place.buffer));
    const State& peer = states_[static_cast<std::size_t>(place.rank)];
    if (!plan.topology.same_node(place.rank, plan.rank)) fault_ = "memory of another node is touched";
    if (buffer.kind == BufferKind::scratch) fault_ = "private scratch of a peer is touched";
    const Operand* const operand = buffer.operand ? &*buffer.operand : nullptr;
    const bool pulled = plan.topology.has_cross_memory() && step.kind == StepKind::copy &&
                        step.from.rank == place.rank && step.from.buffer == place.buffer;
    if (operand != nullptr && ((operand->residency != Residency::heap && !pulled) || !operand->dense)) {
      fault_ = "an operand that is not on the heap is touched by a peer";
    }
    if (peer.next == 0 || ended(static_cast<std::size_t>(place.rank))) {
      fault_ = "a peer's memory is touched outside its execution";
    }
  }

  void move(const Plan& plan, const Step& step) {
    if (step.kind != StepKind::fill) check_place(plan, step, step.from);
    check_place(plan, step, step.to);
    const Addresses froms(plan, step.from, step.region);
    const Addresses tos(plan, step.to, step.region);
    for_each_index(step.region, [&](const Index& at) {
      if (!fault_.empty()) return;
      Number* to = element(plan, step.to, tos, at);
      if (to == nullptr) return;
      if (step.kind == StepKind::fill) {
        *to = identity_mark;
        return;
      }
      const Number* from = element(plan, step.from, froms, at);
      if (from == nullptr) return;
      *to = step.kind == StepKind::copy ? *from : joined(*to, *from);
    });
  }

  // The oldest message of a random pair that has been posted at both ends: its bytes move only now.
  bool deliver_message() {
    std::vector<std::pair<int, int>> both;
    for (const auto& [key, pair] : open_) {
      if (!pair.sends.empty() && !pair.receives.empty()) both.push_back(key);
    }
    if (both.empty()) return false;
    const auto [giver, taker] = both[random_() % both.size()];
    Pair& pair = open_[{giver, taker}];
    const Step& send = plan(giver).steps[static_cast<std::size_t>(pair.sends.front())];
    const Step& receive = plan(taker).steps[static_cast<std::size_t>(pair.receives.front())];
    if (send.bytes != receive.bytes || send.bytes <= 0) fault_ = "a message and its receive differ in size";
    const Memory& from = memory(send.from.buffer, giver);
    Memory& to = memory(receive.to.buffer, taker);
    const auto last = static_cast<std::size_t>(std::max(send.from.offset, receive.to.offset) + send.bytes);
    if (last > sizeof(Number) * std::min(from.size(), to.size())) fault_ = "a message outside its scratch";
    if (!fault_.empty()) return true;
    std::memcpy(to.data() + static_cast<std::size_t>(receive.to.offset) / sizeof(Number),
                from.data() + static_cast<std::size_t>(send.from.offset) / sizeof(Number),
                static_cast<std::size_t>(send.bytes));
    states_[static_cast<std::size_t>(giver)].complete[pair.sends.front()] = true;
    states_[static_cast<std::size_t>(taker)].complete[pair.receives.front()] = true;
    pair.sends.pop_front();
    pair.receives.pop_front();
    if (pair.sends.empty() && pair.receives.empty()) open_.erase({giver, taker});
    return true;
  }

  std::mt19937_64 random_;
  std::vector<Plan> plans_;
  std::vector<State> states_;
  std::map<std::pair<int, int>, Pair> open_;
  std::string fault_;
};

}  // namespace partita::testing
