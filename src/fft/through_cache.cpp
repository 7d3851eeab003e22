#include "fft/through_cache.hpp"

#include <algorithm>
#include <span>

#include "fft/chunks.hpp"
#include "fft/layouts.hpp"

namespace partita::fourier {
namespace {

// --- works

/// The region of the result's index space that the lines of `before` become.
Region transformed(const Problem& problem, const Stage& stage, const Region& before) {
  Region after = before;
  if (!after.empty() && changes_dtype(problem, stage)) {
    const int halved = problem.halved_axis();
    after.sets[static_cast<std::size_t>(halved)] = IndexSet::range(0, stage.after.shape()[halved]);
  }
  return after;
}

/// Complex numbers that several axes make real are transformed at once by devices, which destroy them.
bool comes_back_at_once(const Steps& steps, const Problem& problem, const Stage& stage) {
  return steps.on_device() && problem.doubles && changes_dtype(problem, stage) && stage.axes.size() > 1;
}

/// Whether what is in a buffer has been used once it is transformed.
bool may_overwrite(const Steps& steps, const Problem& problem, int buffer) {
  return steps.buffer(buffer).kind != BufferKind::operand || problem.options.overwrite_input;
}

/// From one place to another, in place where both are the same.
struct Way {
  Place from, to;
  bool overwrites = true;  ///< what is in `from` may be destroyed
};

/// The transforms of a stage as works. What several axes make real is destroyed: all axes but the last are
/// transformed where they come from, unless they go `at_once`.
std::vector<Work> transforms(const Problem& problem, const Stage& stage, bool last, const Region& before,
                             const Way& way, bool at_once) {
  const auto& [from, to, overwrites] = way;
  Extents axes;
  for (const int axis : stage.axes) axes.push_back(axis);
  const Region after = transformed(problem, stage, before);
  if (!changes_dtype(problem, stage)) {
    return {Transform{{before, from}, {after, to}, axes, problem.kind, 0, last, false, problem.orthogonal()}};
  }
  const TransformKind kind = problem.halves ? TransformKind::real_to_complex : TransformKind::complex_to_real;
  std::vector<Work> works;
  if (!problem.halves && !at_once && axes.size() > 1) {
    const Extents others(std::span(axes.begin(), axes.end() - 1));
    works.push_back(Transform{{before, from}, {before, from}, others, problem.kind, 0, false});
    axes = {axes[axes.size() - 1]};
  }
  works.push_back(Transform{
      {before, from}, {after, to}, axes, kind, problem.real_length, last, problem.doubles && overwrites});
  return works;
}

// --- through cache

// A chunk stays in the second-level cache while it is gathered, transformed and stored.
constexpr std::int64_t chunk_bytes = std::int64_t{256} << 10;
// Of each line's neighbours a chunk takes at least so many bytes, so that what is fetched is used.
constexpr std::int64_t shortest_run = 128;

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

