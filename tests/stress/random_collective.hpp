#pragma once

#include "stress/collective_call.hpp"
#include "support/models/random_layouts.hpp"

namespace partita::testing {

/// Mostly small ones; a tenth is of thousands of rows.
inline CollectiveCall random_collective(RandomLayouts& random, int ranks) {
  CollectiveCall call;
  call.kind = static_cast<CollectiveCall::Kind>(random.number(0, CollectiveCall::kinds - 1));
  call.ranks = ranks;
  do {
    call.dtype = static_cast<Dtype>(random.number(0, dtype_count - 1));
  } while (!is_defined(Reduction::sum, call.dtype));
  const int most = random.maybe(0.1) ? 9000 : 12;
  call.uneven = call.kind == CollectiveCall::Kind::all_to_all_v ||
                (call.kind >= CollectiveCall::Kind::gather && call.kind < CollectiveCall::Kind::all_to_all &&
                 random.maybe());
  for (int rank = 0; rank < ranks; ++rank) {
    const bool alike = rank > 0 && !call.uneven;
    call.counts.push_back(alike ? call.counts[0] : random.maybe(0.1) ? 0 : random.number(1, most));
  }
  for (int d = random.number(0, 2); d > 0; --d) call.rest.push_back(random.number(1, 5));
  const std::vector<Reduction> reductions = reductions_of(call.dtype);
  call.options.reduction =
      reductions[static_cast<std::size_t>(random.number(0, static_cast<int>(reductions.size()) - 1))];
  call.options.deterministic = random.maybe(0.2);
  // The identities of the widest whole numbers are no double, which the model counts in.
  const bool wide = call.dtype == Dtype::i64 || call.dtype == Dtype::u64;
  call.scanned = random.maybe(0.3) && !wide ? Scan::exclusive : Scan::inclusive;
  call.root = random.number(0, ranks - 1);
  return call;
}

}  // namespace partita::testing
