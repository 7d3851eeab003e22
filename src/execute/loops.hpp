// From two index sets to the loops that run over both: how a kernel that reads one part and writes another
// walks along a dimension.
#pragma once

#include <partita/index_set.hpp>
#include <vector>

#include "kernels/host/fftw_library.hpp"

namespace partita::execution {

/// The positions of a set's elements along one dimension: element p of `set` is at owned.position(set.at(p)).
struct Walked {
  const IndexSet& set;
  const IndexSet& owned;
};

/// Elements first + i * step.
struct Progression {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

/// The positions as one progression; throws UnsupportedError where they are none, ArgumentError where the set
/// is not owned.
Progression progression_of(const Walked& walked);

/// A stretch along which both sides move by constant steps: one loop, or a loop over blocks and one within.
/// Strides are in positions.
struct Stretch {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::vector<kernels::FftwLoop> loops;
};

/// The whole of both sets, which are of one size, in as few stretches as steps allow.
std::vector<Stretch> stretches_of(const Walked& from, const Walked& to);

}  // namespace partita::execution
