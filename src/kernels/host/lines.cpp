#include "kernels/host/lines.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace partita::kernels {
namespace {

std::int64_t steps(const FftwLoop& loop) {
  return std::max(std::abs(loop.from_stride), std::abs(loop.to_stride));
}

/// Loops that go on where another one ends become one with it; the smallest steps come last.
std::vector<FftwLoop> merged(std::vector<FftwLoop> loops) {
  std::erase_if(loops, [](const FftwLoop& loop) { return loop.count == 1; });
  std::ranges::sort(loops, std::greater{}, steps);
  for (std::size_t i = loops.size(); i-- > 1;) {
    FftwLoop& outer = loops[i - 1];
    const FftwLoop& inner = loops[i];
    const bool goes_on = outer.from_stride == inner.count * inner.from_stride &&
                         outer.to_stride == inner.count * inner.to_stride;
    if (!goes_on) continue;
    outer = {outer.count * inner.count, inner.from_stride, inner.to_stride};
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return loops;
}

bool same_steps(const FftwLoop& loop) {
  return loop.from_stride == loop.to_stride;
}

}  // namespace

LineBlocks::LineBlocks(std::vector<FftwLoop> batch) : outer_(merged(std::move(batch))) {
  if (outer_.empty()) return;
  along_ = outer_.back();
  outer_.pop_back();
}

bool LineBlocks::stays() const {
  return same_steps(along_) && std::ranges::all_of(outer_, same_steps);
}

std::int64_t LineBlocks::lines() const {
  std::int64_t count = along_.count;
  for (const FftwLoop& loop : outer_) count *= loop.count;
  return count;
}

}  // namespace partita::kernels
