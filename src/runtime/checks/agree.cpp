#include "runtime/checks/agree.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <partita/error.hpp>

#include "base/hash.hpp"
#include "runtime/checks/call_notes.hpp"
#include "runtime/checks/difference.hpp"
#include "runtime/checks/public_call.hpp"
#include "runtime/checks/withdrawal.hpp"
#include "runtime/groups/rendezvous.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {

namespace {

Report report_of(std::string_view operation, std::span<const Fact> facts = {}) {
  Report report;
  report.operation = operation;
  report.facts.assign(facts.begin(), facts.end());
  return report;
}

Report run(std::string_view operation, const std::function<std::vector<Fact>()>& local) {
  Report report = report_of(operation);
  try {
    report.facts = local();
  } catch (...) {
    report.threw = true;
    report.error = describe_error(std::current_exception());
  }
  return report;
}

}  // namespace

Summary resolve(Rendezvous& rendezvous, Summary mine, const std::function<Report()>& report) {
  std::optional<CallNotes::InCheck> in_check;
  if (rendezvous.of_all()) in_check.emplace(rendezvous.notes(), report);
  const Summary all = rendezvous.join(mine);
  if (all.agreed()) return all;
  Report mine_in_words = report();
  if (all.withdrew != 0) rendezvous.note_withdrawal(mine_in_words);
  if (!all.executed_alike()) rendezvous.report_history(mine_in_words, all.withdrew == 0);
  if (all.withdrew != 0 && all.executed_alike()) rendezvous.start_anew(all);
  note_public_call(mine_in_words);
  mine_in_words.plans = rendezvous.hash_of_plans();
  std::vector<Report> reports;
  for (const std::string& bytes : rendezvous.gather(serialize(mine_in_words), false)) {
    reports.push_back(deserialize<Report>(bytes));
  }
  if (std::ranges::adjacent_find(reports, std::ranges::not_equal_to(), &Report::plans) != reports.end())
    rendezvous.forget_plans();
  std::vector<int> ranks(reports.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = rendezvous.rank(static_cast<int>(i));
  if (all.withdrew != 0) {
    rendezvous.end_withdrawal();
    compare_withdrawn(reports, ranks);
  }
  try {
    throw_difference(reports, ranks);
  } catch (const Error& error) {
    if (!all.executed_alike()) rendezvous.fail(describe_error(std::current_exception()));
    rendezvous.note_told(error.what());
    throw;
  }
}

Summary collectively(Rendezvous& rendezvous, std::string_view operation, std::uint64_t value,
                     const std::function<std::vector<Fact>()>& local) {
  Report report = run(operation, local);
  Summary mine = Summary::of(hash_of(operation), hash_of_facts(report.facts));
  mine.threw = report.threw ? 1 : 0;
  mine.largest = value;
  return resolve(rendezvous, mine, [&] { return report; });
}

void agree(Runtime& state, std::string_view operation, std::span<const Fact> facts) {
  collectively(state, operation, [&] { return std::vector<Fact>(facts.begin(), facts.end()); });
}

void collectively(Runtime& state, std::string_view operation,
                  const std::function<std::vector<Fact>()>& local) {
  Rendezvous rendezvous(state, operation);
  collectively(rendezvous, operation, 0, local);
}

void throw_on_all(Runtime& state, std::string_view operation) {
  // Where the others do not come to listen but execute, it is why they wait for this rank.
  const CaughtError why = describe_error(std::current_exception());
  Rendezvous rendezvous(state, operation, {}, &why);
  try {
    collectively(rendezvous, operation, 0, []() -> std::vector<Fact> { throw; });
  } catch (const Error&) {
    const CaughtError told = describe_error(std::current_exception());
    if (told.kind != ErrorKind::timeout && told.kind != ErrorKind::lost_peer) throw;
    throw_error(told.kind, fmt::format("{}; while reporting: {}", told.text, why.text));
  }
  throw;  // collectively has thrown it
}

namespace {

/// The latest exception that `refuse_on_all` has thrown on this thread: handlers may hand it over once more.
struct ToldHere {
  const Runtime* state = nullptr;
  std::exception_ptr error;
};
thread_local ToldHere told_here;

}  // namespace

void refuse_on_all(Runtime& state, std::string_view operation, const std::exception_ptr& error) {
  Report report = run(operation, [&]() -> std::vector<Fact> { std::rethrow_exception(error); });
  // A binding has made another exception of it, with the same text.
  const bool has_text = state.told.agreements == state.agreements && state.told.text == report.error.text;
  const bool is_told = has_text || (told_here.error == error && told_here.state == &state);
  if (has_text) state.told.text.clear();  // once: the next error with this text is another one
  if (is_told || state.failed() || state.closed || state.agreement_depth > 0 || state.size() == 1)
    std::rethrow_exception(error);
  if (!report.error.text.starts_with(fmt::format("{}: ", operation)))
    report.error.text = fmt::format("{}: {}", operation, report.error.text);
  report.refused = true;
  Rendezvous rendezvous(state, operation, {}, &report.error);
  Summary mine = Summary::of(hash_of(operation));
  mine.threw = 1;
  try {
    resolve(rendezvous, mine, [&] { return report; });
  } catch (const Error&) {
    state.told.text.clear();  // this rank knows it by the exception
    told_here = {&state, std::current_exception()};
    throw;
  }
  std::rethrow_exception(error);  // resolve has thrown it
}

std::vector<std::string> exchange(Runtime& state, std::string_view operation, std::string_view mine) {
  Rendezvous rendezvous(state, operation);
  return exchange(rendezvous, mine);
}

std::vector<std::string> exchange(Rendezvous& rendezvous, std::string_view mine,
                                  std::span<const Fact> facts) {
  Summary summary = Summary::of(hash_of(rendezvous.operation()), facts.empty() ? 0 : hash_of_facts(facts));
  summary.bytes_smallest = summary.bytes_largest = static_cast<std::int64_t>(mine.size());
  const Summary all = resolve(rendezvous, summary, [&] { return report_of(rendezvous.operation(), facts); });
  return rendezvous.gather(mine, all.bytes_smallest == all.bytes_largest);
}

// A rank leaves when it has the summary of all ranks, which cannot be before all have come.
void barrier(Runtime& state, std::string_view operation) {
  Rendezvous rendezvous(state, operation);
  resolve(rendezvous, Summary::of(hash_of(operation)), [&] { return report_of(operation); });
}

}  // namespace partita::runtime
