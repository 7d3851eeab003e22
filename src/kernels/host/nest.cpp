// The algebra of copy nests: what may be merged, and in which order the loops run.
#include <algorithm>
#include <cstdlib>

#include "base/check.hpp"
#include "kernels/host/copy.hpp"

namespace partita::kernels {
namespace {

// Runs of at least this length use whole pages and lines on both sides in any order of the loops.
constexpr std::int64_t long_run = 1024;

// Counting a loop backwards is the same loop: make every step of the destination positive.
void make_destination_ascending(StridedCopy& nest) {
  for (CopyLoop& loop : nest.loops) {
    if (loop.to_stride >= 0) continue;
    nest.from_offset += (loop.count - 1) * loop.from_stride;
    nest.to_offset += (loop.count - 1) * loop.to_stride;
    loop.from_stride = -loop.from_stride;
    loop.to_stride = -loop.to_stride;
  }
}

// outer o inner is one loop where a step of `outer` equals a whole turn of `inner`, on both sides.
bool is_continued_by(const CopyLoop& inner, const CopyLoop& outer) {
  return outer.from_stride == inner.count * inner.from_stride &&
         outer.to_stride == inner.count * inner.to_stride;
}

bool merge_one_pair(std::vector<CopyLoop>& loops) {
  for (CopyLoop& inner : loops) {
    for (auto outer = loops.begin(); outer != loops.end(); ++outer) {
      if (&*outer == &inner || !is_continued_by(inner, *outer)) continue;
      inner.count *= outer->count;
      loops.erase(outer);
      return true;
    }
  }
  return false;
}

bool fold_one_run(StridedCopy& nest) {
  const auto run = std::find_if(nest.loops.begin(), nest.loops.end(), [&](const CopyLoop& loop) {
    return loop.from_stride == nest.item_bytes && loop.to_stride == nest.item_bytes;
  });
  if (run == nest.loops.end()) return false;
  nest.item_bytes *= run->count;
  nest.loops.erase(run);
  return true;
}

// Largest step of the destination outermost, so that it is written from its beginning to its end. Where short
// runs are closest together on the source side along another loop than on the destination side, that loop
// becomes the second innermost: the two innermost loops are then a transpose, which the kernels tile.
void order(StridedCopy& nest) {
  auto& loops = nest.loops;
  const auto step = [](const CopyLoop& loop) { return std::abs(loop.from_stride); };
  std::stable_sort(loops.begin(), loops.end(), [&](const CopyLoop& a, const CopyLoop& b) {
    return a.to_stride != b.to_stride ? a.to_stride > b.to_stride : step(a) > step(b);
  });
  if (loops.size() < 2 || nest.item_bytes >= long_run) return;
  const auto closest = std::min_element(loops.begin(), loops.end(),
                                        [&](const auto& a, const auto& b) { return step(a) < step(b); });
  if (closest == loops.end() - 1) return;
  std::rotate(closest, closest + 1, loops.end() - 1);
}

}  // namespace

StridedCopy simplify(StridedCopy nest) {
  check(nest.item_bytes >= 0, "a copy nest has an item of {} bytes", nest.item_bytes);
  std::int64_t items = nest.item_bytes;
  for (const CopyLoop& loop : nest.loops) {
    check(loop.count >= 0, "a copy nest has a loop of {} iterations", loop.count);
    items = loop.count == 0 ? 0 : items;
  }
  if (items == 0) return {};
  std::erase_if(nest.loops, [](const CopyLoop& loop) { return loop.count == 1; });
  make_destination_ascending(nest);
  while (merge_one_pair(nest.loops)) {
  }
  while (fold_one_run(nest)) {
  }
  order(nest);
  return nest;
}

std::int64_t bytes(const StridedCopy& nest) {
  std::int64_t product = nest.item_bytes;
  for (const CopyLoop& loop : nest.loops) product *= loop.count;
  return product;
}

}  // namespace partita::kernels
