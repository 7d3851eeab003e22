// Plans of LU factorizations on a grid of ranks: right-looking with tournament pivoting, with a look-ahead of
// one panel.
//
// Panel k, on grid (i, j) of Pr x Pc ranks, with blocks of b rows and columns:
//   1. the ranks of its column of the grid choose its pivot rows, which the owner of the block on the
//   diagonal
//      factorizes; they pass, with their numbers, down the column of the grid and from there along the rows;
//   2. the rows of each column of the grid are exchanged, in all columns of the matrix;
//   3. the ranks of the panel's column solve for their rows of L, which pass along the rows of the grid;
//   4. the ranks that have the rows on the diagonal solve for their columns of U, which pass down the
//   columns;
//   5. each rank updates its blocks: A[I, J] -= L[I, k] U[k, J].
#include <algorithm>

#include "linalg/chain_transport.hpp"
#include "linalg/grid_plans.hpp"
#include "linalg/row_exchange.hpp"
#include "linalg/tournament.hpp"

namespace partita::linear {
namespace {

class GridLuPlanner {
 public:
  GridLuPlanner(const FactorBuffers& buffers, ComputeType compute, planning::PlanBuilder& builder)
      : panels_(buffers.panels),
        buffers_(buffers),
        compute_(compute),
        builder_(builder),
        row_(panels_.row_of(builder.rank())),
        column_(panels_.column_of(builder.rank())),
        transport_(
            builder, buffers.dtype, buffers.space, most_elements(), panels_.count(),
            [this](int turn, int kind) { return link(turn, kind); }, ChainTransport::Posting::in_order),
        tournament_(buffers, builder),
        exchange_(buffers, builder) {
    const auto bytes = static_cast<std::int64_t>(sizeof(std::int32_t)) * panels_.width;
    order_ = builder.add_scratch("order of chosen rows", BufferKind::scratch, bytes, Dtype::i32);
  }

  void factorize() {
    if (panels_.count() == 0) return;
    builder_.fill(Reduction::sum, {{IndexSet::range(0, panels_.count())}}, builder_.own(buffers_.status));
    transport_.open();
    if (owns_columns(0)) factorize_panel(0);
    for (int k = 0; k < panels_.count(); ++k) {
      take(k);
      std::int64_t rest = behind(k);
      if (owns_columns(k + 1) && k + 1 < panels_.count()) {
        rest = panels_.end(k + 1);
        update(k, panels_.columns_of(k + 1));
        factorize_panel(k + 1);
      } else {
        transport_.post(k + 1, numbers);
        transport_.post(k + 1, rows);
      }
      update(k, panels_.owned(builder_.rank(), rest, panels_.columns));
      transport_.end(k);
    }
    transport_.close();
    tournament_.close();
  }

 private:
  /// What passes: the factorized block on the diagonal with the numbers of its rows, down and then along the
  /// grid, where ranks that do not have the rows of the diagonal get the numbers only; L and U of the panel.
  enum Kind : int { top, numbers, rows, columns };

  bool owns_columns(int k) const { return k % panels_.grid_columns() == column_; }
  bool owns_rows(int k) const { return k % panels_.grid_rows == row_; }
  Part of_factor(const IndexSet& of_rows, const IndexSet& of_columns) const {
    return {{{of_rows, of_columns}}, builder_.own(buffers_.factor)};
  }

  // --- regions of panel k

  std::int64_t behind(int k) const { return panels_.first(k) + panels_.diagonal(k).size(); }
  /// Columns with the numbers of rows, behind those of the block.
  IndexSet of_numbers(int k) const { return IndexSet::range(behind(k), behind(k) + 2); }
  Region region_of(int k, Kind kind) const {
    const IndexSet diagonal = panels_.diagonal(k);
    switch (kind) {
      case top:
        return {{diagonal, IndexSet::range(panels_.first(k), behind(k) + 2)}};
      case numbers:
        return owns_rows(k) ? region_of(k, top) : Region{{diagonal, of_numbers(k)}};
      case rows:
        return {{panels_.rows_below(k, row_), diagonal}};
      case columns:
        return {{diagonal, trailing(k)}};
    }
    return {};
  }
  IndexSet trailing(int k) const { return panels_.owned(builder_.rank(), behind(k), panels_.columns); }
  /// All columns but the panel's.
  IndexSet others(int k) const {
    std::vector<Interval> intervals;
    for (const IndexSet& set : {panels_.owned(builder_.rank(), 0, panels_.first(k)), trailing(k)})
      intervals.insert(intervals.end(), set.intervals().begin(), set.intervals().end());
    return IndexSet::of(intervals);
  }

  std::vector<std::int64_t> most_elements() const {
    const std::int64_t width = std::min(panels_.width, panels_.least()), block = width * (width + 2);
    return {block, block, panels_.rows_of(0).size() * width,
            panels_.owned(0, 0, panels_.columns).size() * width};
  }

