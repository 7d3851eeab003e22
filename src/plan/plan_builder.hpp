// How planners write plans: buffers, single steps, and plans made of plans.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <partita/plan.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/channels.hpp"

namespace partita::planning {

/// Appends buffers and steps to the plan of one rank, and keeps account of the signals that it waits for.
/// Functions give the number of what they have appended, by which later ones name it. `after`: messages that
/// a step waits for first.
class PlanBuilder {
 public:
  /// Goes on where the plan ends, which must outlive the builder.
  explicit PlanBuilder(Plan& plan);
  PlanBuilder(const PlanBuilder&) = delete;
  PlanBuilder& operator=(const PlanBuilder&) = delete;

  Plan& plan() const { return plan_; }
  int rank() const { return plan_.rank; }
  bool same_node(int peer) const { return plan_.topology.same_node(plan_.rank, peer); }
  Buffer& buffer(int number) const { return plan_.buffers[static_cast<std::size_t>(number)]; }
  const Operand& operand(int number) const { return *buffer(number).operand; }
  /// The start of this rank's part of the buffer.
  Place own(int buffer) const { return {buffer, plan_.rank, 0, {}}; }

  // --- buffers
  int add_operand(std::string name, const Operand& operand);
  /// Scratch that holds a whole array, dense: peers of the node read it in place where it is shared, and it
  /// is then of one size on all ranks; private scratch need not be.
  int add_array(std::string name, const Operand& operand, BufferKind kind = BufferKind::shared);
  /// Another array on the same memory.
  int add_view(int buffer, const Operand& operand);
  int add_scratch(std::string name, BufferKind kind, std::int64_t bytes, std::optional<Dtype> dtype = {});
  /// The buffer of this name, kind and dtype that holds no array, of at least so many bytes; added where
  /// there is none. For parts of a plan that follow one another: each begins when the one before is done with
  /// it.
  int add_or_share(const Buffer& wanted);

  // --- steps
  /// `owner`: of the data, for information.
  int copy(int owner, Region region, const Place& from, const Place& to, std::vector<int> after = {});
  int accumulate(int owner, Reduction reduction, Region region, const Place& from, const Place& to,
                 std::vector<int> after = {});
  int fill(Reduction identity_of, Region region, const Place& to);
  int compute(Work work, std::vector<int> after = {});
  int signal(int peer, Channel channel);
  /// For one more signal than has been waited for.
  int wait(int peer, Channel channel) { return wait_for(peer, channel, 1); }
  /// For so many more.
  int wait_for(int peer, Channel channel, std::int64_t signals);
  /// For the signal of that number since the start of the execution.
  int wait(int peer, Channel channel, std::int64_t number);
  int send(int peer, const Place& from, std::int64_t bytes, std::int64_t round = -1);
  int receive(int peer, const Place& to, std::int64_t bytes, std::int64_t round = -1);
  /// The same of a message whose size depends on data: see Step::expected_bytes.
  int send_sized(int peer, const Place& from, std::int64_t most, std::int64_t expected, const Place& size);
  int receive_sized(int peer, const Place& to, std::int64_t most, std::int64_t expected, const Place& size);
  /// The first of a range of rounds that follow all before: the same on ranks that have asked as often,
  /// whatever messages they had.
  std::int64_t new_rounds() { return ++rounds_ * most_rounds; }
  /// Nothing where there is nothing to wait for.
  void finish(std::vector<int> messages);

  // --- other plans
  /// Steps and works of `part`, which carry on where those here end: its buffer i is buffers[i] here. Counts
  /// of signals go on from those that have been waited for, so every signal that was sent to this rank must
  /// have been: every plan of this library has done so at its end. Both are of the same rank and topology.
  /// Its rounds follow those before.
  /// `before`, where it is given, is called before each step of `part` with that step's number there, and may
  /// append steps that neither signal nor wait.
  void append(Plan part, std::span<const int> buffers, const std::function<void(int step)>& before = {});
  /// A plan from one array to another (its buffers 0 and 1), whose scratch is shared with parts before it.
  void append(Plan part, int from, int to, const std::function<void(int step)>& before = {});

 private:
  using Counter = std::pair<int, int>;  // peer, channel
  int push(Step step);
  int add(Buffer buffer);

  static constexpr std::int64_t most_rounds = std::int64_t{1} << 40;

  Plan& plan_;
  std::map<Counter, std::int64_t> waited_;
  std::int64_t rounds_ = 0;  // ranges of them
};

}  // namespace partita::planning
