// An array that changes hands while it is transformed: the last transform of a stage stores its results in
// the memory of their owners.
#pragma once

#include <optional>
#include <vector>

#include "fft/scheme.hpp"
#include "fft/steps.hpp"

namespace partita::fourier {

/// The axis of the stage along which what goes into layout `to` can be transformed last and stored where it
/// belongs: of those that lie there for it the slowest in memory, so that the other transforms are along
/// neighbours. Nothing: it has to be copied. The same on every rank.
std::optional<int> stored_axis(const Problem& problem, const Stage& stage, const Layout& to);

/// Whether what is stored by `stage` in arrays of layout `to` goes in whole words of 16 bytes. The kernel
/// moves single numbers elsewhere, which takes longer than copies do (docs/performance.md).
bool stores_whole_words(const Problem& problem, const Stage& stage, const Layout& to);

/// Whether a stage consists of lines that the kernel transforms.
bool is_of_kernel(const Problem& problem, const Stage& stage);

/// Rows of an array between stages, which are whole on every rank, with room behind them, so that they begin
/// at multiples of 128 bytes; the layout itself where they fill pieces of 32 bytes anyway, as links and
/// memory move them. Half spectra have an odd number of elements a row.
Layout with_room_in_rows(const Problem& problem, const Layout& layout, Dtype dtype);

/// The indices along `axis`, in groups that arrive one after the other.
struct Groups {
  int axis = 0;
  std::vector<IndexSet> indices;  ///< one or none: all at once

  bool several() const { return indices.size() > 1; }
  double first_share() const;  ///< that of the first group; 1 where all comes at once
};

/// Of what stands between two stages.
Dtype dtype_between(const Problem& problem);

/// How what `stage` stores along `stored` arrives, where `next` can begin with one group while the others are
/// on their way: several where that is worth the launches, and takes less than parts that stay in cache until
/// all of them is stored. The first group is as large as what is stored while the other axes of the stage are
/// transformed.
Groups groups_of(const Problem& problem, const Stage& stage, int stored, const Stage& next);

/// What peers store in this rank's memory and nobody has waited for yet; nothing where it came all at once.
struct Arrivals {
  Groups groups;
  std::vector<int> givers;
};
/// Waits for one group, of which the elements of a region are left.
Region await_group(Steps& steps, const Arrivals& arrivals, std::size_t group, const Region& region);
void await_all(Steps& steps, const Arrivals& arrivals);

/// A stage on its way from one buffer to its owners. The axes but `stored` are transformed first, into buffer
/// `between`, which may be `from`; where there is none, part by part into memory that stays in cache until
/// they are stored, which must be in one group.
struct StoredStage {
  const Stage& stage;
  bool last = false;
  int stored = 0;
  int from = 0;
  std::optional<int> between = {};
};

/// Into buffer `to`, in the memory of peers, too: part by part, so that one part's results are on their way
/// while the other axes of the next are transformed, or group by group as `arriving` comes. Gives what is on
/// its way to this rank, in `groups`.
Arrivals transform_into_owners(Steps& steps, const Problem& problem, const StoredStage& what,
                               const Arrivals& arriving, int to, const Groups& groups);

/// A stage of one axis by the kernel, from one buffer to another, or in place: this rank's part.
void transform_by_kernel(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                         int to);
/// The same where the input arrives in groups.
void transform_arriving(Steps& steps, const Problem& problem, const Stage& stage, bool last,
                        const Arrivals& arriving, int from, int to);

}  // namespace partita::fourier
