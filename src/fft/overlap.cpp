#include "fft/overlap.hpp"

#include <algorithm>

#include "fft/layouts.hpp"

namespace partita::fourier {
namespace {

// What is not overlapped is the first part's transform and the last part's messages, so that more than a few
// parts gain little; but small ones are still in cache where they are packed. Hence few parts where that
// makes messages shorter than they would be, and many where it does not.
constexpr std::int64_t few_parts = 8;
constexpr std::int64_t most_parts = 64;
constexpr std::int64_t shortest_message = std::int64_t{256} << 10;
constexpr std::int64_t longest_message = std::int64_t{1} << 20;
// Where the caller bounds the scratch, messages are that much shorter than the bound anyway.
constexpr std::int64_t messages_in_scratch = 16;

std::int64_t parts_for(std::int64_t transfer, std::int64_t scratch_bytes) {
  const std::int64_t bound =
      scratch_bytes > 0 ? std::max<std::int64_t>(scratch_bytes / messages_in_scratch, 1) : longest_message;
  const std::int64_t few = std::min(few_parts, transfer / std::min(bound, shortest_message));
  return std::clamp(transfer / std::min(bound, longest_message), few, most_parts);
}

/// The slowest axis in memory that is long enough, so that parts lie together; else the longest.
int axis_to_cut(const Region& own, const Extents& slowest_first, const std::vector<int>& axes,
                std::int64_t parts) {
  int longest = -1;
  std::int64_t most = 0;
  for (const std::int64_t axis : slowest_first) {
    if (contains(axes, axis)) continue;
    const std::int64_t extent = own.sets[static_cast<std::size_t>(axis)].size();
    if (extent >= parts) return static_cast<int>(axis);
    if (extent > most) {
      most = extent;
      longest = static_cast<int>(axis);
    }
  }
  return longest;
}

}  // namespace

// Judged by rank 0, which owns most.
redistribution::Parts parts_of(const Problem& problem, const Layout& from, Dtype dtype,
                               const std::vector<int>& axes, const Layout& to) {
  const Region own = from.region(0);
  if (own.empty() || on_one_node(problem.topology) || same(from, to)) return {};
  const auto takers = static_cast<std::int64_t>(to.cells(own).size());
  const std::int64_t transfer = own.size() * size_of(dtype) / std::max<std::int64_t>(takers, 1);
  const std::int64_t wanted = parts_for(transfer, problem.options.scratch_bytes);
  const int axis = axis_to_cut(own, problem.input.axis_order, axes, wanted);
  if (axis < 0) return {};
  const std::int64_t parts = std::min(wanted, own.sets[static_cast<std::size_t>(axis)].size());
  return parts < 2 ? redistribution::Parts{} : redistribution::Parts{axis, static_cast<int>(parts)};
}

}  // namespace partita::fourier
