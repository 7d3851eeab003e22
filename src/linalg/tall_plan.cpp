// Plans of tall QR factorizations by reflectors.
#include <fmt/format.h>

#include "linalg/grid_plans.hpp"
#include "linalg/tall.hpp"

namespace partita::linear {

namespace {

/// Two levels of reflectors: those of this rank's rows, and those of the triangles of all ranks, which every
/// rank has. Arrays of the first level have the rows of A, in slabs; those of the second n rows of each rank.
class TallPlanner {
 public:
  TallPlanner(std::string_view operation, const Operand& a, const Topology& topology, int rank)
      : dtype_(a.dtype), space_(a.space), m_(a.layout.shape()[0]), n_(a.layout.shape()[1]) {
    plan_.operation = operation;
    plan_.method = "TSQR";
    plan_.reason = fmt::format("{} rows of {} columns on each of {} ranks, then {} triangles",
                               m_ / topology.ranks(), n_, topology.ranks(), topology.ranks());
    plan_.rank = rank;
    plan_.topology = topology;
  }

  int add(const std::string& name, const Operand& operand) {
    plan_.identity.push_back({name, operand.to_string()});
    return builder_.add_operand(name, operand);
  }

  void factorize(int a) {
    rows_ = builder_.add_array("rows", operand(by_rows(n_)));
    status_ = builder_.add_array("status", on_heap(Layout(Replicated(), {1}, ranks()), Dtype::i32, space_));
    factors_ = add_factors("factors of the rows");
    stacked_factors_ = add_factors("factors of the triangles");
    top_ = builder_.add_scratch("top", BufferKind::scratch, n_ * n_ * size_of(dtype_), dtype_);
    append_redistribution(builder_, a, rows_);
    factor_panel(rows_, own_rows(), factors_);
    const int mine = builder_.add_array("own triangle", operand(by_triangles(n_)));
    move_up(rows_, mine, n_);
    clear_below_diagonal(mine, plan_.rank * n_);
    stack_ = builder_.add_array("triangles", operand(stacked(n_)));
    append_redistribution(builder_, mine, stack_);
    factor_panel(stack_, all_triangles(), stacked_factors_);
  }

  void form_q(int q) {
    const int stack = builder_.add_array("Q of the triangles", operand(stacked(n_)));
    builder_.fill(Reduction::sum, {{all_triangles(), columns(n_)}}, builder_.own(stack));
    for (std::int64_t j = 0; j < n_; ++j) {
      const IndexSet one = IndexSet::range(j, j + 1);
      builder_.fill(Reduction::product, {{one, one}}, builder_.own(stack));
    }
    apply(stack_, all_triangles(), stacked_factors_, stack, n_, false);
    const int rows = builder_.add_array("Q by rows", operand(by_rows(n_)));
    builder_.fill(Reduction::sum, {{own_rows(), columns(n_)}}, builder_.own(rows));
    move_down(stack, rows, n_);
    apply(rows_, own_rows(), factors_, rows, n_, false);
    append_redistribution(builder_, rows, q);
  }

  /// After all uses of the second level's reflectors.
  void store_r(int r) {
    clear_below_diagonal(stack_, 0);
    const int triangle =
        builder_.add_array("R on all ranks", operand(Layout(Replicated(), {n_, n_}, ranks())));
    builder_.copy(plan_.rank, {{columns(n_), columns(n_)}}, builder_.own(stack_), builder_.own(triangle));
    append_redistribution(builder_, triangle, r);
  }

  void solve(int b, int x) {
    const std::int64_t count = builder_.operand(b).layout.shape()[1];
    if (count == 0) return;
    const int rows = builder_.add_array("B by rows", operand(by_rows(count)));
    const int mine = builder_.add_array("own part of Q^H B", operand(by_triangles(count)));
    const int stack = builder_.add_array("Q^H B", operand(stacked(count)));
    builder_.buffer(top_).bytes = n_ * std::max(n_, count) * size_of(dtype_);
    append_redistribution(builder_, b, rows);
    apply(rows_, own_rows(), factors_, rows, count, true);
    move_up(rows, mine, count);
    append_redistribution(builder_, mine, stack);
    apply(stack_, all_triangles(), stacked_factors_, stack, count, true);
    TriangularSolve solve;
    solve.triangle = {{{columns(n_), columns(n_)}}, builder_.own(stack_)};
    solve.to = {{{columns(n_), columns(count)}}, builder_.own(stack)};
    solve.upper = true;
    builder_.compute(solve);
    const int solved =
        builder_.add_array("X on all ranks", operand(Layout(Replicated(), {n_, count}, ranks())));
    builder_.copy(plan_.rank, {{columns(n_), columns(count)}}, builder_.own(stack), builder_.own(solved));
    append_redistribution(builder_, solved, x);
  }

  Plan take() { return std::move(plan_); }

