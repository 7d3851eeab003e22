#include "base/hash.hpp"
#include "runtime/collective.hpp"

namespace partita {

// A rank leaves when it has the summary of all ranks, which cannot be before all have come.
void barrier(Runtime& state, std::string_view operation) {
  Meeting meeting(state, operation);
  settle(meeting, Summary::of(hash_of(operation)), [&] {
    Report report;
    report.operation = operation;
    return report;
  });
}

}  // namespace partita
