#include "execute/axis_runs.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "execute/lower.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

std::int64_t position(const PartAxis& part, std::int64_t p) {
  return part.set == part.owned ? p : part.owned->position(part.set->at(p));
}

// Positions grow by at least one from element to element, so those of [p, p + count) are adjacent exactly
// where the last one is count - 1 further than the first.
bool adjacent(std::span<const PartAxis> parts, std::int64_t p, std::int64_t count) {
  return std::ranges::all_of(parts, [&](const PartAxis& part) {
    return part.set == nullptr || position(part, p + count - 1) - position(part, p) == count - 1;
  });
}

// The most elements from p on whose positions are adjacent in all parts, by doubling and halving.
std::int64_t adjacent_from(std::span<const PartAxis> parts, std::int64_t p, std::int64_t size) {
  if (adjacent(parts, p, size - p)) return size - p;
  std::int64_t good = 1;
  std::int64_t bad = 2;
  while (adjacent(parts, p, bad)) {
    good = bad;
    bad = std::min(2 * bad, size - p);
  }
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (adjacent(parts, p, middle) ? good : bad) = middle;
  }
  return good;
}

// Elements from p on that are evenly spaced in all parts, with more than one position between them somewhere.
std::int64_t even_from(std::span<const PartAxis> parts, std::int64_t p, std::int64_t size) {
  std::int64_t count = std::min<std::int64_t>(2, size - p);
  const auto goes_on = [&](const PartAxis& part) {
    const std::int64_t step = part.offset(p + 1) - part.offset(p);
    return part.offset(p + count) == part.offset(p) + count * step;
  };
  while (p + count < size && std::ranges::all_of(parts, goes_on)) ++count;
  return count;
}

AxisRun run_of(std::span<const PartAxis> parts, std::int64_t first, std::int64_t count) {
  AxisRun run{first, count, {}, {}};
  for (std::size_t x = 0; x < parts.size(); ++x) {
    run.offset[x] = parts[x].offset(first);
    run.step[x] = count > 1 ? parts[x].offset(first + 1) - run.offset[x] : parts[x].stride;
  }
  return run;
}

}  // namespace

std::int64_t PartAxis::offset(std::int64_t p) const {
  return set == nullptr ? 0 : stride * position(*this, p);
}

std::vector<AxisRun> axis_runs(std::span<const PartAxis> parts, std::int64_t size) {
  std::vector<AxisRun> runs;
  for (std::int64_t p = 0; p < size;) {
    std::int64_t count = adjacent_from(parts, p, size);
    // Two elements may be evenly spaced by chance, at the end of one run and the start of the next.
    if (count == 1) {
      const std::int64_t even = even_from(parts, p, size);
      count = even > 2 || p + even == size ? even : 1;
    }
    runs.push_back(run_of(parts, p, count));
    p += count;
  }
  return runs;
}

BoundPart::BoundPart(const Part& part, const WorkBinding& binding, std::optional<Dtype> dtype)
    : place_(part.place),
      region_(part.region),
      dtype_(dtype.value_or(planning::dtype_at(binding.plan, part.place))) {
  Side side = side_of(binding.plan, part.place, part.region,
                      binding.strides[static_cast<std::size_t>(part.place.buffer)], 1);
  owned_ = region_.empty() ? region_ : std::move(side.owned);
  strides_ = side.byte_strides;
  invariant(owned_.sets.size() == region_.sets.size() || region_.empty(),
            "a part with {} dimensions in an array with {}", region_.sets.size(), owned_.sets.size());
}

BoundPart& BoundPart::transpose() {
  const std::size_t last = region_.sets.size() - 1;
  std::swap(region_.sets[last - 1], region_.sets[last]);
  std::swap(owned_.sets[last - 1], owned_.sets[last]);
  std::swap(strides_[static_cast<int>(last) - 1], strides_[static_cast<int>(last)]);
  return *this;
}

std::int64_t BoundPart::extent(int dimension) const {
  return region_.sets[static_cast<std::size_t>(dimension)].size();
}

PartAxis BoundPart::axis(int dimension) const {
  const auto d = static_cast<std::size_t>(dimension);
  const bool whole = region_.sets[d] == owned_.sets[d];
  return {&region_.sets[d], whole ? &region_.sets[d] : &owned_.sets[d], strides_[dimension]};
}

std::optional<AxisRun> BoundPart::even_axis(int dimension) const {
  const std::vector<AxisRun> runs = axis_runs(std::array{axis(dimension)}, extent(dimension));
  return runs.size() == 1 ? std::optional(runs.front()) : std::nullopt;
}

}  // namespace partita::execution