  ChainLink link(int k, int kind) const {
    const bool passes = kind == numbers || (kind == top && owns_columns(k)) ||
                        (behind(k) < panels_.rows && behind(k) < panels_.columns && kind != top);
    if (!passes) return {};
    const std::int64_t elements = region_of(k, static_cast<Kind>(kind)).size();
    const Along line = kind == top || kind == columns ? Along::column : Along::row;
    return chain_link(panels_, builder_.rank(), line, k, elements);
  }

  /// What this rank passes on first: a copy of what is in its own memory.
  void start(int k, Kind kind, const Place& from) {
    const ChainLink chain = link(k, kind);
    if (chain.elements == 0 || chain.to < 0) return;
    builder_.copy(builder_.rank(), region_of(k, kind), from, transport_.slot(k, kind));
    transport_.send(k, kind);
  }
  void receive(int k, Kind kind) {
    transport_.receive(k, kind);
    transport_.send(k, kind);
  }
  FoundPanel found(int k, Kind kind) const { return transport_.found(k, kind, region_of(k, kind)); }

  // --- the panel, by the ranks of its column of the grid

  void factorize_panel(int k) {
    const IndexSet diagonal = panels_.diagonal(k);
    tournament_.play(k, transport_.slot(k, top));
    if (owns_rows(k)) {
      factorize_chosen(k);
      transport_.send(k, top);
    } else {
      receive(k, top);
    }
    find_pivots(k, top);
    start(k, numbers, found(k, top).part(diagonal, region_of(k, numbers).sets[1]).place);
    exchange_.run(k, diagonal);
    const Part block = found(k, top).part(diagonal, diagonal);
    if (owns_rows(k))
      builder_.copy(builder_.rank(), block.region, block.place, builder_.own(buffers_.factor));
    const Part lower = of_factor(panels_.rows_below(k, row_), diagonal);
    if (!lower.region.empty()) {
      TriangularSolve solve;
      solve.triangle = block;
      solve.to = lower;
      solve.upper = solve.from_right = solve.zero_as_one = true;
      builder_.compute(solve);
    }
    start(k, rows, lower.place);
  }

  /// The chosen rows, in the order in which partial pivoting takes them.
  void factorize_chosen(int k) {
    const IndexSet diagonal = panels_.diagonal(k);
    const Part order{{{IndexSet::range(0, diagonal.size())}}, {order_, builder_.rank(), 0, Extents{0}}};
    FactorPanel work;
    work.kind = Factorization::lu;
    work.panel = found(k, top).part(diagonal, diagonal);
    work.pivots = order;
    work.status = {buffers_.status_of(k), builder_.own(buffers_.status)};
    builder_.compute(work);
    builder_.compute(ExchangeRows{found(k, top).part(diagonal, of_numbers(k)), order});
  }

  void find_pivots(int k, Kind from) {
    builder_.compute(PivotsOfRows{found(k, from).part(panels_.diagonal(k), of_numbers(k)),
                                  {buffers_.pivots_of(k), builder_.own(buffers_.pivots)}});
  }

  // --- behind the panel

  void take(int k) {
    if (!owns_columns(k)) {
      receive(k, numbers);
      find_pivots(k, numbers);
      receive(k, rows);
    }
    exchange_.run(k, others(k));
    if (!owns_rows(k)) return receive(k, columns);
    const Part upper = of_factor(panels_.diagonal(k), trailing(k));
    if (upper.region.empty()) return;
    TriangularSolve solve;
    solve.triangle = found(k, owns_columns(k) ? top : numbers).part(panels_.diagonal(k), panels_.diagonal(k));
    solve.to = upper;
    solve.unit_diagonal = true;
    builder_.compute(solve);
    start(k, columns, upper.place);
  }

  void update(int k, const IndexSet& of_columns) {
    const IndexSet below = panels_.rows_below(k, row_), diagonal = panels_.diagonal(k);
    if (below.empty() || of_columns.empty()) return;
    Multiply work;
    work.a = owns_columns(k) ? of_factor(below, diagonal) : found(k, rows).part(below, diagonal);
    work.b = owns_rows(k) ? of_factor(diagonal, of_columns) : found(k, columns).part(diagonal, of_columns);
    work.to = of_factor(below, of_columns);
    work.beta = Beta::one;
    work.compute = compute_;
    builder_.compute(work);
  }

  const Panels& panels_;
  const FactorBuffers& buffers_;
  ComputeType compute_;
  planning::PlanBuilder& builder_;
  int row_, column_;  // of this rank
  ChainTransport transport_;
  Tournament tournament_;
  RowExchange exchange_;
  int order_ = -1;
};

}  // namespace

void factorize_lu_on_grid(const FactorBuffers& buffers, ComputeType compute, planning::PlanBuilder& builder) {
  GridLuPlanner(buffers, compute, builder).factorize();
}

}  // namespace partita::linear
