// Plans of CholeskyQR (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015; with a shift Fukaya, Kannan,
// Nakatsukasa, Yamamoto and Yanagisawa 2020).
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <partita/redistribute.hpp>

#include "base/round.hpp"
#include "linalg/grid_plans.hpp"
#include "linalg/panels.hpp"
#include "linalg/tall.hpp"
#include "plan/plan_builder.hpp"

namespace partita::linear {
namespace {

/// Whether every row is owned by one rank as a whole.
bool has_whole_rows(const Layout& layout) {
  if (layout.partial()) return false;
  if (layout.ranks() == 1) return true;
  if (layout.is_replicated()) return false;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region region = layout.region(rank);
    if (!region.empty() && region.sets[1].size() != layout.shape()[1]) return false;
  }
  return true;
}

IndexSet rows_of(const Layout& layout, int rank) {
  const Region region = layout.region(rank);
  return region.empty() ? IndexSet() : region.sets[0];
}

bool has_same_rows(const Layout& a, const Layout& b) {
  for (int rank = 0; rank < a.ranks(); ++rank) {
    if (!(rows_of(a, rank) == rows_of(b, rank))) return false;
  }
  return true;
}

/// Rounds A = Q L^H with L L^H = A^H A, in each of which A is the Q of the one before. All ranks hold the
/// triangles, sums of products of rows go through one owner for each element, so that they are the same.
class CholeskyQrPlanner {
 public:
  CholeskyQrPlanner(std::string_view operation, TallMethod method, const Operand& a, const Topology& topology,
                    int rank)
      : a_(a),
        method_(method),
        m_(a.layout.shape()[0]),
        n_(a.layout.shape()[1]),
        rounds_(method == TallMethod::shifted ? 3 : 2),
        rows_(has_whole_rows(a.layout) ? a.layout : Layout(Slab(0), a.layout.shape(), a.layout.ranks())) {
    plan_.operation = operation;
    plan_.method = rounds_ == 3 ? "shifted CholeskyQR3" : "CholeskyQR2";
    plan_.reason =
        fmt::format("{} rows of {} columns on {} ranks, divided by {}", m_, n_, topology.ranks(),
                    method == TallMethod::inverses ? "products with inverses" : "triangular solves");
    plan_.identity.push_back({"method", plan_.method + ", " + plan_.reason});
    plan_.rank = rank;
    plan_.topology = topology;
  }

  Plan factors(const Operand& q, const Operand& r) {
    const int given = add("A", a_), to_q = add("Q", q), to_r = add("R", r);
    add_measures();
    const bool in_place = q.dense && q.axis_order == a_.axis_order && q.layout.equivalent(rows_);
    last_ = in_place ? to_q : add_rows("Q by rows");
    stage_ = on_device() ? add_rows("Q of earlier rounds") : last_;
    factorize(given, rounds_);
    if (!in_place) append_redistribution(builder_, last_, to_q);
    store_r(to_r);
    return std::move(plan_);
  }

  Plan least_squares(const Operand& b, const Operand& x) {
    const int given = add("A", a_), sides = add("B", b), to_x = add("X", x);
    add_measures();
    const bool suits = has_whole_rows(b.layout) && has_same_rows(rows_, b.layout);
    if (!suits) rows_ = Layout(Slab(0), a_.layout.shape(), ranks());
    stage_ = add_rows("Q");
    const int q = factorize(given, rounds_ - 1);
    solve(q, sides, to_x);
    return std::move(plan_);
  }

 private:
  struct Square {
    int padded = -1;  // the same memory with further elements behind it
    int matrix = -1;
  };

  int ranks() const { return plan_.topology.ranks(); }
  bool on_device() const { return a_.space == MemorySpace::device; }
  bool is_last(int round) const { return round == rounds_ - 1; }
  /// The triangle of the last round is nearly the unit matrix.
  bool by_inverse(int round) const {
    return on_device() && (is_last(round) || method_ == TallMethod::inverses);
  }
  static IndexSet range(std::int64_t count) { return IndexSet::range(0, count); }
  Region all() const { return {{range(n_), range(n_)}}; }
  IndexSet own_rows() const { return rows_of(rows_, plan_.rank); }
  Operand operand(const Layout& layout) const { return on_heap(layout, a_.dtype, a_.space); }
  Operand replicated(const Shape& shape) const { return operand(Layout(Replicated(), shape, ranks())); }
  Part whole(int array) const { return {all(), builder_.own(array)}; }

  int add(const std::string& name, const Operand& operand) {
    plan_.identity.push_back({name, operand.to_string()});
    return builder_.add_operand(name, operand);
  }

  void add_measures() {
    const TallMeasureOperands measures = tall_measures(a_);
    first_gram_ = builder_.add_operand("first Gram matrix", measures.gram);
    last_gram_ = builder_.add_operand("last Gram matrix", measures.gram);
    status_ = builder_.add_operand("status", measures.status);
    if (method_ == TallMethod::inverses)
      first_inverse_ = builder_.add_operand("inverse of the first triangle", measures.gram);
    builder_.fill(Reduction::sum, {{range(measures.status.layout.shape()[0])}}, builder_.own(status_));
  }

