// Plans of Cholesky factorizations on a grid of ranks: right-looking, with a look-ahead of one panel.
//
// Panel k, on grid (i, j) of Pr x Pc ranks, with blocks of b rows and columns:
//   1. the owner of the block on the diagonal factorizes it, and it passes down the column of the grid;
//   2. the ranks of that column solve for their rows of the panel, which pass along the rows of the grid;
//   3. L[J, k] of the blocks J of a grid's column passes down that column, from the ranks whose rows they
//   are;
//   4. each rank updates its blocks: A[I, J] -= L[I, k] L[J, k]^H.
#include <fmt/format.h>

#include <numeric>
#include <partita/redistribute.hpp>

#include "linalg/chain_transport.hpp"
#include "linalg/facts.hpp"
#include "linalg/grid_plans.hpp"

namespace partita::linear {
namespace {

class GridCholeskyPlanner {
 public:
  GridCholeskyPlanner(const FactorBuffers& buffers, ComputeType compute, planning::PlanBuilder& builder)
      : panels_(buffers.panels),
        buffers_(buffers),
        compute_(compute),
        builder_(builder),
        row_(panels_.row_of(builder.rank())),
        column_(panels_.column_of(builder.rank())),
        common_(std::gcd(panels_.grid_rows, panels_.grid_columns())),
        period_(panels_.grid_rows / common_ * panels_.grid_columns()),
        transport_(builder, buffers.dtype, buffers.space, most_elements(), panels_.count(),
                   [this](int turn, int kind) { return link(turn, kind); }) {
    find_sources();
  }

  void factorize() {
    if (panels_.count() == 0) return;
    builder_.fill(Reduction::sum, {{IndexSet::range(0, panels_.count())}}, builder_.own(buffers_.status));
    transport_.open();
    factorize_panel(0);
    for (int k = 0; k < panels_.count(); ++k) {
      take(k);
      int rest = k + 1;
      if (rest < panels_.count() && owns_columns(rest)) {
        update(k, rest);
        factorize_panel(rest++);
      }
      for (int j = rest + (column_ - rest % panels_.grid_columns() + panels_.grid_columns()) %
                              panels_.grid_columns();
           j < panels_.count(); j += panels_.grid_columns())
        update(k, j);
      transport_.end(k);
    }
    transport_.close();
  }

 private:
  /// What passes: the block on the diagonal, the rows of the panel, and from each row of the grid that has
  /// blocks J of a grid's column those.
  enum Kind : int { diagonal, rows, first_of_columns };

  int sources() const { return panels_.grid_rows / common_; }
  /// The row of the grid from which a column of the grid has its blocks of that number.
  int source(int number) const { return column_ % common_ + number * common_; }
  bool owns_columns(int k) const { return k % panels_.grid_columns() == column_; }
  IndexSet rows_from(int block) const { return panels_.blocks(row_, panels_.grid_rows, block, panels_.rows); }
  Place factor() const { return builder_.own(buffers_.factor); }
  Region rows_of(int k) const { return {{rows_from(k + 1), panels_.diagonal(k)}}; }
  /// L[J, k] from one source.
  Region columns_of(int k, int number) const {
    return {{panels_.blocks(residues_[static_cast<std::size_t>(number)], period_, k + 1, panels_.rows),
             panels_.diagonal(k)}};
  }

  std::vector<std::int64_t> most_elements() const {
    const auto most = [&](int period) {
      return panels_.blocks(0, period, 0, panels_.rows).size() * panels_.width;
    };
    std::vector<std::int64_t> result{panels_.width * std::min(panels_.width, panels_.rows),
                                     most(panels_.grid_rows)};
    const int count = first_of_columns + sources();
    result.resize(static_cast<std::size_t>(count), most(period_));
    return result;
  }

  /// The blocks J of this column of the grid that a row of the grid has are those congruent to one number
  /// modulo the least common multiple of the grid's extents.
  void find_sources() {
    for (int number = 0; number < sources(); ++number) {
      int residue = column_;
      while (residue % panels_.grid_rows != source(number)) residue += panels_.grid_columns();
      residues_.push_back(residue);
    }
  }

