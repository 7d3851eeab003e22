// Calls as bytes that go from rank to rank.
#pragma once

#include "collectives/call.hpp"

namespace partita::collective {

/// Where the parts of ranks lie that stand one after the other: `bytes` each or, with counts, as many items
/// of `bytes` as they say.
std::vector<Parcel> in_a_row(int ranks, std::int64_t bytes, std::span<const std::int64_t> counts = {});

/// Of one index of dimension 0, which must be there.
std::int64_t bytes_of_row(const View& view);

/// The same for every rank.
std::vector<Parcel> for_each_rank(int ranks, std::int64_t bytes);

}  // namespace partita::collective
