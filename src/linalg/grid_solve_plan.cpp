// Plans that solve with triangles on a grid of ranks. Nothing of the matrix moves: right-hand sides do.
//
// With T = L or U, M = op(T), block x_k of the solution lives on the owner of T[k, k]:
//   1. sums of M[k, J] x_J of the ranks that hold row k of M pass along these to that owner,
//   2. which solves for x_k;
//   3. x_k passes along the ranks that hold column k of M, which add their products with it to their sums.
// Both pass in the direction in which blocks follow each other, so only one step of each is between x_k and
// its successor (fan-in on a grid; Heath and Romine 1988).
#include <numeric>

#include "linalg/chain_transport.hpp"
#include "linalg/grid_plans.hpp"

namespace partita::linear {
namespace {

class GridSolvePlanner {
 public:
  GridSolvePlanner(const FactorBuffers& buffers, const std::vector<Pass>& passes, std::int64_t count,
                   planning::PlanBuilder& builder)
      : panels_(buffers.panels),
        buffers_(buffers),
        builder_(builder),
        turns_(passes, panels_.count()),
        all_(IndexSet::range(0, count)),
        row_(panels_.row_of(builder.rank())),
        column_(panels_.column_of(builder.rank())),
        sides_(
            builder.add_array("right-hand sides", on_heap(layout_of_sides(), buffers.dtype, buffers.space))),
        transport_(builder, buffers.dtype, buffers.space, {most_elements(), most_elements()}, turns_.count(),
                   [this](int turn, int kind) { return link(turn, kind); }) {
    const int least = std::min(panels_.grid_rows, panels_.grid_columns());
    const std::int64_t rows = panels_.blocks(0, least, 0, panels_.rows).size();
    sums_ = builder.add_scratch("sums", BufferKind::scratch, rows * count * buffers.item(), buffers.dtype);
  }

  planning::SolveSteps solve(int b, int x) {
    append_redistribution(builder_, b, sides_);
    planning::SolveSteps steps;
    steps.first = builder_.plan().steps.size();
    if (!all_.empty()) pass();
    steps.behind = builder_.plan().steps.size();
    steps.sides = sides_;
    append_redistribution(builder_, sides_, x);
    return steps;
  }

 private:
  enum Kind : int { sums, solution };

  // --- blocks in their order

  IndexSet indices(int k) const { return panels_.diagonal(k); }
  bool owns(int k) const { return panels_.owner(k) == builder_.rank(); }

  /// Whether this rank holds blocks of row k of M, or of column k.
  bool holds(const Pass& pass, int k, bool row_of_m) const {
    return row_of_m != pass.transposes() ? k % panels_.grid_rows == row_
                                         : k % panels_.grid_columns() == column_;
  }
  /// Of the rows of M of which this rank has blocks, those of blocks in [from, to).
  IndexSet held_rows(const Pass& pass, int from, int to) const {
    const std::int64_t end = std::min(to * panels_.width, panels_.rows);
    return pass.transposes() ? panels_.blocks(column_, panels_.grid_columns(), from, end)
                             : panels_.blocks(row_, panels_.grid_rows, from, end);
  }

  // --- memory

  /// Block k on the owner of the k-th block on the diagonal; these owners repeat.
  Layout layout_of_sides() const {
    const int period = std::lcm(panels_.grid_rows, panels_.grid_columns());
    std::vector<int> owners;
    for (int k = 0; k < period; ++k) owners.push_back(panels_.owner(k));
    const BlockCyclic rows({period, 1}, {panels_.width, std::max<std::int64_t>(1, all_.size())});
    return Layout(rows, {panels_.rows, all_.size()}, period).embedded(owners, panels_.ranks);
  }
  std::int64_t most_elements() const { return std::min(panels_.width, panels_.rows) * all_.size(); }
  Part of_sides(int k) const { return {{{indices(k), all_}}, builder_.own(sides_)}; }
  Part in_slot(int turn, Kind kind) const {
    return {{{indices(turns_.block(turn)), all_}}, transport_.slot(turn, kind)};
  }
  Part of_sums(const Pass& pass, const IndexSet& rows) const {
    const Region whole{{held_rows(pass, 0, turns_.blocks()), all_}};
    const Place place{sums_, builder_.rank(), 0, Extents{1, 0}};
    return FoundPanel(place, whole, buffers_.item()).part(rows, all_);
  }

