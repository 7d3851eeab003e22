// Plans of collectives: redistributions, one after the other, with arrays in between.
#pragma once

#include <partita/plan.hpp>
#include <partita/redistribute.hpp>
#include <span>
#include <string>

#include "plan/plan_builder.hpp"

namespace partita::collective {

/// The input of a planner of a collective, which answers for any rank, without communication. The operands
/// are those of the views, in the caller's order.
struct Request {
  std::string_view operation;
  std::span<const Operand> operands;
  const Topology& topology;
  int rank = 0;
  std::span<const Fact> facts = {};  ///< what all ranks have alike: the plan's identity
  bool grouped = false;              ///< all data is sent as messages in groups (see Plan::grouped)

  int ranks() const { return topology.ranks(); }
  /// Of the redistributions that the plan is made of.
  RedistributeOptions redistribution() const;
  /// Dense on the symmetric heap: peers of the node read and write it in place.
  bool in_place(int operand) const;
  /// From the first operand to the second in one copy of the kernel.
  bool pulls() const;
};

/// Writes a plan whose operand buffers are those of the request, with their numbers.
class Chain {
 public:
  Chain(const Request& request, std::span<const char* const> names, std::string method, std::string reason);

  /// Shared scratch that holds an array, dense and row-major; peers of the node read it in place.
  int add_array(const char* name, const Layout& layout, Dtype dtype);
  /// Another name for that memory, used as packed bytes.
  int add_bytes_of(int array, Dtype dtype);
  /// This rank's part from one array to another of the same layout.
  void copy_own(int from, int to);
  /// Whatever the distributions of the two.
  void redistribute(int from, int to);

  planning::PlanBuilder& builder() { return builder_; }
  Plan take() { return std::move(plan_); }

 private:
  Plan plan_;
  RedistributeOptions redistribution_;
  planning::PlanBuilder builder_{plan_};
};

/// Any source to any destination in one redistribution: gather, scatter, reduce-scatter, all-to-all.
Plan plan_single_redistribution(const Request& request);

}  // namespace partita::collective