  // Nobody waits before all its peers have been told that they may start.
  void open() {
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

// --- back to real numbers, along several axes

/// Lines along several axes that become real, in two kinds of passes over the array: along the axes whose
/// planes would not stay in cache, and plane by plane along the others, the halved one last. Between the two
/// the half spectra are stored where they were if they may be overwritten, or in the memory of the result: a
/// line of n real numbers holds n/2 of n/2 + 1 complex ones, and the last ones of all lines are stored in a
/// column of scratch.
class BackToReal {
 public:
  BackToReal(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from, int to)
      : steps_(steps),
        problem_(problem),
        stage_(stage),
        last_(last),
        own_(stage.before.region(steps.rank())),
        dtype_(steps.operand(from).dtype),
        item_(size_of(dtype_)),
        input_(from),
        overwrites_(may_overwrite(steps, problem, from)),
        to_{to, steps.rank(), 0, {}},
        spectra_{{{from, steps.rank(), 0, {}}, 0, stage.before.shape()[problem.halved_axis()]}} {
    share_out(steps.operand(from).axis_order);
  }

  void run() {
    if (!outer_.empty()) transform_outer();
    const bool gathers = inner_.size() > 1 || spectra_.size() > 1;
    const int lines = gathers ? steps_.scratch("lines", dtype_, 0) : -1;
    for (const Region& plane : chunks(own_, inner_, order_, chunk_elements(), 1)) {
      Place source = place_in(spectra_.front(), plane);
      if (gathers) {
        source = {steps_.scratch("lines", dtype_, plane.size() * item_), steps_.rank(), 0, lines_order_};
        for (const Columns& columns : spectra_) to_lines(plane, columns, lines);
      }
      steps_.compute(Transform{{plane, source},
                               {transformed(problem_, stage_, plane), to_},
                               {problem_.halved_axis()},
                               TransformKind::complex_to_real,
                               problem_.real_length,
                               last_,
                               source.buffer != input_ || overwrites_});
    }
  }

 private:
  static constexpr std::int64_t plane_bytes = std::int64_t{2} << 20;
  static constexpr std::int64_t most_chunks = 20000;

  /// Where some elements of all half spectra are stored.
  struct Columns {
    Place place;
    std::int64_t first, end;
  };

  /// The inner axes are the halved one and, from the fastest in memory on, as many as leave a plane in cache.
  void share_out(const Extents& axis_order) {
    const int halved = problem_.halved_axis();
    std::int64_t bytes = item_ * extent(halved);
    bool fits = true;
    for (int i = axis_order.size() - 1; i >= 0; --i) {
      const auto axis = static_cast<int>(axis_order[i]);
      if (axis == halved || !contains(stage_.axes, axis)) continue;
      bytes *= extent(axis);
      fits = fits && bytes <= plane_bytes;
      (fits ? inner_ : outer_).push_back(axis);
    }
    inner_.push_back(halved);
    for (const bool is_inner : {false, true}) {  // so that a plane is in one piece
      for (const std::int64_t axis : axis_order) {
        if (contains(inner_, axis) == is_inner) order_.push_back(axis);
        if (contains(inner_, axis) == is_inner && axis != halved) lines_order_.push_back(axis);
      }
    }
    lines_order_.push_back(halved);
  }

  std::int64_t extent(int axis) const { return stage_.before.shape()[axis]; }
  std::int64_t chunk_elements() const { return std::max(chunk_bytes / item_, own_.size() / most_chunks); }

  void transform_outer() {
    const std::vector<Columns> spectra = overwrites_ ? spectra_ : between();
    for (const Columns& columns : spectra) {
      const Region own = part_of(own_, columns);
      if (own.empty()) continue;
      steps_.compute(
          Transform{{own, spectra_.front().place}, {own, columns.place}, axes_of(outer_), problem_.kind, 0});
    }
    spectra_ = spectra;
  }

  /// Memory for the half spectra between the passes; the same buffers on every rank.
  std::vector<Columns> between() {
    const int halved = problem_.halved_axis(), rank = steps_.rank();
    const std::int64_t half = extent(halved), in_result = half - 1;
    if (!result_holds_spectra()) {
      const int whole = steps_.scratch("half spectra", dtype_, own_.size() * item_);
      return {{{whole, rank, 0, order_}, 0, half}};
    }
    const Operand result = steps_.operand(to_.buffer);
    Operand view = Operand::of(with_extent(result.layout, halved, in_result), dtype_, Order::row_major,
                               result.residency);
    view.axis_order = result.axis_order;
    const Columns in_view{{steps_.add_view(to_.buffer, view), rank, 0, {}}, 0, in_result};
    Columns column{{}, in_result, half};
    const std::int64_t bytes = part_of(own_, column).size() * item_;
    column.place = {steps_.scratch("last of half spectra", dtype_, bytes), rank, 0, order_};
    return {in_view, column};
  }

  bool result_holds_spectra() const {
    const Operand& result = steps_.operand(to_.buffer);
    return problem_.real_length % 2 == 0 && result.dense &&
           result.axis_order[result.axis_order.size() - 1] == problem_.halved_axis();
  }

  Region part_of(Region region, const Columns& columns) const {
    IndexSet& set = region.sets[static_cast<std::size_t>(problem_.halved_axis())];
    set = intersect(set, IndexSet::range(columns.first, columns.end));
    return region;
  }

  bool is_scratch(const Place& place) const { return place.axis_order.size() > 0; }

  Place place_in(const Columns& columns, const Region& plane) const {
    Place place = columns.place;
    if (is_scratch(place))
      place.offset =
          packed_runs(part_of(plane, columns), part_of(own_, columns), order_).front().position * item_;
    return place;
  }

  /// Of all lines of a plane these columns, transformed along the other inner axes.
  void to_lines(const Region& plane, const Columns& columns, int lines) {
    const Region part = part_of(plane, columns);
    const Place from = place_in(columns, plane);
    const Place to{lines, steps_.rank(), columns.first * item_, lines_order_, extent(problem_.halved_axis())};
    const std::span<const int> complex(inner_.begin(), inner_.end() - 1);
    if (complex.empty()) {
      steps_.copy(steps_.rank(), part, from, to);
    } else {
      steps_.compute(Transform{{part, from}, {part, to}, axes_of(complex), problem_.kind, 0});
    }
  }

  static Extents axes_of(std::span<const int> axes) {
    Extents result;
    for (const int axis : axes) result.push_back(axis);
    return result;
  }

  Steps& steps_;
  const Problem& problem_;
  const Stage& stage_;
  bool last_;
  Region own_;
  Dtype dtype_;
  std::int64_t item_;
  int input_;
  bool overwrites_;
  Place to_;
  std::vector<Columns> spectra_;    // where they are now
  std::vector<int> outer_, inner_;  // the halved axis last
  Extents order_;                   // of packed elements
  Extents lines_order_;             // of a plane in cache: the halved axis is the fastest
};

/// What a local transform does at once: on the host, planes that stay in the second-level cache between their
/// axes.
std::vector<Region> pieces_of(const Steps& steps, const Stage& stage, const Region& region, int from) {
  constexpr std::int64_t direct_bytes = std::int64_t{1} << 20;
  const Operand& array = steps.operand(from);
  if (!steps.on_device()) {
    return chunks(region, stage.axes, array.axis_order, direct_bytes / size_of(array.dtype), 1);
  }
  return region.empty() ? std::vector<Region>() : std::vector<Region>{region};
}

/// How the lines of `from` are transformed: where they are, but what would be destroyed, and is not to be, is
/// copied first.
Way way_of(Steps& steps, const Problem& problem, const Stage& stage, const Region& region, int from, int to) {
  const Place source{from, steps.rank(), 0, {}};
  const Place target{to, steps.rank(), 0, {}};
  const bool keeps = !may_overwrite(steps, problem, from);
  if (!keeps || !comes_back_at_once(steps, problem, stage)) return {source, target, !keeps};
  const Operand array = steps.operand(from);
  const int lines = steps.scratch("lines", array.dtype, region.size() * size_of(array.dtype));
  const Place copied{lines, steps.rank(), 0, array.axis_order};
  if (!region.empty()) steps.copy(steps.rank(), region, source, copied);
  return {copied, target};
}

}  // namespace

void transform_back_to_real(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                            int to) {
  BackToReal(steps, problem, stage, last, from, to).run();
}

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

void transform_owned(Steps& steps, const Problem& problem, const Stage& stage, bool last,
                     const Region& region, int from, int to, const std::optional<Twiddle>& twiddle) {
  const Way way = way_of(steps, problem, stage, region, from, to);
  const bool at_once = comes_back_at_once(steps, problem, stage);
  for (const Region& piece : pieces_of(steps, stage, region, from)) {
    for (Work& work : transforms(problem, stage, last, piece, way, at_once)) {
      steps.compute(std::move(work));
    }
    if (!twiddle) continue;
    Twiddle roots = *twiddle;
    roots.part = {transformed(problem, stage, piece), way.to};
    steps.compute(roots);
  }
}

}  // namespace partita::fourier
