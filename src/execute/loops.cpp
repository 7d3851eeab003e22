#include "execute/loops.hpp"

#include "base/check.hpp"

namespace partita::execution {
namespace {

std::int64_t position(const Walked& walked, std::int64_t p) {
  return walked.owned.position(walked.set.at(p));
}

void check_owned(const Walked& walked) {
  if (walked.set == walked.owned) return;
  check(intersect(walked.set, walked.owned).size() == walked.set.size(),
        "a kernel needs {}, but its place contains {}", to_string(walked.set), to_string(walked.owned));
}

/// Neighbours in the set are neighbours in memory if the two ends are that far apart.
bool is_contiguous(const Walked& walked) {
  const std::int64_t size = walked.set.size();
  return walked.owned.position(walked.set.back()) - walked.owned.position(walked.set.front()) == size - 1;
}

/// The longest stretch of constant steps from the p-th element on.
kernels::FftwLoop run_from(const Walked& from, const Walked& to, std::int64_t p) {
  const std::int64_t size = from.set.size();
  kernels::FftwLoop run{1, 0, 0};
  if (p + 1 == size) return run;
  std::int64_t last_from = position(from, p + 1), last_to = position(to, p + 1);
  run = {2, last_from - position(from, p), last_to - position(to, p)};
  for (; p + run.count < size; ++run.count) {
    const std::int64_t next_from = position(from, p + run.count), next_to = position(to, p + run.count);
    if (next_from - last_from != run.from_stride || next_to - last_to != run.to_stride) break;
    last_from = next_from;
    last_to = next_to;
  }
  return run;
}

/// Whether `next` continues the blocks of `stretch`; if so, it is merged into it.
bool extend(Stretch& stretch, const Stretch& next) {
  if (stretch.loops.back() != next.loops.back()) return false;
  const std::int64_t from_step = next.from - stretch.from, to_step = next.to - stretch.to;
  if (stretch.loops.size() == 1) {
    stretch.loops.insert(stretch.loops.begin(), {2, from_step, to_step});
    return true;
  }
  kernels::FftwLoop& blocks = stretch.loops.front();
  if (from_step != blocks.count * blocks.from_stride || to_step != blocks.count * blocks.to_stride) {
    return false;
  }
  ++blocks.count;
  return true;
}

}  // namespace

Progression progression_of(const Walked& walked) {
  check_owned(walked);
  const std::int64_t size = walked.set.size();
  if (size == 0) return {};
  const std::int64_t first = position(walked, 0);
  if (is_contiguous(walked)) return {first, 1, size};
  const std::int64_t step = position(walked, 1) - first;
  bool even = true;
  for (std::int64_t p = 2; even && p < size; ++p) even = position(walked, p) == first + p * step;
  check<UnsupportedError>(even,
                          "a local transform along an axis needs equally spaced elements, but {} is "
                          "unevenly spaced in {}",
                          to_string(walked.set), to_string(walked.owned));
  return {first, step, size};
}

std::vector<Stretch> stretches_of(const Walked& from, const Walked& to) {
  check_owned(from);
  check_owned(to);
  const std::int64_t size = from.set.size();
  check(size == to.set.size(), "a kernel reads {} indices and writes {} along one dimension", size,
        to.set.size());
  if (size == 0) return {};
  if (is_contiguous(from) && is_contiguous(to)) {
    return {{position(from, 0), position(to, 0), {{size, 1, 1}}}};
  }
  std::vector<Stretch> result;
  for (std::int64_t p = 0; p < size;) {
    Stretch next{position(from, p), position(to, p), {run_from(from, to, p)}};
    p += next.loops.back().count;
    if (result.empty() || !extend(result.back(), next)) result.push_back(std::move(next));
  }
  return result;
}

}  // namespace partita::execution
