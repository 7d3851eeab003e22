#include "fft/through_cache.hpp"

#include <algorithm>
#include <tuple>

#include "fft/chunks.hpp"

namespace partita::fourier {
namespace {

// A chunk stays in the second-level cache while it is gathered, transformed and stored.
constexpr std::int64_t chunk_bytes = std::int64_t{256} << 10;
// Of each line's neighbours a chunk takes at least so many bytes, so that what is fetched is used.
constexpr std::int64_t shortest_run = 128;

std::vector<int> distinct(std::vector<int> ranks, int without) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::erase(ranks, without);
  return ranks;
}

// The dimensions of a packed chunk, slowest first: those along which the owners of the array differ, so that
// what comes from one owner lies together; then as in the array's memory.
Extents packed_order(const Operand& array, const Stage& stage) {
  const Region theirs = array.layout.region(0);
  Extents order;
  const auto is_cut = [&](std::int64_t axis) {
    const bool transformed = contains(stage.axes, axis);
    return transformed &&
           theirs.sets[static_cast<std::size_t>(axis)].size() != array.layout.shape()[static_cast<int>(axis)];
  };
  for (const bool cut : {true, false}) {
    for (const std::int64_t axis : array.axis_order) {
      if (is_cut(axis) == cut) order.push_back(axis);
    }
  }
  return order;
}

}  // namespace

ThroughCache::ThroughCache(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                           int to, const std::optional<Twiddle>& twiddle)
    : steps_(steps), problem_(problem), stage_(stage), last_(last), twiddle_(twiddle), from_(from), to_(to) {
  const Operand source = steps.operand(from);  // copies: scratch adds buffers
  const Operand target = steps.operand(to);
  packed_order_ = packed_order(source, stage);
  const int rank = steps.rank();
  packed_ = {steps.scratch("lines", source.dtype, 0), rank, 0, packed_order_};
  packed_real_ = packed_;
  if (source.dtype != target.dtype) {
    packed_real_.buffer = steps.scratch("transformed lines", target.dtype, 0);
  }
  givers_ = others(source.layout, stage.before.region(rank));
  takers_ = others(stage.before, source.layout.region(rank));
  receivers_ = others(target.layout, stage.after.region(rank));
  pushers_ = others(stage.after, target.layout.region(rank));
}

// Judged by rank 0, which owns most.
std::int64_t ThroughCache::steps_needed(const Operand& from, const Stage& stage) {
  const std::int64_t item = size_of(from.dtype);
  std::int64_t line = 1;
  for (const int axis : stage.axes) line *= stage.before.shape()[axis];
  const std::int64_t chunk = std::max(chunk_bytes / item, line * (shortest_run / item));
  const auto owners = static_cast<std::int64_t>(from.layout.cells(stage.before.region(0)).size());
  return (stage.before.largest_local_size() / chunk + 1) * (owners + 1);
}

std::vector<int> ThroughCache::others(const Layout& layout, const Region& region) const {
  std::vector<int> ranks;
  if (region.empty() || layout.region(steps_.rank()) == region) return ranks;
  for (const Layout::Cell& cell : layout.cells(region)) ranks.push_back(cell.contributions.front().front());
  return distinct(std::move(ranks), steps_.rank());
}

void ThroughCache::run() {
  open();
  const Operand& array = steps_.operand(from_);
  const std::int64_t item = size_of(array.dtype);
  for (Region& chunk : chunks(stage_.before.region(steps_.rank()), stage_.axes, array.axis_order,
                              chunk_bytes / item, shortest_run / item)) {
    Lines lines{std::move(chunk), {}};
    lines.after = transformed(problem_, stage_, lines.before);
    gather(lines);
    compute(lines);
    store(lines);
  }
  close();
}

// Nobody waits before all its peers have been told that they may start.
void ThroughCache::open() {
  for (const int peer : takers_) steps_.signal(peer, ready);
  steps_.settle();  // who still reads what is written now has been promised its values
  if (to_ != from_) {
    for (const int peer : pushers_) steps_.signal(peer, grant);
  }
  for (const int peer : givers_) steps_.wait(peer, ready);
  if (to_ == from_) return;
  for (const int peer : receivers_) steps_.wait(peer, grant);
}

// From the neighbour on, round the ring: no owner is read by all at once.
void ThroughCache::gather(const Lines& lines) {
  const Layout& layout = steps_.operand(from_).layout;
  const int ranks = layout.ranks();
  std::vector<Layout::Cell> cells = layout.cells(lines.before);
  const auto distance = [&](const Layout::Cell& cell) {
    return (cell.contributions.front().front() - steps_.rank() + ranks) % ranks;
  };
  std::stable_sort(cells.begin(), cells.end(),
                   [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  const std::int64_t item = size_of(steps_.operand(from_).dtype);
  for (const Layout::Cell& cell : cells) {
    const bool local = givers_.empty();
    const int owner = local ? steps_.rank() : cell.contributions.front().front();
    for (Run& run : packed_runs(cell.region, lines.before, packed_order_)) {
      Place to = packed_;
      to.offset = run.position * item;
      steps_.copy(owner, std::move(run.region), {from_, owner, 0, {}}, to);
    }
  }
  steps_.scratch("lines", steps_.operand(from_).dtype, lines.before.size() * item);
}

void ThroughCache::compute(const Lines& lines) {
  for (Work& work : transforms(problem_, stage_, last_, lines.before, packed_, packed_real_, packed_)) {
    steps_.compute(std::move(work));
  }
  if (twiddle_) {
    twiddle_->part = {lines.after, packed_real_};
    steps_.compute(*twiddle_);
  }
  if (packed_real_.buffer == packed_.buffer) return;
  const Dtype dtype = steps_.operand(to_).dtype;
  steps_.scratch("transformed lines", dtype, lines.after.size() * size_of(dtype));
}

void ThroughCache::store(const Lines& lines) {
  const Operand& array = steps_.operand(to_);
  const std::int64_t item = size_of(array.dtype);
  const bool local = receivers_.empty();
  for (const Layout::Cell& cell : array.layout.cells(lines.after)) {
    const int owner = local ? steps_.rank() : cell.contributions.front().front();
    for (Run& run : packed_runs(cell.region, lines.after, packed_order_)) {
      Place from = packed_real_;
      from.offset = run.position * item;
      steps_.copy(owner, std::move(run.region), from, {to_, owner, 0, {}});
    }
  }
}

// Whoever wrote into this rank's memory, or reads it, says when it has finished; the walk waits for that
// before it relies on it.
void ThroughCache::close() {
  if (to_ != from_) {
    for (const int peer : givers_) steps_.signal(peer, done);
    for (const int peer : takers_) steps_.expect(peer, done);
  }
  for (const int peer : receivers_) steps_.signal(peer, written);
  for (const int peer : pushers_) steps_.expect(peer, written);
}

}  // namespace partita::fourier
