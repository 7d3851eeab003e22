// Slabs and pencils are one family: a grid of k dimensions cuts k axes, and each exchange hands one of them
// from an axis still to be transformed to one that is done.
//
//   cut       c_1 .. c_k-1 c_k        all other axes are transformed
//   exchange  c_1 .. c_k-1 e          c_k is
//   exchange  c_1 .. c_k   e          c_k-1 is
//   ...                               (k = 0: local, 1: slab, 2: pencil)
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "fft/four_step.hpp"
#include "fft/layouts.hpp"
#include "fft/scheme.hpp"

namespace partita::fourier {
namespace {

class Candidates {
 public:
  Candidates(const Problem& problem, const std::optional<Layout>& wanted)
      : problem_(problem),
        wanted_(wanted),
        input_(problem.input.layout),
        whole_input_(whole_axes(input_)),
        input_is_plain_(is_plain(input_)) {
    if (wanted) whole_wanted_ = whole_axes(*wanted);
    const int halved = problem.halved_axis();
    if (halved >= 0) {  // where it is transformed, the layout has to keep its lines
      const auto keep = [&](const Layout& layout, std::vector<bool>::reference whole, std::int64_t extent) {
        whole = whole && stretches(layout, halved, extent);
      };
      const auto axis = static_cast<std::size_t>(halved);
      keep(input_, whole_input_[axis], problem.shape[halved]);
      if (wanted) keep(*wanted, whole_wanted_[axis], before()[halved]);
    }
    wanted_is_plain_ = wanted && is_plain(*wanted);
    const Extents& order = problem.input.axis_order;
    for (const std::int64_t axis : order) {
      slowest_first_.push_back(static_cast<int>(axis));
      if (!whole_input_[static_cast<std::size_t>(axis)]) given_cut_.push_back(static_cast<int>(axis));
    }
  }

  std::vector<Scheme> all() {
    const FftMethod method = problem_.options.method;
    const auto asked = [&](FftMethod one) { return method == FftMethod::automatic || method == one; };
    if (asked(FftMethod::local)) local();
    if (method == FftMethod::automatic && stays()) return std::move(schemes_);
    if (asked(FftMethod::slab)) slabs();
    if (asked(FftMethod::pencil)) pencils();
    if (asked(FftMethod::four_step)) four_step();
    if (method == FftMethod::automatic && (schemes_.empty() || dimensions() == 1)) gathered();
    return std::move(schemes_);
  }

 private:
  const Shape& before() const { return input_.shape(); }
  int dimensions() const { return before().size(); }
  int ranks() const { return problem_.topology.ranks(); }

  /// The layout with the extents before and after the stage in which the halved axis is transformed.
  Stage stage(const Layout& layout, std::vector<int> axes, bool first, bool last) const {
    const int halved = problem_.halved_axis();
    if (problem_.halves && !first) return {layout, layout, std::move(axes)};
    if (problem_.doubles && !last) return {layout, layout, std::move(axes)};
    if (halved < 0) return {layout, layout, std::move(axes)};
    return {with_extent(layout, halved, before()[halved]),
            with_extent(layout, halved, problem_.shape[halved]), std::move(axes)};
  }

  static bool covers(const std::vector<bool>& whole, const std::vector<int>& axes) {
    return std::all_of(axes.begin(), axes.end(),
                       [&](int axis) { return whole[static_cast<std::size_t>(axis)]; });
  }

  void add(FftMethod method, std::string name, std::vector<Stage> stages) {
    schemes_.push_back({method, std::move(name), {}, std::move(stages)});
  }

  // --- every rank owns whole lines

  bool is_local() const { return !input_.partial() && covers(whole_input_, problem_.axes); }
  /// Nothing needs to be redistributed.
  bool stays() const {
    return is_local() && (!wanted_ || same(stage(input_, problem_.axes, true, true).after, *wanted_));
  }

  void local() {
    const bool as_given = is_local();
    if (as_given) add(FftMethod::local, "local", {stage(input_, problem_.axes, true, true)});
    if (wanted_ && !wanted_->partial() && covers(whole_wanted_, problem_.axes)) {
      add(FftMethod::local, "local", {stage(*wanted_, problem_.axes, true, true)});
    }
    if (as_given || problem_.options.method == FftMethod::local) return;
    for (const int axis : slowest_first_) {
      if (problem_.transforms(axis)) continue;
      add(FftMethod::local, "local after an exchange",
          {stage(Layout(Slab(axis), before(), ranks()), problem_.axes, true, true)});
      break;
    }
  }

