#include <algorithm>
#include <span>
#include <utility>

#include "fft/chunks.hpp"
#include "fft/layouts.hpp"
#include "fft/local_transforms.hpp"

namespace partita::fourier {
namespace {

/// Lines along several axes that become real, in two kinds of passes over the array: along the first axes,
/// and plane by plane, in cache, along the others, the halved one last. Between the two the half spectra are
/// stored where they were if they may be overwritten, or in the memory of the result: a line of n real
/// numbers holds n/2 of n/2 + 1 complex ones, and the last ones of all lines are stored in a column of
/// scratch. Two axes in separate passes are one step (kernels/host/paired_lines.hpp).
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
    divide_axes(steps.operand(from).axis_order);
  }

  void run() {
    if (goes_in_pairs()) return transform_in_pairs();
    if (!first_.empty()) transform_first();
    const bool gathers = in_planes_.size() > 1 || spectra_.size() > 1;
    const int lines = gathers ? steps_.scratch("lines", dtype_, 0) : -1;
    const bool in_chunks = gathers || own_.empty();
    for (const Region& plane :
         in_chunks ? chunks(own_, in_planes_, order_, chunk_elements(), 1) : std::vector{own_}) {
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

  /// The axes of planes are the halved one and, from the fastest in memory on, as many as leave a plane in
  /// cache; or all but those, if the planes of these stay in cache, too, and the half spectra between the
  /// passes are not packed. The first pass then writes whole planes in the order of memory: along the slow
  /// axes it would write short runs, which are stored in the same sets of the caches if the steps are powers
  /// of two.
  void divide_axes(const Extents& axis_order) {
    const int halved = problem_.halved_axis();
    std::int64_t bytes = item_ * extent(halved), bytes_of_others = bytes;
    for (int i = axis_order.size() - 1; i >= 0; --i) {
      const auto axis = static_cast<int>(axis_order[i]);
      if (axis == halved || !contains(stage_.axes, axis)) continue;
      const bool fits = first_.empty() && bytes * extent(axis) <= plane_bytes;
      (fits ? bytes : bytes_of_others) *= extent(axis);
      (fits ? in_planes_ : first_).push_back(axis);
    }
    const bool both = !first_.empty() && !in_planes_.empty() && bytes_of_others <= plane_bytes;
    if (both && (overwrites_ || result_holds_spectra())) std::swap(in_planes_, first_);
    in_planes_.push_back(halved);
    for (const bool of_planes : {false, true}) {  // so that a plane is in one piece
      for (const std::int64_t axis : axis_order) {
        if (contains(in_planes_, axis) == of_planes) order_.push_back(axis);
        if (contains(in_planes_, axis) == of_planes && axis != halved) lines_order_.push_back(axis);
      }
    }
    lines_order_.push_back(halved);
  }

  std::int64_t extent(int axis) const { return stage_.before.shape()[axis]; }
  std::int64_t chunk_elements() const { return std::max(chunk_bytes / item_, own_.size() / most_chunks); }

  /// Lengths that FFTW transforms by its own small steps: others may be better as convolutions. And lines of
  /// the result that are not stored in the same sets of the caches.
  bool goes_in_pairs() const {
    constexpr std::int64_t page = 4096;
    if (first_.size() != 1 || in_planes_.size() > 2) return false;
    std::int64_t step =
        (extent(problem_.halved_axis()) - 1) * item_;  // along the slowest axis, in the result
    if (in_planes_.size() == 2) step *= extent(static_cast<int>(paired_axes()[1]));
    if (step % page == 0) return false;
    std::int64_t factor = problem_.real_length;
    for (const std::int64_t prime : {2, 3, 5, 7})
      while (factor % prime == 0) factor /= prime;
    return factor == 1 && result_holds_spectra() && fastest_axis_of(input_) == problem_.halved_axis();
  }

  /// In the order of memory.
  Extents paired_axes() const {
    Extents axes;
    for (const std::int64_t axis : steps_.operand(to_.buffer).axis_order)
      if (contains(stage_.axes, axis)) axes.push_back(axis);
    return axes;
  }

  void transform_in_pairs() {
    if (own_.empty()) return;
    steps_.compute(Transform{{own_, spectra_.front().place},
                             {transformed(problem_, stage_, own_), to_},
                             paired_axes(),
                             TransformKind::complex_to_real,
                             problem_.real_length,
                             last_,
                             overwrites_});
  }

  void transform_first() {
    const std::vector<Columns> spectra = overwrites_ ? spectra_ : between();
    for (const Columns& columns : spectra) {
      const Region own = part_of(own_, columns);
      if (own.empty()) continue;
      steps_.compute(
          Transform{{own, spectra_.front().place}, {own, columns.place}, axes_of(first_), problem_.kind, 0});
    }
    spectra_ = spectra;
  }

  /// Memory for the half spectra between the passes; the same buffers on every rank.
  std::vector<Columns> between() {
    const int halved = problem_.halved_axis(), rank = steps_.rank();
    const std::int64_t half = extent(halved), in_result = half - 1;
    if (!result_holds_spectra() || is_better_apart()) {
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
    return problem_.real_length % 2 == 0 && steps_.operand(to_.buffer).dense &&
           fastest_axis_of(to_.buffer) == problem_.halved_axis();
  }

  /// Whole half spectra are longer than the lines of the result by one number, so that their steps are no
  /// powers of two, and no line is in two pieces. That is worth scratch that stays in a cache.
  bool is_better_apart() const {
    constexpr std::int64_t cache_bytes = std::int64_t{12} << 20;
    return in_planes_.size() == 1 && stage_.before.largest_local_size() * item_ <= cache_bytes;
  }

  std::int64_t fastest_axis_of(int buffer) const {
    const Extents& order = steps_.operand(buffer).axis_order;
    return order[order.size() - 1];
  }

  Region part_of(Region region, const Columns& columns) const {
    IndexSet& set = region.sets[static_cast<std::size_t>(problem_.halved_axis())];
    set = intersect(set, IndexSet::range(columns.first, columns.end));
    return region;
  }

  bool is_scratch(const Place& place) const { return !place.axis_order.empty(); }

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
    const std::span<const int> complex(in_planes_.begin(), in_planes_.end() - 1);
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
  std::vector<Columns> spectra_;        // where they are now
  std::vector<int> first_, in_planes_;  // the halved axis last
  Extents order_;                       // of packed elements
  Extents lines_order_;                 // of a plane in cache: the halved axis is the fastest
};

}  // namespace

void transform_back_to_real(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                            int to) {
  BackToReal(steps, problem, stage, last, from, to).run();
}

}  // namespace partita::fourier
