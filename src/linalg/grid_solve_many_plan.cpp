// Plans that solve with triangles on a grid of ranks for many right-hand sides, which are distributed over
// the grid, too: rows as those of the triangle, columns over the grid's columns. The panels of the triangle
// pass along the rows of the grid.
//
// With T = L or U, M = op(T), blocks x_k follow each other:
//   - op without transposition: the ranks that have x_k solve for it, it passes down the columns of the grid,
//     and all ranks subtract T[I, k] x_k from their x_I;
//   - with transposition: sums of op(T[I, k]) x_I of the ranks pass along the columns of the grid to those
//   that
//     have x_k, which solve for it.
#include <algorithm>

#include "base/round.hpp"
#include "linalg/chain_transport.hpp"
#include "linalg/grid_plans.hpp"

namespace partita::linear {
namespace {

class GridSolveManyPlanner {
 public:
  GridSolveManyPlanner(const FactorBuffers& buffers, const std::vector<Pass>& passes, std::int64_t count,
                       planning::PlanBuilder& builder)
      : panels_(buffers.panels),
        buffers_(buffers),
        builder_(builder),
        turns_(passes, panels_.count()),
        count_(count),
        share_(std::max<std::int64_t>(1, ceil_divide(count, panels_.grid_columns()))),
        row_(panels_.row_of(builder.rank())),
        column_(panels_.column_of(builder.rank())),
        mine_(IndexSet::range(column_ * share_, std::min(count, (column_ + 1) * share_))),
        sides_(
            builder.add_array("right-hand sides", on_heap(layout_of_sides(), buffers.dtype, buffers.space))),
        transport_(builder, buffers.dtype, buffers.space, most_elements(), turns_.count(),
                   [this](int turn, int kind) { return link(turn, kind); }) {}

  void solve(int b, int x) {
    append_redistribution(builder_, b, sides_);
    transport_.open();
    for (int turn = 0; turn < turns_.count(); ++turn) {
      take(turn, diagonal, region_of(turn, diagonal));
      take(turn, panel, region_of(turn, panel));
      turns_.pass_of(turn).transposes() ? gather(turn) : spread(turn);
      transport_.end(turn);
    }
    transport_.close();
    append_redistribution(builder_, sides_, x);
  }

 private:
  /// What passes: T[k, k], T[I, k] of a row of the grid, and x_k or sums for it.
  enum Kind : int { diagonal, panel, sides };

  bool has_rows(int k) const { return k % panels_.grid_rows == row_; }
  bool has_columns(int k) const { return k % panels_.grid_columns() == column_; }
  IndexSet indices(int k) const { return panels_.diagonal(k); }
  /// The other rows of panel k that this rank has: those below the diagonal of L, above that of U.
  IndexSet others(const Pass& pass, int k) const {
    const bool above = pass.kind == Pass::Kind::upper;
    return above ? panels_.blocks(row_, panels_.grid_rows, 0, panels_.first(k))
                 : panels_.blocks(row_, panels_.grid_rows, k + 1, panels_.rows);
  }
  Region region_of(int turn, Kind kind) const {
    const int k = turns_.block(turn);
    if (kind == panel) return {{others(turns_.pass_of(turn), k), indices(k)}};
    return {{indices(k), kind == diagonal ? indices(k) : mine_}};
  }

  Layout layout_of_sides() const {
    return {BlockCyclic({panels_.grid_rows, panels_.grid_columns()}, {panels_.width, share_}),
            {panels_.rows, count_},
            panels_.ranks};
  }
  std::vector<std::int64_t> most_elements() const {
    const std::int64_t width = std::min(panels_.width, panels_.rows);
    return {width * width, panels_.blocks(0, panels_.grid_rows, 0, panels_.rows).size() * width,
            width * share_};
  }
  Part of_sides(const IndexSet& rows) const { return {{{rows, mine_}}, builder_.own(sides_)}; }
  Part in_slot(int turn) const { return {region_of(turn, sides), transport_.slot(turn, sides)}; }

