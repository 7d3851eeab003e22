#include "base/hash.hpp"
#include "runtime/agree.hpp"
#include "runtime/collective.hpp"

namespace partita {

std::vector<std::string> exchange(Runtime& state, std::string_view operation, std::string_view mine) {
  Meeting meeting(state, operation);
  Summary summary = Summary::of(hash_of(operation));
  summary.bytes_smallest = summary.bytes_largest = static_cast<std::int64_t>(mine.size());
  const Summary all = settle(meeting, summary, [&] {
    Report report;
    report.operation = operation;
    return report;
  });
  return meeting.gather(mine, all.bytes_smallest == all.bytes_largest);
}

}  // namespace partita
