#include <algorithm>
#include <functional>
#include <memory>
#include <partita/verify_numbers.hpp>

#include "base/check.hpp"
#include "plan/verify/numeric_execution.hpp"
#include "plan/verify/schedule.hpp"
#include "plan/verify/slots.hpp"

namespace partita {
namespace {

using namespace verification;

/// The numbers of ranks that hold the same.
struct HeldNumbers {
  int buffer = 0;
  Region region;
  std::vector<std::vector<int>> holders;  // by contribution, replicas
  std::vector<Numbers> given;             // by contribution
  Numbers wanted;

  Part part(int rank) const { return {region, {buffer, rank, 0, {}}}; }
};

HeldNumbers ask(const OperandNumbers& operand, const Shape& shape, const Layout::Cell& cell) {
  HeldNumbers held{operand.buffer, cell.region, cell.contributions, {}, {}};
  const std::vector<std::int64_t> elements = element_numbers(cell.region, shape);
  for (int c = 0; operand.given && c < static_cast<int>(cell.contributions.size()); ++c) {
    Numbers& numbers = held.given.emplace_back();
    for (const std::int64_t element : elements) numbers.push_back(operand.given(index_of(element, shape), c));
  }
  for (const std::int64_t element : elements) {
    if (operand.wanted) held.wanted.push_back(operand.wanted(index_of(element, shape)));
  }
  return held;
}

void put(NumericExecution& execution, const HeldNumbers& held) {
  for (std::size_t c = 0; c < held.given.size(); ++c) {
    for (const int rank : held.holders[c]) execution.store(held.part(rank), held.given[c]);
  }
}

/// What the rank holds, or, of an array of contributions, their sum.
Numbers found(const NumericExecution& execution, const HeldNumbers& held, std::size_t contribution,
              int rank) {
  Numbers sums = execution.load(held.part(rank));
  for (std::size_t c = 0; c < held.holders.size(); ++c) {
    if (c == contribution) continue;
    const Numbers more = execution.load(held.part(held.holders[c].front()));
    std::ranges::transform(sums, more, sums.begin(), std::plus());
  }
  return sums;
}

std::string text(Number number) {
  return number.imag() == 0 ? fmt::format("{}", number.real())
                            : fmt::format("{}{:+}i", number.real(), number.imag());
}

void compare(const Plans& plans, const HeldNumbers& held, int rank, const Numbers& found, Faults& faults) {
  constexpr double tolerance = 1e-9;
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = found.size(); i-- > 0;) {
    const double off = std::abs(found[i] - held.wanted[i]);
    if (off <= tolerance * (1 + std::abs(held.wanted[i]))) continue;  // NaN is not
    ++wrong;
    first = i;
  }
  if (wrong == 0) return;
  const Buffer& buffer = plans.buffer(held.buffer);
  const Shape& shape = buffer.operand->layout.shape();
  faults.add(fmt::format("rank {}: {} of {} elements of {} are wrong, first {}: {}, not {}", rank, wrong,
                         found.size(), buffer.name,
                         describe_element(element_numbers(held.region, shape)[first], shape),
                         text(found[first]), text(held.wanted[first])));
}

void check_result(const Plans& plans, const NumericExecution& execution, const HeldNumbers& held,
                  Faults& faults) {
  if (held.wanted.empty()) return;
  for (std::size_t c = 0; c < held.holders.size(); ++c) {
    for (const int rank : held.holders[c]) {
      compare(plans, held, rank, found(execution, held, c, rank), faults);
    }
  }
}

}  // namespace

Verdict verify_numbers(const Planner& planner, const std::vector<OperandNumbers>& operands,
                       const Parameters& parameters, int schedules, std::uint64_t seed) {
  std::vector<int> named;
  for (const OperandNumbers& operand : operands) {
    named.push_back(operand.buffer);
    if (operand.in_place_of >= 0) named.push_back(operand.in_place_of);
  }
  Plans plans = verification::ask(planner, named);
  std::vector<HeldNumbers> all;
  for (const OperandNumbers& operand : operands) {
    const Layout& layout = plans.buffer(operand.buffer).operand->layout;
    for (const Layout::Cell& cell : layout.cells(whole_region(layout.shape()))) {
      all.push_back(ask(operand, layout.shape(), cell));
    }
    if (operand.in_place_of < 0) continue;
    for (Plan& plan : plans.plans) {
      plan.buffers[static_cast<std::size_t>(operand.in_place_of)].view_of = operand.buffer;
    }
  }
  Faults faults;
  check_structure(plans, faults);
  if (!faults.empty()) return {faults.lines()};
  const auto make = [&](Pace pace) {
    auto execution = std::make_unique<NumericExecution>(plans, pace, faults, parameters);
    for (const HeldNumbers& held : all) put(*execution, held);
    return execution;
  };
  const auto check = [&](const NumericExecution& execution) {
    for (const HeldNumbers& held : all) check_result(plans, execution, held, faults);
  };
  run_schedules(plans.ranks(), schedules, seed, faults, make, check);
  return {faults.lines()};
}

}  // namespace partita
