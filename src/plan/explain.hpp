// The two forms of explain.
#pragma once

#include <array>
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

/// The numbers of Traffic, by their names in JSON.
struct TrafficField {
  const char* name;
  std::int64_t Traffic::*value;
};
inline constexpr std::array<TrafficField, 6> traffic_fields{{{"local_bytes", &Traffic::local_bytes},
                                                             {"node_bytes", &Traffic::node_bytes},
                                                             {"network_bytes", &Traffic::network_bytes},
                                                             {"staging_bytes", &Traffic::staging_bytes},
                                                             {"messages", &Traffic::messages},
                                                             {"signals", &Traffic::signals}}};

std::string explain_text(const Plan& plan, const std::optional<Totals>& totals, bool steps);
std::string explain_json(const Plan& plan, const std::optional<Totals>& totals, bool steps);

}  // namespace partita
