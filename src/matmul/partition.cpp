#include "matmul/partition.hpp"

#include <algorithm>

#include "redistribute/split.hpp"

namespace partita::multiplication {
namespace {

std::int64_t total(const Partition& pieces) {
  std::int64_t sum = 0;
  for (const IndexSet& piece : pieces) sum += piece.size();
  return sum;
}

Partition cut_at_sides(const IndexSet& whole, const std::vector<IndexSet>& sets) {
  std::vector<std::int64_t> cuts;
  for (const IndexSet& set : sets) {
    cuts.push_back(whole.position(set.front()));
    cuts.push_back(whole.position(set.back()) + 1);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  Partition result;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    result.push_back(redistribution::slice(whole, cuts[i - 1], cuts[i]));
  }
  return result;
}

}  // namespace

Partition partition(const IndexSet& whole, std::vector<IndexSet> sets) {
  std::erase_if(sets, [](const IndexSet& set) { return set.empty(); });
  std::stable_sort(sets.begin(), sets.end(), [](const IndexSet& a, const IndexSet& b) {
    return a.front() != b.front() ? a.front() < b.front() : a.size() < b.size();
  });
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (total(sets) == whole.size()) return sets;
  return cut_at_sides(whole, sets);
}

Partition refine(const Partition& a, const Partition& b) {
  if (a.size() == 1) return b;
  if (b.size() == 1 || a == b) return a;
  Partition result;
  for (const IndexSet& x : a) {
    for (const IndexSet& y : b) {
      if (x.back() < y.front() || y.back() < x.front()) continue;
      IndexSet common = intersect(x, y);
      if (!common.empty()) result.push_back(std::move(common));
    }
  }
  std::ranges::sort(result, {}, &IndexSet::front);
  return result;
}

Partition chop(const Partition& pieces, std::int64_t most) {
  Partition result;
  for (const IndexSet& piece : pieces) {
    const std::int64_t count = (piece.size() + most - 1) / most;
    if (count == 1) {
      result.push_back(piece);
      continue;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      result.push_back(
          redistribution::slice(piece, piece.size() * i / count, piece.size() * (i + 1) / count));
    }
  }
  return result;
}

}  // namespace partita::multiplication