  // --- one exchange

  void slabs() {
    for (const int cut : slowest_first_) {
      if (!problem_.transforms(cut)) continue;
      if (problem_.halves && cut == problem_.halved_axis()) continue;
      const auto [first, last] = shared_out({cut});
      const Layout even(Slab(cut), before(), ranks());
      const bool usable = input_is_plain_ && covers(whole_input_, first) &&
                          !whole_input_[static_cast<std::size_t>(cut)] && keeps_halved_whole(first);
      add_slabs(usable ? input_ : even, first, last);
    }
    drop_detours(FftMethod::slab);
  }

  /// Which axes the first and the last stage transform where those are cut in the first. The halved axis
  /// comes last to real numbers.
  std::pair<std::vector<int>, std::vector<int>> shared_out(const std::vector<int>& cut) const {
    std::vector<int> first;
    std::vector<int> last{cut.front()};
    for (const int axis : problem_.axes) {
      if (contains(cut, axis)) continue;
      const bool waits = problem_.doubles && axis == problem_.halved_axis();
      (waits ? last : first).push_back(axis);
    }
    return {first, last};
  }

  bool keeps_halved_whole(const std::vector<int>& first) const {
    return !problem_.halves || contains(first, problem_.halved_axis());
  }

  void add_slabs(const Layout& start, const std::vector<int>& first, const std::vector<int>& last) {
    const auto add_slab = [&](const Layout& end) {
      add(FftMethod::slab, "slab", {stage(start, first, true, false), stage(end, last, false, true)});
    };
    if (wanted_is_plain_ && covers(whole_wanted_, last)) add_slab(*wanted_);
    for (const int axis : slowest_first_) {
      if (!contains(last, axis)) add_slab(Layout(Slab(axis), problem_.shape, ranks()));
    }
  }

  // Where the input already is in slabs or pencils that serve, others are not looked at.
  void drop_detours(FftMethod method) {
    const auto detours = [&](const Scheme& scheme) {
      return scheme.method == method && !(scheme.stages.front().before == input_);
    };
    const auto straight = [&](const Scheme& scheme) { return scheme.method == method && !detours(scheme); };
    if (std::any_of(schemes_.begin(), schemes_.end(), straight)) std::erase_if(schemes_, detours);
  }

  // --- an exchange along each axis of a grid

  void pencils() {
    const std::vector<int>& asked = problem_.options.grid;
    if (!asked.empty()) return pencils_over(asked);
    if (dimensions() < 3) return;
    std::vector<std::vector<int>> grids;
    for (int rows = 2; rows <= ranks() / 2; ++rows) {
      if (ranks() % rows == 0) grids.push_back({rows, ranks() / rows});
    }
    const auto aspect = [](const std::vector<int>& grid) {
      return std::abs(std::log(static_cast<double>(grid[0]) / grid[1]));
    };
    std::stable_sort(grids.begin(), grids.end(),
                     [&](const auto& a, const auto& b) { return aspect(a) < aspect(b); });
    constexpr std::size_t most = 5;
    if (grids.size() > most) grids.resize(most);
    for (const std::vector<int>& grid : grids) pencils_over(grid);
    drop_detours(FftMethod::pencil);
  }

  void check_grid(const std::vector<int>& grid) const {
    std::int64_t size = 1;
    for (const int extent : grid) {
      check(extent >= 1, "the process grid {} has an extent below 1", fmt::join(grid, "x"));
      size *= extent;
    }
    check(size == ranks(), "the process grid {} has {} processes, but there are {} ranks",
          fmt::join(grid, "x"), size, ranks());
    const auto dimensions_of_grid = static_cast<int>(grid.size());
    check(dimensions_of_grid < dimensions() &&
              dimensions_of_grid <= static_cast<int>(problem_.axes.size()) - (problem_.halves ? 1 : 0),
          "a process grid of {} dimensions needs as many transformed axes that it can distribute, and one "
          "axis more",
          grid.size());
  }

