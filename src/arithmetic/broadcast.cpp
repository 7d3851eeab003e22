#include "arithmetic/broadcast.hpp"

#include <algorithm>
#include <partita/redistribute.hpp>

#include "base/check.hpp"

namespace partita::arithmetic {
namespace {

/// Of an operand's dimension: the set that it has along it, next to the set that the result has.
bool is_there(const IndexSet& held, const IndexSet& read) {
  if (held == read) return true;
  return held.is_range() && !held.empty() && held.front() <= read.front() && read.back() <= held.back();
}

bool suits_on(const Layout& operand, const Layout& result, int rank) {
  const Region part = result.region(rank);
  if (part.empty()) return true;
  const Region held = operand.region(rank);
  if (held.empty()) return false;
  const int skipped = result.dimensions() - operand.dimensions();
  for (int i = 0, d = skipped; i < operand.dimensions(); ++i, ++d) {
    const bool repeated = operand.shape()[i] == 1;
    const IndexSet read = repeated ? IndexSet::range(0, 1) : part.sets[static_cast<std::size_t>(d)];
    if (!is_there(held.sets[static_cast<std::size_t>(i)], read)) return false;
  }
  return true;
}

}  // namespace

Shape broadcast(std::string_view operation, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const int skipped = longer.size() - shorter.size();
  for (int i = 0; i < shorter.size(); ++i) {
    std::int64_t& extent = result[i + skipped];
    check(
        extent == shorter[i] || extent == 1 || shorter[i] == 1,
        "{}: the shapes {} and {} cannot be broadcast: along each dimension, counted from the last, extents "
        "must be equal or one of them 1",
        operation, to_string(a), to_string(b));
    if (extent == 1) extent = shorter[i];
  }
  return result;
}

bool suits(const Layout& operand, const Layout& result) {
  if (operand == result) return true;
  for (int rank = 0; rank < result.ranks(); ++rank) {
    if (!suits_on(operand, result, rank)) return false;
  }
  return true;
}

Array readable(const Array& operand, const Array& array) {
  return suits(operand.layout(), array.layout()) ? operand : redistribute(operand, Replicated{});
}

std::vector<Step> steps_of(const Layout& operand, const Strides& strides, const Layout& result, int rank) {
  std::vector<Step> steps(static_cast<std::size_t>(result.dimensions()));
  const Region part = result.region(rank), held = operand.region(rank);
  const int skipped = result.dimensions() - operand.dimensions();
  for (int i = 0, d = skipped; i < operand.dimensions(); ++i, ++d) {
    if (operand.shape()[i] == 1) continue;  // the same all along
    const auto place = static_cast<std::size_t>(d);
    const IndexSet& set = held.sets[static_cast<std::size_t>(i)];
    const bool same = set == part.sets[place];
    steps[place] = {strides[i], !same, same ? 0 : set.front()};
  }
  return steps;
}

}  // namespace partita::arithmetic
