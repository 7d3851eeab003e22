#include "kernels/host/merge.hpp"

#include <algorithm>
#include <numeric>
#include <partita/merge.hpp>

#include "base/check.hpp"

namespace partita {

void merge_runs(const View& values, std::span<const std::int64_t> counts) {
  check(values.extents.size() == 1, "merge_runs: expected a view of one dimension");
  check(values.space == MemorySpace::host, "merge_runs: expected a view of host memory");
  check(values.extents[0] < 2 || values.strides[0] == 1, "merge_runs: expected a dense view");
  check(!values.read_only, "merge_runs: the view is read-only");
  const bool negative =
      std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count < 0; });
  check(!negative && std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == values.extents[0],
        "merge_runs: the counts do not add up to the extent of the view");
  kernels::merge_runs(values.dtype, values.data, counts);
}

}  // namespace partita