  ChainLink link(int turn, int kind) const {
    const Pass& pass = turns_.pass_of(turn);
    const int k = turns_.block(turn);
    const std::int64_t elements = region_of(turn, static_cast<Kind>(kind)).size();
    if (kind != sides) {
      if (kind == diagonal && !has_rows(k)) return {};
      return chain_link(panels_, builder_.rank(), Along::row, k, elements);
    }
    if (pass.transposes() ? turns_.is_first(turn) : turns_.is_last(turn)) return {};
    // Sums end where the solution is.
    const int ahead = pass.forward() ? 1 : -1;
    return chain_link(panels_, builder_.rank(), Along::column, pass.transposes() ? k + ahead : k, elements,
                      !pass.forward());
  }

  /// A part of the factors.
  void take(int turn, Kind kind, const Region& region) {
    const ChainLink chain = link(turn, kind);
    if (chain.from >= 0) {
      transport_.receive(turn, kind);
    } else if (chain.to >= 0 && !region.empty()) {
      builder_.copy(builder_.rank(), region, builder_.own(buffers_.factor), transport_.slot(turn, kind));
    }
    transport_.send(turn, kind);
  }
  Part taken(int turn, Kind kind) const {
    return {region_of(turn, kind),
            has_columns(turns_.block(turn)) ? builder_.own(buffers_.factor) : transport_.slot(turn, kind)};
  }

  void substitute(int turn) {
    if (mine_.empty()) return;
    builder_.compute(
        turns_.pass_of(turn).solve(taken(turn, diagonal), of_sides(indices(turns_.block(turn)))));
  }

  void spread(int turn) {
    const int k = turns_.block(turn);
    const Part slot = in_slot(turn), own = of_sides(indices(k));
    if (has_rows(k)) {
      substitute(turn);
      if (link(turn, sides).to >= 0 && !mine_.empty())
        builder_.copy(builder_.rank(), own.region, own.place, slot.place);
    } else {
      transport_.receive(turn, sides);
    }
    transport_.send(turn, sides);
    multiply(turn, has_rows(k) ? own : slot, of_sides(others(turns_.pass_of(turn), k)), Beta::one);
  }

  void gather(int turn) {
    const int k = turns_.block(turn);
    const Part slot = in_slot(turn), own = of_sides(indices(k)),
               from = of_sides(others(turns_.pass_of(turn), k));
    const ChainLink chain = link(turn, sides);
    if (!has_rows(k) && chain.elements == 0) return;
    const bool continues = chain.from >= 0 && chain.elements > 0;
    if (continues) transport_.receive(turn, sides);
    if (has_rows(k)) {
      if (continues) builder_.accumulate(builder_.rank(), Reduction::sum, slot.region, slot.place, own.place);
      multiply(turn, from, own, Beta::one);
      return substitute(turn);
    }
    if (!continues && from.region.empty()) builder_.fill(Reduction::sum, slot.region, slot.place);
    multiply(turn, from, slot, continues ? Beta::one : Beta::zero);
    transport_.send(turn, sides);
  }

  /// to -= op(T[I, k]) from.
  void multiply(int turn, const Part& from, const Part& to, Beta beta) {
    if (from.region.empty() || to.region.empty()) return;
    builder_.compute(turns_.pass_of(turn).subtract(taken(turn, panel), from, to, beta));
  }

  const Panels& panels_;
  const FactorBuffers& buffers_;
  planning::PlanBuilder& builder_;
  GridTurns turns_;
  std::int64_t count_, share_;  // right-hand sides: of all, and of a column of the grid
  int row_, column_;            // of this rank
  IndexSet mine_;
  int sides_ = -1;
  ChainTransport transport_;
};

}  // namespace

void solve_many_on_grid(const FactorBuffers& buffers, const std::vector<Pass>& passes, int b, int x,
                        planning::PlanBuilder& builder) {
  const std::int64_t count = builder.operand(b).layout.shape()[1];
  GridSolveManyPlanner(buffers, passes, count, builder).solve(b, x);
}

}  // namespace partita::linear
