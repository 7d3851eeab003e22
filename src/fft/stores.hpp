// Redistribution of an array while it is transformed, among the devices of a node: the last transform of a
// stage stores its results in the memory of their owners, or copy engines transfer them.
#pragma once

#include <optional>
#include <vector>

#include "fft/groups.hpp"
#include "fft/scheme.hpp"
#include "fft/steps.hpp"
#include "fft/storable.hpp"

namespace partita::fourier {

/// Data that peers write into this rank's memory and that has not been waited for.
struct Arrivals {
  Groups groups;
  std::vector<int> givers;
};
/// Waits for one group, of which the elements of a region are left.
Region await_group(Steps& steps, const Arrivals& arrivals, std::size_t group, const Region& region);
void await_all(Steps& steps, const Arrivals& arrivals);

/// A stage on its way from one buffer to its owners. The axes but `stored` (all of them, where nothing is
/// stored but all is copied) are transformed first, into buffer `between`, which may be `from`.
struct LeavingStage {
  const Stage& stage;
  bool last = false;
  std::optional<int> stored;
  int from = 0;
  int between = 0;
};

/// Writes to buffer `to`, also in the memory of peers: part by part, so that one part's results are in
/// transit while the other axes of the next are transformed, or group by group in the order of `arriving`;
/// peers are notified that they may begin before the data is waited for. Returns the data in transit to this
/// rank: in `groups`, or all at once if it followed those of `arriving`.
Arrivals put_into_owners(Steps& steps, const Problem& problem, const LeavingStage& what,
                         const Arrivals& arriving, int to, const Groups& groups);

/// A stage of one axis by the kernel, from one buffer to another, or in place: this rank's part.
void transform_by_kernel(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                         int to);
/// A stage whose input arrives in groups, by the kernel or not.
void transform_arriving(Steps& steps, const Problem& problem, const Stage& stage, bool last, bool by_kernel,
                        const Arrivals& arriving, int from, int to);

}  // namespace partita::fourier
