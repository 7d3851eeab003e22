// The two forms of explain.
#pragma once

#include <optional>
#include <partita/plan.hpp>
#include <string>

namespace partita {

/// Totals over the ranks of an operation, scaled up where only a sample was asked.
struct Totals {
  Traffic traffic;
  int ranks = 0;
  int asked = 0;
};

std::string explain_text(const Plan& plan, const std::optional<Totals>& totals, bool steps);
std::string explain_json(const Plan& plan, const std::optional<Totals>& totals, bool steps);

}  // namespace partita
