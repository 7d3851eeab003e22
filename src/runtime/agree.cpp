#include "runtime/agree.hpp"

#include "base/hash.hpp"
#include "runtime/collective.hpp"
#include "runtime/context_state.hpp"

namespace partita {

namespace {

std::uint64_t hash_of_facts(std::span<const Fact> facts) {
  std::uint64_t hash = facts.size();
  for (const Fact& fact : facts) hash = mix(mix(hash, hash_of(fact.name)), hash_of(fact.value));
  return hash;
}

Report run(std::string_view operation, const std::function<std::vector<Fact>()>& local) {
  Report report;
  report.operation = operation;
  try {
    report.facts = local();
  } catch (...) {
    report.threw = true;
    report.error = describe_error(std::current_exception());
  }
  return report;
}

}  // namespace

Summary settle(Meeting& meeting, Summary mine, const std::function<Report()>& report) {
  const Summary all = meeting.join(mine);
  if (all.agreed()) return all;
  std::vector<Report> reports;
  for (const std::string& text : meeting.gather(encode(report()), false)) reports.push_back(decode(text));
  std::vector<int> ranks(reports.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = meeting.rank(static_cast<int>(i));
  throw_difference(reports, ranks);
}

Summary collectively(Meeting& meeting, std::string_view operation, std::uint64_t value,
                     const std::function<std::vector<Fact>()>& local) {
  Report report = run(operation, local);
  Summary mine = Summary::of(hash_of(operation), hash_of_facts(report.facts));
  mine.threw = report.threw ? 1 : 0;
  mine.largest = value;
  return settle(meeting, mine, [&] { return report; });
}

void agree(ContextState& state, std::string_view operation, std::span<const Fact> facts) {
  collectively(state, operation, [&] { return std::vector<Fact>(facts.begin(), facts.end()); });
}

void collectively(ContextState& state, std::string_view operation,
                  const std::function<std::vector<Fact>()>& local) {
  Meeting meeting(state, operation);
  collectively(meeting, operation, 0, local);
}

}  // namespace partita
