#include "distribution/cut.hpp"

#include <algorithm>

#include "base/round.hpp"

namespace partita::distribution {
namespace {

/// A longer block changes nothing, and its multiples could overflow.
std::int64_t useful_block(std::int64_t block, std::int64_t extent) {
  return std::max<std::int64_t>(1, std::min(block, extent));
}

}  // namespace

Cut Cut::balanced(std::int64_t extent, std::int64_t parts) {
  return {Kind::balanced, extent, parts, 1, 0, 0, extent};
}

Cut Cut::blocks(std::int64_t extent, std::int64_t parts, std::int64_t block, std::int64_t first) {
  return {Kind::blocks, extent, parts, useful_block(block, extent), first, 0, extent};
}

Cut Cut::ceil(std::int64_t extent, std::int64_t parts, std::int64_t first) {
  return blocks(extent, parts, ceil_divide(extent, parts), first);
}

Cut Cut::cyclic(std::int64_t extent, std::int64_t parts, std::int64_t block, std::int64_t first) {
  return {Kind::cyclic, extent, parts, useful_block(block, extent), first, 0, extent};
}

Cut Cut::window(std::int64_t lower_, std::int64_t length_) const {
  Cut cut = *this;
  cut.lower += lower_;
  cut.length = length_;
  return cut;
}

// W(c) = (S(c) intersected with [lower, lower + length)) - lower
IndexSet Cut::set(std::int64_t coordinate) const {
  if (length == extent) return whole_set(coordinate);
  return intersect(whole_set(coordinate), IndexSet::range(lower, lower + length)).shifted(-lower);
}

IndexSet Cut::whole_set(std::int64_t coordinate) const {
  if (kind == Kind::balanced) {
    const std::int64_t quotient = extent / parts;
    const std::int64_t remainder = extent % parts;
    const std::int64_t begin = coordinate * quotient + std::min(coordinate, remainder);
    return IndexSet::range(begin, begin + quotient + (coordinate < remainder ? 1 : 0));
  }
  const std::int64_t turn = (coordinate - first + parts) % parts;
  if (turn >= ceil_divide(extent, block)) return {};
  if (kind == Kind::blocks)
    return IndexSet::range(turn * block, turn * block + std::min(block, extent - turn * block));
  std::int64_t period = 0;
  if (__builtin_mul_overflow(parts, block, &period)) period = extent;
  return IndexSet::cyclic(turn * block, block, period, extent);
}

/// The number of the part that holds the index when parts (or blocks) are counted from index 0.
std::int64_t Cut::block_of(std::int64_t whole_index) const {
  if (kind != Kind::balanced) return whole_index / block;
  const std::int64_t quotient = extent / parts;
  const std::int64_t remainder = extent % parts;
  const std::int64_t in_longer = remainder * (quotient + 1);
  return whole_index < in_longer ? whole_index / (quotient + 1)
                                 : remainder + (whole_index - in_longer) / quotient;
}

std::int64_t Cut::owner(std::int64_t index) const {
  return (block_of(index + lower) + first) % parts;
}

std::int64_t Cut::largest() const {
  if (length == extent) return whole_set(first).size();
  std::int64_t most = 0;
  for (const std::int64_t coordinate : candidates(0, length - 1))
    most = std::max(most, set(coordinate).size());
  return most;
}

std::vector<std::int64_t> Cut::candidates(std::int64_t front, std::int64_t back) const {
  std::vector<std::int64_t> coordinates;
  back = std::min(back, length - 1);
  if (front > back) return coordinates;
  const std::int64_t begin = block_of(front + lower);
  const std::int64_t count = std::min(parts, block_of(back + lower) - begin + 1);
  for (std::int64_t i = 0; i < count; ++i) coordinates.push_back((begin + first + i) % parts);
  std::sort(coordinates.begin(), coordinates.end());
  return coordinates;
}

}  // namespace partita::distribution
