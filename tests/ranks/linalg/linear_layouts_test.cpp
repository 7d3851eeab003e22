// Linear algebra with operands in every distribution, order and memory.
#include "support/models/linear_model.hpp"
#include "support/models/random_layouts.hpp"

namespace partita::testing {
namespace {

constexpr std::int64_t side = 17;

/// Each distribution of A with others of B and X, in turns.
template <class Solve>
void with_every_distribution(Context& context, Dtype dtype, const DenseMatrix& matrix,
                             const DenseMatrix& x_like, const DenseMatrix& many, const Solve& solve_with) {
  const auto list = [&](const DenseMatrix& dense) {
    return matrix_distributions({dense.rows, dense.columns}, context.size());
  };
  const std::vector<Distribution> of_a = list(matrix), of_b = list(many), of_x = list(x_like);
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const Distribution& b_how = of_b[(i + 3) % of_b.size()];
    const Distribution* x_how = &of_x[(i + 5) % of_x.size()];
    if (is_partial(*x_how)) x_how = &of_x[i % 4];
    const auto make = [&](const DenseMatrix& dense, const Distribution& how, std::size_t kind) {
      const Layout layout(how, {dense.rows, dense.columns}, context.size());
      return make_array(context, layout, dtype, static_cast<int>(kind % 5));
    };
    Wrapped a = make(matrix, of_a[i], i), b = make(many, b_how, i + 1), x = make(x_like, *x_how, i + 2);
    SCOPED_TRACE(a.array.operand().to_string() + "; " + b.array.operand().to_string() + "; " +
                 x.array.operand().to_string());
    write_dense(a.array, matrix);
    write_dense(b.array, many);
    solve_with(a.array, b.array, x.array);
  }
}

RANK_TEST(LinearLayouts, Lu) {
  const DenseMatrix matrix = random_numbers(side, side, Dtype::f64, 1),
                    many = random_numbers(side, 6, Dtype::f64, 2);
  with_every_distribution(context, Dtype::f64, matrix, many, many, [&](Array& a, Array& b, Array& x) {
    const Lu lu(a, {.block = 3});
    lu.solve_into(b, x);
    expect_solves(matrix, dense_of(x), many, Dtype::f64);
    expect_solves(adjoint(matrix), dense_of(lu.solve(b, {.op = Op::transpose})), many, Dtype::f64);
    expect_lu(matrix, dense_of(lu.packed()), dense_of(lu.pivots()), Dtype::f64);
    const DenseMatrix inverted = dense_of(inverse(a));
    EXPECT_LT(ratio(matrix * inverted - identity(side, side), matrix.norm() * inverted.norm(), side,
                    epsilon_of(Dtype::f64)),
              most_ratio);
  });
}

RANK_TEST(LinearLayouts, Cholesky) {
  const DenseMatrix matrix = positive_definite(side, Dtype::c64, 3),
                    many = random_numbers(side, 6, Dtype::c64, 4);
  with_every_distribution(context, Dtype::c64, matrix, many, many, [&](Array& a, Array& b, Array& x) {
    const Cholesky factors(a, {.block = 3});
    factors.solve_into(b, x);
    expect_solves(matrix, dense_of(x), many, Dtype::c64);
    const DenseMatrix lower = dense_of(factors.lower());
    EXPECT_LT(ratio(lower * adjoint(lower) - matrix, matrix, side, epsilon_of(Dtype::c64)), most_ratio);
    TriangularOptions options;
    expect_solves(triangle_of(matrix, false, false), dense_of(solve_triangular(a, b, options)), many,
                  Dtype::c64);
  });
}

RANK_TEST(LinearLayouts, Qr) {
  const DenseMatrix matrix = random_numbers(23, side, Dtype::c128, 5),
                    many = random_numbers(23, 6, Dtype::c128, 6);
  with_every_distribution(context, Dtype::c128, matrix, DenseMatrix(side, 6), many,
                          [&](Array& a, Array& b, Array& x) {
                            const Qr qr(a, {.block = 3});
                            qr.solve_into(b, x);
                            expect_least_squares(matrix, dense_of(x), many, Dtype::c128);
                            expect_least_squares(matrix, dense_of(qr.solve(b)), many, Dtype::c128);
                            const DenseMatrix q = dense_of(qr.q());
                            expect_orthonormal(q, Dtype::c128);
                            expect_near(q * dense_of(qr.r()), matrix, Dtype::c128);
                          });
}

RANK_TEST(LinearLayouts, RandomOnes) {
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()));
  for (int turn = 0; turn < 20; ++turn) {
    const std::int64_t n = random.number(1, 30), count = random.number(1, 9);
    const Dtype dtype = linear_dtypes[random.number(0, 3)];
    const DenseMatrix matrix = random_numbers(n, n, dtype, 7), many = random_numbers(n, count, dtype, 8);
    Wrapped a = make_array(context, random.layout({n, n}, context.size()), dtype, random.number(0, 4));
    Wrapped b = make_array(context, random.layout({n, count}, context.size()), dtype, random.number(0, 4));
    SCOPED_TRACE(a.array.operand().to_string() + "; " + b.array.operand().to_string());
    write_dense(a.array, matrix);
    write_dense(b.array, many);
    const Op op = every_op[random.number(0, 3)];
    const Lu lu(a.array, {.block = random.number(1, 8)});
    // In f32, contributions are rounded before they are summed.
    expect_solves(op_of(dense_of(a.array), op), dense_of(lu.solve(b.array, {.op = op})), dense_of(b.array),
                  dtype);
  }
}

