// What verify was asked: the plans of all ranks, and what the layouts say of source and destination.
#pragma once

#include <partita/plan.hpp>
#include <vector>

#include "plan/verify/fault.hpp"
#include "plan/verify/symbols.hpp"

namespace partita::symbolic {

struct Problem {
  std::vector<Plan> plans;  ///< by rank
  int source = 0;           ///< buffer numbers
  int destination = 1;

  int ranks() const { return static_cast<int>(plans.size()); }
  const Plan& plan(int rank) const { return plans[static_cast<std::size_t>(rank)]; }
  const Buffer& buffer(int number) const { return plans.front().buffers[static_cast<std::size_t>(number)]; }
  const Operand& source_operand() const { return *buffer(source).operand; }
  const Operand& destination_operand() const { return *buffer(destination).operand; }
  const Shape& shape() const { return source_operand().layout.shape(); }
  std::int64_t item() const { return size_of(source_operand().dtype); }
};

/// The number of contributions that each rank's part of the layout stands for, and which it holds.
struct Holding {
  int contribution = -1;  ///< -1: the rank owns nothing
  int contributions = 0;
};
std::vector<Holding> holdings(const Layout& layout);

/// For each element (row-major number) the set of all contributions that the source has of it.
std::vector<SetId> whole_values(const Layout& source, ContributionSets& sets);

/// Asks the planner for every rank's plan and checks what must hold before a step can be run: buffers that
/// are the same on all ranks, and steps that name ranks, buffers, channels, messages and dimensions that
/// exist.
Problem ask(const Planner& planner, int source, int destination);
void check_structure(const Problem& problem, Faults& faults);

}  // namespace partita::symbolic
