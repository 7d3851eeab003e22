// A redistribution that is planned and bound.
#pragma once

#include <functional>
#include <partita/redistribute.hpp>

#include "execute/operation.hpp"

namespace partita::redistribution {

/// Uses: the source, the destination.
class Redistribution final : public execution::Operation {
 public:
  /// `destination` may refuse what it is made of, so it is called inside the check.
  Redistribution(ContextState& context, const Operand& source, std::function<Operand()> destination,
                 const RedistributeOptions& options);

  const Operand& source() const { return uses()[0].operand; }
  const Operand& destination() const { return uses()[1].operand; }

 private:
  std::vector<Fact> prepare() override;
  execution::Planned plan_of(int rank) const override;
  std::optional<execution::Planned> plan_in_packets(int rank) const override;

  /// As planners see them.
  Operand from() const;
  Operand to() const;
  /// Where a library carries messages in groups, the plan is in rounds if it fits them.
  RedistributeOptions planned_options() const;

  Operand given_source_;
  std::function<Operand()> given_destination_;
  RedistributeOptions options_;
};

}  // namespace partita::redistribution
