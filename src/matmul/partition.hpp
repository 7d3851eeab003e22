// Cutting one dimension so that each piece lies with one owner.
#pragma once

#include <partita/index_set.hpp>
#include <vector>

namespace partita::multiplication {

/// Disjoint sets, none empty, by increasing front.
using Partition = std::vector<IndexSet>;

/// The coarsest partition of `whole` such that each of `sets`, which cover it, is a union of pieces. The sets
/// are either equal or disjoint in pairs (the parts of a grid along one dimension), or each is a range of
/// positions in `whole` (the sides of boxes).
Partition partition(const IndexSet& whole, std::vector<IndexSet> sets);

/// All non-empty intersections.
Partition refine(const Partition& a, const Partition& b);

/// Each piece cut evenly into as few as have at most `most` elements.
Partition chop(const Partition& pieces, std::int64_t most);

}  // namespace partita::multiplication
