#include "runtime/checks/difference.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

#include "base/check.hpp"
#include "runtime/checks/common_facts.hpp"
#include "runtime/checks/public_call.hpp"
#include "runtime/checks/rank_list.hpp"

namespace partita::runtime {

namespace {

using ValueOf = std::function<std::string(const Report&)>;

std::string operation_of(const Report& report) {
  return report.operation;
}

bool all_alike(std::span<const Report> reports, const ValueOf& value) {
  return std::all_of(reports.begin(), reports.end(),
                     [&](const Report& report) { return value(report) == value(reports.front()); });
}

std::string values_text(std::span<const Report> reports, const std::vector<int>& ranks,
                        const ValueOf& value) {
  std::vector<std::string> values;
  for (const Report& report : reports) values.push_back(value(report));
  return values_of_ranks(values, ranks);
}

std::string value_of(const Report& report, const std::string& name) {
  for (const Fact& fact : report.facts) {
    if (fact.name == name) return fact.value.empty() ? "\"\"" : fact.value;
  }
  return "nothing";
}

/// What the program has called, if all know that; else the step that each rank is in.
ValueOf call_of(std::span<const Report> reports) {
  const bool all_know = std::ranges::all_of(reports, [](const Report& report) {
    return std::ranges::find(report.facts, of_the_program, &Fact::name) != report.facts.end();
  });
  if (!all_know) return operation_of;
  return [](const Report& report) { return value_of(report, of_the_program); };
}

std::string facts_text(std::span<const Report> reports, const std::vector<int>& ranks) {
  std::vector<std::string> names;
  for (const Report& report : reports) {
    for (const Fact& fact : report.facts) {
      if (std::find(names.begin(), names.end(), fact.name) == names.end()) names.push_back(fact.name);
    }
  }
  std::string text;
  std::erase(names, of_the_program);
  for (const std::string& name : names) {
    const ValueOf value = [&](const Report& report) { return value_of(report, name); };
    if (all_alike(reports, value)) continue;
    text +=
        fmt::format("{}{}: {}", text.empty() ? "" : "; and on ", name, values_text(reports, ranks, value));
  }
  return text;
}

/// What the lowest rank that threw has thrown, and which ranks did, if not all. Empty: no rank threw.
std::optional<CaughtError> first_thrown(std::span<const Report> reports, const std::vector<int>& ranks) {
  const auto first =
      std::find_if(reports.begin(), reports.end(), [](const Report& report) { return report.threw; });
  if (first == reports.end()) return std::nullopt;
  std::vector<int> alike;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].threw && reports[i].error.text == first->error.text) alike.push_back(ranks[i]);
  }
  if (alike.size() == reports.size()) return first->error;
  return CaughtError{first->error.kind, fmt::format("{}: {}", rank_list(alike), first->error.text)};
}

/// The first execution that all still know and in which they differ, in words; nothing: there is none.
std::optional<std::string> executed_text(std::span<const Report> reports, const std::vector<int>& ranks) {
  for (const ExecutedBefore& one : reports.front().executed) {
    std::vector<Report> there;
    bool differs = false;
    for (const Report& report : reports) {
      const auto same = std::ranges::find(report.executed, one.number, &ExecutedBefore::number);
      if (same == report.executed.end()) break;
      differs = differs || same->chain != one.chain;
      there.emplace_back().operation = same->operation;
      there.back().facts = same->facts;
    }
    if (!differs || there.size() != reports.size()) continue;
    if (const auto text = difference_text(there, ranks))
      return fmt::format("{} (execution {} of the context)", *text, one.number);
  }
  return std::nullopt;
}

/// Where the ranks have executed the same, but some more than others: the first execution of those, and the
/// check that the others came to in its place.
std::optional<std::string> more_executed_text(std::span<const Report> reports,
                                              const std::vector<int>& ranks) {
  const auto latest = [](const Report& report) {
    return report.executed.empty() ? 0 : report.executed.back().number;
  };
  std::uint64_t number = latest(reports.front()) + 1;
  for (const Report& report : reports) number = std::min(number, latest(report) + 1);
  const ValueOf call = call_of(reports);
  std::vector<Report> there;
  for (const Report& report : reports) {
    const auto same = std::ranges::find(report.executed, number, &ExecutedBefore::number);
    if (same != report.executed.end()) {
      there.emplace_back().operation = same->operation;
      continue;
    }
    if (latest(report) >= number) return std::nullopt;  // it is not known any more
    there.emplace_back().operation = call(report);
  }
  const auto text = difference_text(there, ranks);
  if (!text) return std::nullopt;
  return fmt::format("{} (execution {} of the context)", *text, number);
}

}  // namespace

std::optional<std::string> difference_text(std::span<const Report> reports, const std::vector<int>& ranks) {
  const ValueOf call = call_of(reports);
  if (!all_alike(reports, call))
    return fmt::format("the ranks called different operations: {}", values_text(reports, ranks, call));
  const std::string called = call(reports.front());
  if (!all_alike(reports, operation_of)) {
    return fmt::format("{}: the ranks called different operations: {}", called,
                       values_text(reports, ranks, operation_of));
  }
  const std::string facts = facts_text(reports, ranks);
  if (facts.empty()) return std::nullopt;
  return fmt::format("{}: the ranks disagree on {}", called, facts);
}

void throw_difference(std::span<const Report> reports, const std::vector<int>& ranks) {
  const ValueOf call = call_of(reports);
  const auto thrown = first_thrown(reports, ranks);
  auto executed = thrown ? std::nullopt : executed_text(reports, ranks);
  if (!executed && !thrown && value_of(reports.front(), executed_before) != "nothing")
    executed = more_executed_text(reports, ranks);
  if (executed) throw DisagreementError(*executed);  // long before what they are in now
  std::vector<Report> in_it;
  std::ranges::remove_copy_if(reports, std::back_inserter(in_it), &Report::refused);
  if (!in_it.empty() && !all_alike(in_it, call)) {
    // Who threw is in no other step of the call.
    throw DisagreementError(fmt::format("the ranks called different operations: {}{}{}",
                                        values_text(reports, ranks, call), thrown ? "; " : "",
                                        thrown ? thrown->text : ""));
  }
  if (thrown) throw_error(thrown->kind, thrown->text);
  const std::optional<std::string> text = difference_text(reports, ranks);
  invariant(text.has_value(), "{}: the ranks' hashes differ and their values do not",
            reports.front().operation);
  throw DisagreementError(*text);
}

}  // namespace partita::runtime