  ChainLink link(int k, int kind) const {
    const auto chain = [this](Along line, int first, std::int64_t elements) {
      return chain_link(panels_, builder_.rank(), line, first, elements);
    };
    if (kind == diagonal) {
      const bool passes = owns_columns(k) && panels_.end(k) < panels_.rows;
      return passes ? chain(Along::column, k, panels_.width * panels_.width) : ChainLink();
    }
    if (kind == rows) return chain(Along::row, k, rows_of(k).size());
    const int number = kind - first_of_columns;
    return chain(Along::column, source(number), columns_of(k, number).size());
  }

  /// By the ranks of its column of the grid.
  void factorize_panel(int k) {
    if (!owns_columns(k)) return;
    const Region block{{panels_.diagonal(k), panels_.diagonal(k)}};
    if (k % panels_.grid_rows == row_) {
      FactorPanel work;
      work.kind = Factorization::cholesky;
      work.panel = {block, factor()};
      work.status = {buffers_.status_of(k), builder_.own(buffers_.status)};
      builder_.compute(work);
      if (panels_.end(k) < panels_.rows)
        builder_.copy(builder_.rank(), block, factor(), transport_.slot(k, diagonal));
    } else {
      transport_.receive(k, diagonal);
    }
    transport_.send(k, diagonal);
    const Region mine = rows_of(k);
    if (mine.empty()) return;
    TriangularSolve solve;
    solve.triangle = {block, transport_.slot(k, diagonal)};
    solve.to = {mine, factor()};
    solve.op = Op::conjugate_transpose;
    solve.from_right = true;
    builder_.compute(solve);
    builder_.copy(builder_.rank(), mine, factor(), transport_.slot(k, rows));
    transport_.send(k, rows);
  }

  void take(int k) {
    if (!owns_columns(k)) {
      transport_.receive(k, rows);
      transport_.send(k, rows);
    }
    taken_ = {transport_.found(k, rows, rows_of(k))};
    for (int number = 0; number < sources(); ++number) {
      const int kind = first_of_columns + number;
      if (source(number) == row_) {
        copy_columns(k, number);
      } else {
        transport_.receive(k, kind);
      }
      transport_.send(k, kind);
      taken_.push_back(transport_.found(k, kind, columns_of(k, number)));
    }
  }

  /// Block by block, if not all of the rank's rows are among its columns.
  void copy_columns(int k, int number) {
    const Region given = rows_of(k), taken = columns_of(k, number);
    if (taken.empty()) return;
    const Place to = transport_.slot(k, first_of_columns + number);
    if (given == taken) {
      builder_.copy(builder_.rank(), taken, transport_.slot(k, rows), to);
      return;
    }
    const FoundPanel source = transport_.found(k, rows, given),
                     copy = transport_.found(k, first_of_columns + number, taken);
    for (std::int64_t first = taken.sets[0].front(); first < panels_.rows; first += period_ * panels_.width) {
      const IndexSet block = panels_.columns_of(static_cast<int>(first / panels_.width));
      const Part from = source.part(block, panels_.diagonal(k));
      builder_.copy(builder_.rank(), from.region, from.place, copy.part(block, panels_.diagonal(k)).place);
    }
  }

  /// Block column j, from its diagonal on: what is above is not computed.
  void update(int k, int j) {
    const IndexSet below = rows_from(j);
    if (below.empty()) return;
    const int source = 1 + (j % panels_.grid_rows - column_ % common_) / common_;
    const IndexSet columns = panels_.diagonal(k), block = panels_.columns_of(j);
    Multiply work;
    work.a = taken_.front().part(below, columns);
    work.b = taken_[static_cast<std::size_t>(source)].part(block, columns);
    work.to = {{{below, block}}, factor()};
    work.transpose_b = work.conjugate_b = true;
    work.beta = Beta::one;
    work.compute = compute_;
    builder_.compute(work);
  }

  const Panels& panels_;
  const FactorBuffers& buffers_;
  ComputeType compute_;
  planning::PlanBuilder& builder_;
  int row_, column_;  // of this rank
  int common_, period_;
  std::vector<int> residues_;  // by number of a source
  ChainTransport transport_;
  std::vector<FoundPanel> taken_;  // of the panel in hand: its rows, then columns by source
};

}  // namespace

void factorize_cholesky_on_grid(const FactorBuffers& buffers, ComputeType compute,
                                planning::PlanBuilder& builder) {
  GridCholeskyPlanner(buffers, compute, builder).factorize();
}

}  // namespace partita::linear