  ChainLink link(int turn, int kind) const {
    const Pass& pass = turns_.pass_of(turn);
    const int k = turns_.block(turn);
    const bool is_of_sums = kind == sums;
    if (!holds(pass, k, is_of_sums) || (is_of_sums ? turns_.is_first(turn) : turns_.is_last(turn))) return {};
    const Along line = is_of_sums != pass.transposes() ? Along::row : Along::column;
    // The sums end where the solution starts.
    const int ahead = pass.forward() ? 1 : -1, first = is_of_sums ? k + ahead : k;
    return chain_link(panels_, builder_.rank(), line, first, indices(k).size() * all_.size(),
                      !pass.forward());
  }

  // --- passes

  void pass() {
    transport_.open();
    bool begun = false;
    for (int turn = 0; turn < turns_.count(); ++turn) {
      if (turns_.is_first(turn)) clear_sums(turns_.pass_of(turn));
      if (!begun) begin(turn);
      begun = !turns_.is_last(turn) && spread(turn);
      transport_.end(turn);
    }
    transport_.close();
  }

  void clear_sums(const Pass& pass) {
    const IndexSet rows = held_rows(pass, 0, turns_.blocks());
    if (rows.empty()) return;
    const Part all = of_sums(pass, rows);
    builder_.fill(Reduction::sum, all.region, all.place);
  }

  /// What leads to x_k.
  void begin(int turn) {
    const Pass& pass = turns_.pass_of(turn);
    const int k = turns_.block(turn);
    if (!turns_.is_first(turn) && holds(pass, k, true)) gather(turn);
    if (!owns(k)) return;
    builder_.compute(pass.solve({{{indices(k), indices(k)}}, builder_.own(buffers_.factor)}, of_sides(k)));
    if (turns_.is_last(turn)) return;
    move(of_sides(k), in_slot(turn, solution), false);
    transport_.send(turn, solution);
  }

  void gather(int turn) {
    const int k = turns_.block(turn);
    const Part own = of_sums(turns_.pass_of(turn), indices(k)), slot = in_slot(turn, sums);
    const bool continues = link(turn, sums).from >= 0;
    if (continues) transport_.receive(turn, sums);
    if (owns(k)) {
      if (continues) move(slot, of_sides(k), true);
      return move(own, of_sides(k), true);
    }
    move(own, slot, continues);
    transport_.send(turn, sums);
  }

  void move(const Part& from, const Part& to, bool adds) {
    if (adds) {
      builder_.accumulate(builder_.rank(), Reduction::sum, from.region, from.place, to.place);
    } else {
      builder_.copy(builder_.rank(), from.region, from.place, to.place);
    }
  }

  /// What follows from x_k. The next block is sent first: whether this rank has begun its turn.
  bool spread(int turn) {
    const Pass& pass = turns_.pass_of(turn);
    const int k = turns_.block(turn), next = turns_.block(turn + 1);
    if (!holds(pass, k, false)) return false;
    if (!owns(k)) {
      transport_.receive(turn, solution);
      transport_.send(turn, solution);
    }
    const bool leads = holds(pass, next, true);
    if (leads) {
      multiply(turn, held_rows(pass, next, next + 1));
      begin(turn + 1);
    }
    const int skipped = leads ? 1 : 0;
    multiply(turn, pass.forward() ? held_rows(pass, k + 1 + skipped, turns_.blocks())
                                  : held_rows(pass, 0, k - skipped));
    return leads;
  }

  /// sums -= M[rows, k] x_k.
  void multiply(int turn, const IndexSet& rows) {
    if (rows.empty()) return;
    const Pass& pass = turns_.pass_of(turn);
    const IndexSet diagonal = indices(turns_.block(turn));
    const Part panel{pass.transposes() ? Region{{diagonal, rows}} : Region{{rows, diagonal}},
                     builder_.own(buffers_.factor)};
    builder_.compute(pass.subtract(panel, in_slot(turn, solution), of_sums(pass, rows)));
  }

  const Panels& panels_;
  const FactorBuffers& buffers_;
  planning::PlanBuilder& builder_;
  GridTurns turns_;
  IndexSet all_;      // right-hand sides
  int row_, column_;  // of this rank
  int sides_ = -1, sums_ = -1;
  ChainTransport transport_;
};

}  // namespace

planning::SolveSteps solve_on_grid(const FactorBuffers& buffers, const std::vector<Pass>& passes, int b,
                                   int x, planning::PlanBuilder& builder) {
  return GridSolvePlanner(buffers, passes, builder.operand(b).layout.shape()[1], builder).solve(b, x);
}

}  // namespace partita::linear