RANK_TEST(LinearLayouts, VectorsInEveryDistribution) {
  const std::string count = std::to_string(context.size());
  const DenseMatrix matrix = random_numbers(side, side, Dtype::f64, 9),
                    single = random_numbers(side, 1, Dtype::f64, 10);
  const Lu lu(array_of(context, matrix, Slab(0), Dtype::f64), {.block = 3});
  for (const Distribution& how :
       {Distribution(Slab(0)), Distribution(BlockCyclic(ProcessGrid({context.size()}), {2})),
        Distribution(Replicated()), Distribution::parse("mesh:r=" + count + ":-;partial=sum:r"),
        Distribution::parse("mesh:r=" + count + ":r")}) {
    SCOPED_TRACE(how.to_string());
    const Array b = vector_of(context, single, how, Dtype::f64);
    expect_solves(matrix, dense_of(lu.solve(b)), single, Dtype::f64);
    const Array x = lu.solve(b, {.distribution = Slab(0)});
    EXPECT_EQ(x.layout().distribution(), Distribution(Slab(0)));
    expect_solves(matrix, dense_of(x), single, Dtype::f64);
  }
}

RANK_TEST(LinearLayouts, ContributionsSumToTheSolution) {
  const Distribution partial =
      Distribution::parse("mesh:r=" + std::to_string(context.size()) + ":-,-;partial=sum:r");
  const DenseMatrix matrix = random_numbers(side, side, Dtype::f64, 9),
                    many = random_numbers(side, 4, Dtype::f64, 10);
  const Lu lu(array_of(context, matrix, Slab(0), Dtype::f64), {.block = 3});
  Array x = empty(context, {side, 4}, partial, Dtype::f64);
  lu.solve_into(array_of(context, many, Slab(0), Dtype::f64), x);
  expect_solves(matrix, dense_of(x), many, Dtype::f64);
  write_dense(x, many);
  lu.solve_into(x, x);
  expect_solves(matrix, dense_of(x), many, Dtype::f64);
}

RANK_TEST(LinearLayouts, WindowsAndTransposedViews) {
  const std::int64_t n = 12;
  const DenseMatrix large = random_numbers(20, 18, Dtype::f64, 11),
                    many = random_numbers(n, 4, Dtype::f64, 12);
  DenseMatrix matrix(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) matrix(i, j) = large(i + 5, j + 3);
  }
  for (const Distribution& how : {Distribution(Slab(0)), Distribution(Slab(1)),
                                  Distribution(BlockCyclic(ProcessGrid({1, context.size()}), {20, 3}))}) {
    for (const Order order : {Order::row_major, Order::column_major}) {
      const Array whole = array_of(context, large, how, Dtype::f64, {.order = order});
      const Array a = whole.window({5, 3}, {n, n});
      const Array b = array_of(context, many, Slab(0), Dtype::f64);
      for (const bool overwrite : {false, true}) {
        const Lu lu(a, {.block = 3, .overwrite = overwrite});
        expect_solves(matrix, dense_of(lu.solve(b)), many, Dtype::f64);
        expect_lu(matrix, dense_of(lu.packed()), dense_of(lu.pivots()), Dtype::f64);
      }
      EXPECT_EQ(dense_of(whole).numbers, large.numbers);
      const Lu transposed(a.permuted({1, 0}), {.block = 3});
      expect_solves(op_of(matrix, Op::transpose), dense_of(transposed.solve(b)), many, Dtype::f64);
      const Array sides = array_of(context, op_of(many, Op::transpose), how, Dtype::f64, {.order = order});
      Array seen = sides.permuted({1, 0});
      transposed.solve_into(seen, seen);
      expect_solves(op_of(matrix, Op::transpose), dense_of(seen), many, Dtype::f64);
      Array part = whole.window({5, 3}, {n, 4});
      write_dense(part, many);
      transposed.solve_into(part, part, {.op = Op::transpose});
      expect_solves(matrix, dense_of(part), many, Dtype::f64);
    }
  }
}

/// Columns with a gap between them, in memory of the caller's that all ranks have at one place of the heap.
RANK_TEST(LinearLayouts, LeadingDimensions) {
  const std::int64_t n = side, gap = 5;
  const DenseMatrix matrix = random_numbers(n, n, Dtype::f64, 13),
                    many = random_numbers(n, 4, Dtype::f64, 14);
  const Layout layout(by_panels(context, n, 3), {n, n}, context.size());
  const Shape extents = layout.local_shape(context.rank());
  SymmetricMemory memory = SymmetricMemory::allocate(context, (n + gap) * (n + 3) * 8);
  const View view{memory.data(), Dtype::f64, extents, {1, n + gap}, memory.space()};
  const Array a = wrap(context, view, layout), b = array_of(context, many, Slab(0), Dtype::f64);
  write_dense(a, matrix);
  for (const bool overwrite : {false, true}) {
    const Lu lu(a, {.block = 3, .overwrite = overwrite});
    expect_solves(matrix, dense_of(lu.solve(b)), many, Dtype::f64);
    expect_lu(matrix, dense_of(lu.packed()), dense_of(lu.pivots()), Dtype::f64);
  }
}

}  // namespace
}  // namespace partita::testing
