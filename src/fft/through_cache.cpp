#include "fft/through_cache.hpp"

#include <algorithm>

#include "fft/chunks.hpp"
#include "fft/local_transforms.hpp"

namespace partita::fourier {
namespace {

// Of each line's neighbours a chunk takes at least so many bytes, so that what is fetched is used.
constexpr std::int64_t shortest_run = 128;

// The dimensions of a packed chunk, slowest first: those along which the owners of the array differ, so that
// what one owner sends is contiguous; then as in the array's memory.
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

/// The stage, for one chunk of lines after the other.
class ThroughCache {
 public:
  ThroughCache(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from, int to,
               const std::optional<Twiddle>& twiddle)
      : steps_(steps),
        problem_(problem),
        stage_(stage),
        last_(last),
        twiddle_(twiddle),
        from_(from),
        to_(to) {
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

  void run() {
    open();
    const Operand& array = steps_.operand(from_);
    const std::int64_t item = size_of(array.dtype);
    for (const Region& before : chunks(stage_.before.region(steps_.rank()), stage_.axes, array.axis_order,
                                       chunk_bytes / item, shortest_run / item)) {
      const Region after = transformed(problem_, stage_, before);
      gather(before);
      compute(before, after);
      store(after);
    }
    close();
  }

 private:
  std::vector<int> others(const Layout& layout, const Region& region) const {
    if (layout.region(steps_.rank()) == region) return {};
    return steps_.owners(layout, region);
  }

  // No rank waits before all its peers have been notified that they may start.
  void open() {
    for (const int peer : takers_) steps_.signal(peer, ready);
    steps_.resolve();  // who still reads what is written now has been promised its values
    if (to_ != from_) {
      for (const int peer : pushers_) steps_.signal(peer, grant);
    }
    for (const int peer : givers_) steps_.wait(peer, ready);
    if (to_ == from_) return;
    for (const int peer : receivers_) steps_.wait(peer, grant);
  }

  // From the neighbour on, round the ring: no owner is read by all at once.
  void gather(const Region& lines) {
    const Layout& layout = steps_.operand(from_).layout;
    const int ranks = layout.ranks();
    std::vector<Layout::Cell> cells = layout.cells(lines);
    const auto distance = [&](const Layout::Cell& cell) {
      return (cell.contributions.front().front() - steps_.rank() + ranks) % ranks;
    };
    std::ranges::stable_sort(cells, {}, distance);
    const std::int64_t item = size_of(steps_.operand(from_).dtype);
    for (const Layout::Cell& cell : cells) {
      const bool local = givers_.empty();
      const int owner = local ? steps_.rank() : cell.contributions.front().front();
      for (Run& run : packed_runs(cell.region, lines, packed_order_)) {
        Place to = packed_;
        to.offset = run.position * item;
        steps_.copy(owner, std::move(run.region), {from_, owner, 0, {}}, to);
      }
    }
    steps_.scratch("lines", steps_.operand(from_).dtype, lines.size() * item);
  }

  void compute(const Region& before, const Region& after) {
    for (Work& work : transforms(problem_, stage_, last_, before, {packed_, packed_real_}, false)) {
      steps_.compute(std::move(work));
    }
    if (twiddle_) {
      twiddle_->part = {after, packed_real_};
      steps_.compute(*twiddle_);
    }
    if (packed_real_.buffer == packed_.buffer) return;
    const Dtype dtype = steps_.operand(to_).dtype;
    steps_.scratch("transformed lines", dtype, after.size() * size_of(dtype));
  }

  void store(const Region& lines) {
    const Operand& array = steps_.operand(to_);
    const std::int64_t item = size_of(array.dtype);
    const bool local = receivers_.empty();
    for (const Layout::Cell& cell : array.layout.cells(lines)) {
      const int owner = local ? steps_.rank() : cell.contributions.front().front();
      for (Run& run : packed_runs(cell.region, lines, packed_order_)) {
        Place from = packed_real_;
        from.offset = run.position * item;
        steps_.copy(owner, std::move(run.region), from, {to_, owner, 0, {}});
      }
    }
  }

  // Whoever wrote into this rank's memory, or reads it, says when it has finished; the walk waits for that
  // before it relies on it.
  void close() {
    if (to_ != from_) {
      for (const int peer : givers_) steps_.signal(peer, done);
      for (const int peer : takers_) steps_.expect(peer, done);
    }
    for (const int peer : receivers_) steps_.signal(peer, written);
    for (const int peer : pushers_) steps_.expect(peer, written);
  }

  Steps& steps_;
  const Problem& problem_;
  const Stage& stage_;
  bool last_;
  std::optional<Twiddle> twiddle_;
  int from_;
  int to_;
  Extents packed_order_;
  Place packed_;       // the lines as they come
  Place packed_real_;  // and as they go, where that is another dtype
  std::vector<int> givers_, takers_;
  std::vector<int> receivers_, pushers_;
};

}  // namespace

// Judged by rank 0, which owns most.
bool fits_through_cache(const Operand& from, const Stage& stage) {
  // Of copies, about. Beyond it the plan itself would be what takes time: then whole parts are exchanged.
  constexpr std::int64_t most_steps = 100000;
  const std::int64_t item = size_of(from.dtype);
  std::int64_t line = 1;
  for (const int axis : stage.axes) line *= stage.before.shape()[axis];
  const std::int64_t chunk = std::max(chunk_bytes / item, line * (shortest_run / item));
  const auto owners = static_cast<std::int64_t>(from.layout.cells(stage.before.region(0)).size());
  return (stage.before.largest_local_size() / chunk + 1) * (owners + 1) <= most_steps;
}

void transform_through_cache(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                             int to, const std::optional<Twiddle>& twiddle) {
  ThroughCache(steps, problem, stage, last, from, to, twiddle).run();
}

}  // namespace partita::fourier
