#include "runtime/checks/common_facts.hpp"

#include <algorithm>

namespace partita::runtime {

void keep_common_facts(std::vector<Report>& reports) {
  const auto is_known_to_all = [all = reports](const Fact& fact) {
    return std::ranges::all_of(all, [&](const Report& report) {
      return std::ranges::find(report.facts, fact.name, &Fact::name) != report.facts.end();
    });
  };
  for (Report& report : reports)
    std::erase_if(report.facts, [&](const Fact& fact) { return !is_known_to_all(fact); });
}

}  // namespace partita::runtime
