#include "redistribute/parts.hpp"

#include "redistribute/split.hpp"

namespace partita::redistribution {
namespace {

IndexSet share(const IndexSet& set, const Parts& parts, int number) {
  const auto end = [&](std::int64_t i) { return set.size() * i / parts.count; };
  return slice(set, end(number), end(number + 1));
}

// What of a overlap is in each of its giver's parts; `owned` is what the giver owns along the axis.
template <class Take>
void cut(const Overlap& overlap, const IndexSet& owned, const Parts& parts, const Take& take) {
  const auto axis = static_cast<std::size_t>(parts.axis);
  const bool whole = overlap.region.sets[axis].size() == owned.size();
  for (int i = 0; i < parts.count; ++i) {
    const IndexSet ready = share(owned, parts, i);
    Overlap part = overlap;
    part.region.sets[axis] = whole ? ready : intersect(overlap.region.sets[axis], ready);
    if (!part.region.empty()) take(static_cast<std::size_t>(i), std::move(part));
  }
}

}  // namespace

Region part_of(const Region& own, const Parts& parts, int number) {
  Region result = own;
  if (own.empty()) return result;
  const auto axis = static_cast<std::size_t>(parts.axis);
  result.sets[axis] = share(own.sets[axis], parts, number);
  return result;
}

std::vector<Exchange> in_parts(const Exchange& whole, const Problem& problem, const Parts& parts) {
  if (parts.count == 1) return {whole};
  const auto owned = [&](int giver) {
    return problem.source.layout.region(giver).sets[static_cast<std::size_t>(parts.axis)];
  };
  std::vector<Exchange> result(static_cast<std::size_t>(parts.count));
  for (const Overlap& overlap : whole.incoming) {
    cut(overlap, owned(overlap.peer), parts,
        [&](std::size_t i, Overlap part) { result[i].incoming.push_back(std::move(part)); });
  }
  const IndexSet mine = whole.outgoing.empty() ? IndexSet() : owned(problem.rank);
  for (const Overlap& overlap : whole.outgoing) {
    cut(overlap, mine, parts,
        [&](std::size_t i, Overlap part) { result[i].outgoing.push_back(std::move(part)); });
  }
  result.front().identity = whole.identity;
  return result;
}

}  // namespace partita::redistribution
