#include "runtime/checks/difference.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

#include "base/check.hpp"
#include "runtime/checks/rank_list.hpp"

namespace partita::runtime {

namespace {

using ValueOf = std::function<std::string(const Report&)>;

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

std::string facts_text(std::span<const Report> reports, const std::vector<int>& ranks) {
  std::vector<std::string> names;
  for (const Report& report : reports) {
    for (const Fact& fact : report.facts) {
      if (std::find(names.begin(), names.end(), fact.name) == names.end()) names.push_back(fact.name);
    }
  }
  std::string text;
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

}  // namespace

std::optional<std::string> difference_text(std::span<const Report> reports, const std::vector<int>& ranks) {
  const ValueOf operation = [](const Report& report) { return report.operation; };
  if (!all_alike(reports, operation)) {
    return fmt::format("the ranks called different operations: {}", values_text(reports, ranks, operation));
  }
  const std::string facts = facts_text(reports, ranks);
  if (facts.empty()) return std::nullopt;
  return fmt::format("{}: the ranks disagree on {}", reports.front().operation, facts);
}

void throw_difference(std::span<const Report> reports, const std::vector<int>& ranks) {
  const ValueOf operation = [](const Report& report) { return report.operation; };
  const auto thrown = first_thrown(reports, ranks);
  const auto executed = thrown ? std::nullopt : executed_text(reports, ranks);
  if (executed) throw DisagreementError(*executed);  // long before what they are in now
  std::vector<Report> in_it;
  std::ranges::remove_copy_if(reports, std::back_inserter(in_it), &Report::refused);
  if (!in_it.empty() && !all_alike(in_it, operation)) {
    // Who threw is in no other step of the call.
    throw DisagreementError(fmt::format("the ranks called different operations: {}{}{}",
                                        values_text(reports, ranks, operation), thrown ? "; " : "",
                                        thrown ? thrown->text : ""));
  }
  if (thrown) throw_error(thrown->kind, thrown->text);
  const std::optional<std::string> text = difference_text(reports, ranks);
  invariant(text.has_value(), "{}: the ranks' hashes differ and their values do not",
            reports.front().operation);
  throw DisagreementError(*text);
}

}  // namespace partita::runtime
