// Calls as bytes that go from rank to rank.
#pragma once

#include "collectives/call.hpp"

namespace partita::collective {

/// Where the parts of ranks lie that stand one after the other: `bytes` each or, with counts, as many items
/// of `bytes` as they say.
std::vector<ByteRange> in_a_row(int ranks, std::int64_t bytes, std::span<const std::int64_t> counts = {});

/// Of one index of dimension 0, which must be there.
std::int64_t bytes_of_row(const View& view);

/// The same for every rank.
std::vector<ByteRange> for_each_rank(int ranks, std::int64_t bytes);

/// Slices of so many bytes, one a rank, some of them empty; of multiples of every element's size. `but`: a
/// rank that gets none.
std::vector<ByteRange> in_slices(int ranks, std::int64_t bytes, int but = -1);

/// Whether an exchange in which every rank's bytes go to all the others is over sooner in two rounds, by
/// slices, of which fewer bytes travel. As measured (docs/performance.md).
bool prefers_slices(int ranks, std::int64_t bytes);

}  // namespace partita::collective
