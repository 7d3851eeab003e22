// What verify was asked: the plans of all ranks, and what the layouts say of source and destination.
#pragma once

#include <partita/plan.hpp>
#include <span>
#include <vector>

#include "plan/verify/fault.hpp"
#include "plan/verify/symbols.hpp"
#include "plan/work.hpp"

namespace partita::verification {

struct Plans {
  std::vector<Plan> plans;  ///< by rank

  int ranks() const { return static_cast<int>(plans.size()); }
  const Plan& plan(int rank) const { return plans[static_cast<std::size_t>(rank)]; }
  const Buffer& buffer(int number) const { return plans.front().buffers[static_cast<std::size_t>(number)]; }
  /// Bytes of what one cell of the buffer stands for: an element, or, in scratch that elements of any dtype
  /// pass through, the smallest of all.
  std::int64_t item(int buffer) const;
};

struct Problem : Plans {
  int source = 0;  ///< buffer numbers
  int destination = 1;

  const Operand& source_operand() const { return *buffer(source).operand; }
  const Operand& destination_operand() const { return *buffer(destination).operand; }
  const Shape& shape() const { return source_operand().layout.shape(); }
};

/// The number of contributions that each rank's part of the layout stands for, and which it holds.
struct Holding {
  int contribution = -1;  ///< -1: the rank owns nothing
  int contributions = 0;
};
std::vector<Holding> holdings(const Layout& layout);

/// For each element (row-major number) the set of all contributions that the source has of it.
std::vector<SetId> whole_values(const Layout& source, ContributionSets& sets);

/// All elements of an array.
Region whole_region(const Shape& shape);

/// Asks the planner for every rank's plan; throws ArgumentError where these buffers hold no operands of all
/// ranks.
Plans ask(const Planner& planner, std::span<const int> operands);
Problem ask(const Planner& planner, int source, int destination);
/// What must hold before a step can be run: buffers that are the same on all ranks, and steps that name
/// ranks, buffers, channels, messages and dimensions that exist.
void check_structure(const Plans& plans, Faults& faults);

}  // namespace partita::verification
