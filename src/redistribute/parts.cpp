#include "redistribute/parts.hpp"

#include <functional>

#include "redistribute/split.hpp"

namespace partita::redistribution {
namespace {

IndexSet share(const IndexSet& set, const Parts& parts, int number) {
  const auto end = [&](std::int64_t i) { return set.size() * i / parts.count; };
  return slice(set, end(number), end(number + 1));
}

std::vector<Transfer> part_of_all(const std::vector<Transfer>& transfers, const Parts& parts, int number,
                                  const std::function<IndexSet(int giver)>& owned, int rank, bool gives) {
  const auto axis = static_cast<std::size_t>(parts.axis);
  std::vector<Transfer> result;
  for (const Transfer& transfer : transfers) {
    Transfer part = transfer;
    const IndexSet ready = share(owned(gives ? rank : transfer.peer), parts, number);
    part.region.sets[axis] = intersect(part.region.sets[axis], ready);
    if (!part.region.empty()) result.push_back(std::move(part));
  }
  return result;
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
    const Region region = problem.source.layout.region(giver);
    return region.sets[static_cast<std::size_t>(parts.axis)];
  };
  std::vector<Exchange> result(static_cast<std::size_t>(parts.count));
  for (int i = 0; i < parts.count; ++i) {
    Exchange& part = result[static_cast<std::size_t>(i)];
    part.incoming = part_of_all(whole.incoming, parts, i, owned, problem.rank, false);
    part.outgoing = part_of_all(whole.outgoing, parts, i, owned, problem.rank, true);
  }
  result.front().identity = whole.identity;
  return result;
}

}  // namespace partita::redistribution