  void pencils_over(const std::vector<int>& grid) {
    if (!problem_.options.grid.empty()) check_grid(grid);
    const std::size_t k = grid.size();
    const auto cut = cut_axes(k);
    if (cut) add_pencil(grid, *cut);
    if (given_cut_.size() == k && suits(given_cut_) && cut != given_cut_) add_pencil(grid, given_cut_);
  }

  /// The axes to cut at first: the slowest that are transformed. To real numbers the halved one is the first
  /// of them, so that it comes last; from real numbers it is not cut.
  std::optional<std::vector<int>> cut_axes(std::size_t k) const {
    std::vector<int> cut;
    if (problem_.doubles) cut.push_back(problem_.halved_axis());
    for (const int axis : slowest_first_) {
      if (cut.size() == k) break;
      if (problem_.transforms(axis) && axis != problem_.halved_axis()) cut.push_back(axis);
    }
    if (cut.size() < k) return std::nullopt;
    return cut;
  }

  bool suits(const std::vector<int>& cut) const {
    const bool transformed =
        std::all_of(cut.begin(), cut.end(), [&](int axis) { return problem_.transforms(axis); });
    const bool has_halved = contains(cut, problem_.halved_axis());
    if (problem_.doubles && cut.front() != problem_.halved_axis()) return false;
    return input_is_plain_ && transformed && (!problem_.halves || !has_halved);
  }

  void add_pencil(const std::vector<int>& grid, std::vector<int> cut) {
    const auto is_cut = [&](int axis) { return contains(cut, axis); };
    const auto spare =
        std::find_if(slowest_first_.begin(), slowest_first_.end(), [&](int axis) { return !is_cut(axis); });
    if (spare == slowest_first_.end()) return;
    const std::size_t k = cut.size();
    const Layout start = grid_layout(before(), cut, grid, ranks());
    const bool as_given = input_is_plain_ && given_cut_ == cut && same(start, input_);
    std::vector<Stage> stages{stage(as_given ? input_ : start, shared_out(cut).first, true, false)};
    int done = *spare;
    for (std::size_t i = k; i-- > 0;) {
      const int next = cut[i];
      cut[i] = done;
      done = next;
      const bool last = i == 0;
      const Shape& shape = problem_.doubles && !last ? before() : problem_.shape;
      const Layout layout = grid_layout(shape, cut, grid, ranks());
      const bool as_wanted = last && wanted_is_plain_ && same(layout, *wanted_);
      stages.push_back(stage(as_wanted ? *wanted_ : layout, {next}, false, last));
    }
    add(FftMethod::pencil, fmt::format("pencil {}", fmt::join(grid, "x")), std::move(stages));
  }

  // --- one line

  void four_step() {
    const bool is_complex =
        problem_.kind == TransformKind::complex_forward || problem_.kind == TransformKind::complex_backward;
    if (dimensions() != 1 || !is_complex) return;
    const bool halved = problem_.halved_axis() >= 0;
    const auto factors = factors_of(halved ? problem_.real_length : before()[0], ranks());
    if (!factors) return;
    const auto even = [&](const Shape& shape) { return Layout(Slab(0), shape, ranks()); };
    const Layout from =
        problem_.doubles ? even(before()) : rows_layout(factors->rows, factors->columns, ranks());
    const Layout to =
        problem_.halves ? even(problem_.shape) : rows_layout(factors->columns, factors->rows, ranks());
    add(FftMethod::four_step, fmt::format("four-step {}x{}", factors->rows, factors->columns),
        {{from, to, {0}}});
    schemes_.back().factors = factors;
  }

  // One rank does it all, in the open: no axis is left to cut, or the array is small.
  void gathered() {
    add(FftMethod::local, "gathered on one rank",
        {{on_one_rank(before(), ranks()), on_one_rank(problem_.shape, ranks()), problem_.axes}});
  }

  const Problem& problem_;
  const std::optional<Layout>& wanted_;
  const Layout& input_;
  std::vector<bool> whole_input_;
  std::vector<bool> whole_wanted_;
  bool input_is_plain_ = false;
  bool wanted_is_plain_ = false;
  std::vector<int> slowest_first_;
  std::vector<int> given_cut_;  // the axes that the input cuts, slowest first
  std::vector<Scheme> schemes_;
};

}  // namespace

std::vector<Scheme> candidates(const Problem& problem, const std::optional<Layout>& wanted) {
  return Candidates(problem, wanted).all();
}

}  // namespace partita::fourier
