#include "kernels/host/merge.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <partita/merge.hpp>

#include "base/check.hpp"

namespace partita {
namespace {

void check_runs(const View& view) {
  check(view.extents.size() == 1, "merge_runs: expected a view of one dimension");
  check(view.space == MemorySpace::host, "merge_runs: expected a view of host memory");
  check(view.extents[0] < 2 || view.strides[0] == 1, "merge_runs: expected a dense view");
}

void check_counts(const View& values, std::span<const std::int64_t> counts) {
  const bool negative =
      std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count < 0; });
  check(!negative && std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == values.extents[0],
        "merge_runs: the counts do not add up to the extent of the view");
}

std::int64_t bytes_of(const View& view) {
  return view.extents[0] * size_of(view.dtype);
}

bool overlap(const View& a, const View& b) {
  const auto *const first = static_cast<const std::byte*>(a.data), *const second =
                                                                       static_cast<const std::byte*>(b.data);
  return first < second + bytes_of(b) && second < first + bytes_of(a);
}

}  // namespace

void merge_runs(const View& values, std::span<const std::int64_t> counts, const View& destination) {
  check_runs(values);
  check_runs(destination);
  check_counts(values, counts);
  check(!destination.read_only, "merge_runs: the destination is read-only");
  check(destination.dtype == values.dtype && destination.extents == values.extents,
        "merge_runs: the destination has {} elements of {}, the runs have {} of {}", destination.extents[0],
        name(destination.dtype), values.extents[0], name(values.dtype));
  check(!overlap(values, destination), "merge_runs: the destination overlaps the runs");
  kernels::merge_runs(values.dtype, values.data, counts, destination.data);
}

void merge_runs(const View& values, std::span<const std::int64_t> counts) {
  check_runs(values);
  check(!values.read_only, "merge_runs: the view is read-only");
  const auto bytes = static_cast<std::size_t>(bytes_of(values));
  const auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
  if (bytes > 0) std::memcpy(copy.get(), values.data, bytes);
  merge_runs(View::dense(copy.get(), values.dtype, values.extents), counts, values);
}

}  // namespace partita
