// In which order what peers put into this rank's array arrives.
#pragma once

#include <vector>

#include "fft/scheme.hpp"

namespace partita::fourier {

/// The indices along `axis`, in groups that arrive one after the other.
struct Groups {
  int axis = 0;
  std::vector<IndexSet> indices;  ///< one or none: all at once

  bool several() const { return indices.size() > 1; }
  std::vector<double> shares() const;  ///< of the groups; 1 where all comes at once
};

/// The groups in which data that `stage` stores along `stored` arrives, if `next` can begin with one group
/// while the others are in transit: several if that is worth the launches. Along the contiguous axis, if both
/// stages divide it alike. The first group is as large as the data stored while the other axes of the stage
/// are transformed.
Groups groups_of(const Problem& problem, const Stage& stage, int stored, const Stage& next);

/// Likewise of what `stage` makes and copy engines put into its owners' memory: a share of each owner's
/// indices along the slowest axis in memory that `next` does not transform, so that rows are copied whole.
/// Where `stage` does not transform it either, what is copied follows what is transformed, group by group.
Groups copied_groups_of(const Problem& problem, const Stage& stage, const Stage& next);

}  // namespace partita::fourier