  /// In the order of A, so that products run along its rows or columns.
  int add_rows(const std::string& name) {
    Operand rows = operand(rows_);
    rows.axis_order = a_.axis_order;
    return builder_.add_array(name, rows);
  }

  /// Appends rounds, of which the first `divided` end with a Q. The latest Q, or A.
  int factorize(int a, int divided) {
    int from = a;
    if (!builder_.operand(a).layout.equivalent(rows_)) {
      from = by_inverse(0) ? add_rows("A by rows") : stage_;
      append_redistribution(builder_, a, from);
    }
    for (int round = 0; round < rounds_; ++round) {
      form_gram(round, from);
      factorize_gram(round);
      if (round >= divided) break;
      const int to = is_last(round) ? last_ : stage_;
      divide(round, from, to);
      from = to;
    }
    return from;
  }

  int gram_of(int round) {
    if (round == 0) return first_gram_;
    return is_last(round) ? last_gram_ : builder_.add_array("Gram matrix", replicated({n_, n_}));
  }

  void form_gram(int round, int rows) {
    gram_ = gram_of(round);
    sum_of_rows({{own_rows(), range(n_)}}, rows, rows, gram_);
    if (method_ != TallMethod::shifted || round > 0) return;
    Multiply shift;  // by alpha times the unit matrix
    shift.a = shift.b = whole(unit());
    shift.to = whole(gram_);
    shift.beta = Beta::one;
    builder_.compute(shift);
  }

  /// to = left^H right, summed over the rows of all ranks.
  void sum_of_rows(const Region& of_right, int left, int right, int to) {
    const std::int64_t count = of_right.sets[1].size();
    Multiply product;
    product.a = {{{own_rows(), range(n_)}}, builder_.own(left)};
    product.b = {of_right, builder_.own(right)};
    product.transpose_a = product.conjugate_a = true;
    product.scaled = false;
    product.to.region = {{range(n_), range(count)}};
    if (ranks() == 1) {
      product.to.place = builder_.own(to);
      builder_.compute(product);
      return;
    }
    const Distribution summed = Distribution::parse(fmt::format("mesh:r={}:-,-;partial=sum:r", ranks()));
    const int own = builder_.add_array("sums over own rows", operand({summed, {n_, count}, ranks()}));
    const int sums = builder_.add_array("sums", operand({Slab(0), {n_, count}, ranks()}));
    product.to.place = builder_.own(own);
    builder_.compute(product);
    append_redistribution(builder_, own, sums);
    append_redistribution(builder_, sums, to);
  }

  void factorize_gram(int round) {
    const Square square = add_square();
    triangles_.push_back(square);
    builder_.copy(plan_.rank, all(), builder_.own(gram_), builder_.own(square.matrix));
    FactorPanel work;
    work.kind = Factorization::cholesky;
    work.panel = whole(square.matrix);
    work.pivots.place = work.panel.place;
    work.status = {{{IndexSet::range(round, round + 1)}}, builder_.own(status_)};
    builder_.compute(work);
  }

  /// to = from L^-H
  void divide(int round, int from, int to) {
    const Region rows{{own_rows(), range(n_)}};
    if (by_inverse(round)) {
      if (rows.empty()) return (void)inverse(round);
      Multiply product;
      product.a = {rows, builder_.own(from)};
      product.b = whole(inverse(round));
      product.to = {rows, builder_.own(to)};
      product.scaled = false;
      builder_.compute(product);
      return;
    }
    if (from != to) append_redistribution(builder_, from, to);
    TriangularSolve solve;
    solve.triangle = whole(triangle(round));
    if (a_.axis_order == Extents{1, 0}) {
      solve.to = {rows, builder_.own(to)};
      solve.op = Op::conjugate_transpose;
      solve.from_right = true;
    } else {
      const std::array axes{1, 0};
      solve.to = {{{rows.sets[1], rows.sets[0]}},
                  builder_.own(builder_.add_view(to, builder_.operand(to).permuted(axes)))};
      solve.op = Op::conjugate;
    }
    if (!rows.empty()) builder_.compute(solve);
  }

  int triangle(int round) const { return triangles_[static_cast<std::size_t>(round)].matrix; }

  /// L^-H, with zeros below the diagonal.
  int inverse(int round) {
    const bool is_measure = round == 0 && first_inverse_ >= 0;
    const int inverse =
        is_measure ? first_inverse_ : builder_.add_array("inverse of a triangle", replicated({n_, n_}));
    builder_.copy(plan_.rank, all(), builder_.own(unit()), builder_.own(inverse));
    divide_from_left(round, Op::conjugate_transpose, inverse, n_);
    return inverse;
  }