 private:
  int ranks() const { return plan_.topology.ranks(); }
  static IndexSet columns(std::int64_t count) { return IndexSet::range(0, count); }
  Operand operand(const Layout& layout) const { return on_heap(layout, dtype_, space_); }
  Layout by_rows(std::int64_t count) const { return {Slab(0), {m_, count}, ranks()}; }
  Layout by_triangles(std::int64_t count) const { return {Slab(0), {ranks() * n_, count}, ranks()}; }
  Layout stacked(std::int64_t count) const { return {Replicated(), {ranks() * n_, count}, ranks()}; }
  IndexSet own_rows() const { return by_rows(n_).region(plan_.rank).sets[0]; }
  IndexSet all_triangles() const { return IndexSet::range(0, ranks() * n_); }

  int add_factors(const std::string& name) {
    return builder_.add_array(name, operand(Layout(Replicated(), {n_}, ranks())));
  }

  Region factors_of(const IndexSet& rows) const { return {{columns(std::min(n_, rows.size()))}}; }

  void factor_panel(int array, const IndexSet& rows, int factors) {
    if (rows.empty()) return;
    FactorPanel work;
    work.kind = Factorization::qr;
    work.panel = {{{rows, columns(n_)}}, builder_.own(array)};
    work.pivots = {factors_of(rows), builder_.own(factors)};
    work.status = {{{columns(1)}}, builder_.own(status_)};
    builder_.compute(work);
  }

  void apply(int reflectors, const IndexSet& rows, int factors, int to, std::int64_t count, bool adjoint) {
    if (rows.empty()) return;
    ApplyReflectors work;
    work.reflectors = {{{rows, factors_of(rows).sets[0]}}, builder_.own(reflectors)};
    work.factors = {factors_of(rows), builder_.own(factors)};
    work.to = {{{rows, columns(count)}}, builder_.own(to)};
    work.adjoint = adjoint;
    builder_.compute(work);
  }

  /// The first rows of this rank's part, and their places among the triangles.
  struct Tops {
    IndexSet rows, places;
  };
  Tops tops() const {
    const IndexSet rows = own_rows();
    const std::int64_t count = std::min(n_, rows.size()), first = rows.empty() ? 0 : rows.front();
    return {IndexSet::range(first, first + count), IndexSet::range(plan_.rank * n_, plan_.rank * n_ + count)};
  }
  Place top() const {
    Place place = builder_.own(top_);
    place.axis_order = {1, 0};
    return place;
  }

  void move_up(int rows, int triangle, std::int64_t count) {
    const auto [from, to] = tops();
    if (to.size() < n_)
      builder_.fill(Reduction::sum, builder_.operand(triangle).layout.region(plan_.rank),
                    builder_.own(triangle));
    if (from.empty()) return;
    builder_.copy(plan_.rank, {{from, columns(count)}}, builder_.own(rows), top());
    builder_.copy(plan_.rank, {{to, columns(count)}}, top(), builder_.own(triangle));
  }

  void move_down(int stack, int rows, std::int64_t count) {
    const auto [to, from] = tops();
    if (from.empty()) return;
    builder_.copy(plan_.rank, {{from, columns(count)}}, builder_.own(stack), top());
    builder_.copy(plan_.rank, {{to, columns(count)}}, top(), builder_.own(rows));
  }

  /// Of the triangle whose rows begin with this one.
  void clear_below_diagonal(int array, std::int64_t first) {
    for (std::int64_t j = 0; j + 1 < n_; ++j) {
      builder_.fill(Reduction::sum, {{IndexSet::range(first + j + 1, first + n_), IndexSet::range(j, j + 1)}},
                    builder_.own(array));
    }
  }

  Dtype dtype_;
  MemorySpace space_;
  std::int64_t m_, n_;
  Plan plan_;
  planning::PlanBuilder builder_{plan_};
  int rows_ = -1, factors_ = -1;           // of the first level
  int stack_ = -1, stacked_factors_ = -1;  // of the second level
  int status_ = -1, top_ = -1;
};

}  // namespace

Plan plan_tall_qr(const Operand& a, const Operand& q, const Operand& r, const Topology& topology, int rank) {
  TallPlanner planner("qr", a, topology, rank);
  const int given = planner.add("A", a), to_q = planner.add("Q", q), to_r = planner.add("R", r);
  planner.factorize(given);
  planner.form_q(to_q);
  planner.store_r(to_r);
  return planner.take();
}

Plan plan_tall_least_squares(const Operand& a, const Operand& b, const Operand& x, const Operand& r,
                             const Topology& topology, int rank) {
  TallPlanner planner("lstsq", a, topology, rank);
  const int given = planner.add("A", a), sides = planner.add("B", b), solution = planner.add("X", x),
            to_r = planner.add("R", r);
  planner.factorize(given);
  planner.solve(sides, solution);
  planner.store_r(to_r);
  return planner.take();
}

}  // namespace partita::linear