  void divide_from_left(int round, Op op, int to, std::int64_t columns) {
    TriangularSolve solve;
    solve.triangle = whole(triangle(round));
    solve.to = {{{range(n_), range(columns)}}, builder_.own(to)};
    solve.op = op;
    builder_.compute(solve);
  }

  /// The unit matrix: with one more row, in the memory of the same columns, its diagonal is a row.
  int unit() {
    if (unit_ >= 0) return unit_;
    const int padded = builder_.add_array("unit matrix", replicated({n_ + 1, n_}));
    unit_ = builder_.add_view(padded, replicated({n_, n_}));
    builder_.fill(Reduction::sum, {{range(n_ + 1), range(n_)}}, builder_.own(padded));
    builder_.fill(Reduction::product, {{range(1), range(n_)}}, builder_.own(padded));
    return unit_;
  }

  // --- triangles, as blocks of `block_` columns: the same element of all blocks on the diagonal is one row
  // of a matrix of one column for each block

  Square add_square() {
    const int padded =
        builder_.add_array("triangle", replicated({block_ * (n_ + 1), ceil_divide(n_, block_)}));
    return {padded, builder_.add_view(padded, replicated({n_, n_}))};
  }

  void clear_above_diagonal(const Square& triangle) {
    const IndexSet blocks = range(ceil_divide(n_, block_));
    for (std::int64_t j = 1; j < std::min(block_, n_); ++j)
      builder_.fill(Reduction::sum, {{IndexSet::range(j * n_, j * n_ + j), blocks}},
                    builder_.own(triangle.padded));
    for (std::int64_t j = block_; j < n_; j += block_)
      builder_.fill(Reduction::sum, {{range(j), IndexSet::range(j, std::min(n_, j + block_))}},
                    builder_.own(triangle.matrix));
  }

  /// R = L_k^H .. L_2^H L_1^H
  void store_r(int to) {
    for (const Square& triangle : triangles_) clear_above_diagonal(triangle);
    int r = -1;
    for (std::size_t round = 1; round < triangles_.size(); ++round) {
      Multiply product;
      product.a = whole(triangles_[round].matrix);
      product.b = whole(round == 1 ? triangles_[0].matrix : r);
      product.transpose_a = product.conjugate_a = true;
      product.transpose_b = product.conjugate_b = round == 1;
      product.scaled = false;
      r = builder_.add_array("R on all ranks", replicated({n_, n_}));
      product.to = whole(r);
      builder_.compute(product);
    }
    append_redistribution(builder_, r, to);
  }

  /// The Q of all rounds but the last: X = L_1^-H .. L_k^-H L_k^-1 Q^H B.
  void solve(int q, int b, int x) {
    const std::int64_t count = builder_.operand(b).layout.shape()[1];
    if (count == 0) return;
    int sides = b;
    const Layout& given = builder_.operand(b).layout;
    if (!has_whole_rows(given) || !has_same_rows(rows_, given)) {
      sides = builder_.add_array("B by rows", operand({Slab(0), given.shape(), ranks()}));
      append_redistribution(builder_, b, sides);
    }
    const int solution = builder_.add_array("X on all ranks", replicated({n_, count}));
    sum_of_rows({{own_rows(), range(count)}}, q, sides, solution);
    divide_from_left(rounds_ - 1, Op::none, solution, count);
    for (int round = rounds_ - 1; round >= 0; --round)
      divide_from_left(round, Op::conjugate_transpose, solution, count);
    append_redistribution(builder_, solution, x);
  }

  Operand a_;
  TallMethod method_;
  std::int64_t m_, n_;
  int rounds_;
  Layout rows_;  // in which all ranks have whole rows
  std::int64_t block_ = std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(n_))));
  Plan plan_;
  planning::PlanBuilder builder_{plan_};
  int first_gram_ = -1, last_gram_ = -1, status_ = -1, first_inverse_ = -1;
  int stage_ = -1, last_ = -1;  // of earlier rounds, and of the last one
  int gram_ = -1, unit_ = -1;
  std::vector<Square> triangles_;  // by round
};

}  // namespace

TallMeasureOperands tall_measures(const Operand& a) {
  const std::int64_t n = a.layout.shape()[1];
  const int ranks = a.layout.ranks();
  return {on_heap(Layout(Replicated(), {n, n}, ranks), a.dtype, a.space),
          on_heap(Layout(Replicated(), {3}, ranks), Dtype::i32, a.space)};
}

Plan plan_cholesky_qr(TallMethod method, const Operand& a, const Operand& q, const Operand& r,
                      const Topology& topology, int rank) {
  return CholeskyQrPlanner("qr", method, a, topology, rank).factors(q, r);
}

Plan plan_cholesky_qr_least_squares(TallMethod method, const Operand& a, const Operand& b, const Operand& x,
                                    const Topology& topology, int rank) {
  return CholeskyQrPlanner("lstsq", method, a, topology, rank).least_squares(b, x);
}

}  // namespace partita::linear
