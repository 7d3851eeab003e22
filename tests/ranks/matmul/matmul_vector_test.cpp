// Products with vectors, against the same products of matrices with one row or one column.
#include "support/models/matmul_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// Numbers depend on the row-major number alone: a vector and its matrix have the same.
Array filled(const Context& context, const Layout& layout, Dtype dtype, Lies lies, std::uint64_t seed,
             std::vector<Held>& kept) {
  kept.push_back(make_held(context, layout, dtype, lies));
  fill_random(kept.back().array, seed);
  return kept.back().array;
}

struct VectorCase {
  bool vector_a = false, vector_b = false;
  Shape a, b;                // as given
  Shape matrix_a, matrix_b;  // with all their dimensions
  Op op_a = Op::none, op_b = Op::none;
  Dtype dtype = Dtype::f64;
  Shape d;
};

VectorCase random_case_of_vectors(RandomLayouts& random) {
  VectorCase one;
  const std::int64_t m = random.number(1, 19), n = random.number(1, 19), k = random.number(1, 23);
  const int kind = random.number(0, 2);
  one.vector_a = kind != 0;
  one.vector_b = kind != 1;
  one.op_a = static_cast<Op>(random.number(0, 3));
  one.op_b = static_cast<Op>(random.number(0, 3));
  one.dtype = random.maybe() ? Dtype::f64 : Dtype::c128;
  const Shape batch = kind != 2 && random.maybe(0.3) ? Shape{2} : Shape{};
  one.a = one.vector_a ? Shape{k} : stored_shape(batch, m, k, one.op_a);
  one.b = one.vector_b ? Shape{k} : stored_shape(batch, k, n, one.op_b);
  one.matrix_a = one.vector_a ? Shape{1, k} : one.a;
  one.matrix_b = one.vector_b ? Shape{k, 1} : one.b;
  one.d = batch;
  if (!one.vector_a) one.d.push_back(m);
  if (!one.vector_b) one.d.push_back(n);
  return one;
}

/// What the plan of matrices gives, on every rank.
Whole product_of_matrices(const Context& context, const VectorCase& one, const MatmulOptions& how) {
  std::vector<Held> kept;
  const auto everywhere = [&](const Shape& shape) { return Layout(Replicated(), shape, context.size()); };
  const Array a = filled(context, everywhere(one.matrix_a), one.dtype, Lies::heap, 1, kept);
  const Array b = filled(context, everywhere(one.matrix_b), one.dtype, Lies::heap, 2, kept);
  MatmulOptions options = how;
  const auto conjugates_only = [](Op op) {
    if (op == Op::transpose) return Op::none;
    return op == Op::conjugate_transpose ? Op::conjugate : op;
  };
  if (one.vector_a) options.op_a = conjugates_only(one.op_a);
  if (one.vector_b) options.op_b = conjugates_only(one.op_b);
  return Whole(matmul(a, b, options));
}

void expect_same(const Whole& result, const Whole& expected, const Shape& shape, std::int64_t k,
                 const std::string& text) {
  ASSERT_EQ(result.shape(), shape) << text;
  for (std::int64_t i = 0; i < volume(shape); ++i) {
    EXPECT_LE(std::abs(result[i] - expected[i]), 1e-15L * static_cast<long double>(8 * k + 8)) << text;
  }
}

RANK_TEST(MatmulVectors, AreRowsAndColumns) {
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()));
  for (int i = 0; i < (full_product() ? 400 : 40); ++i) {
    const VectorCase one = random_case_of_vectors(random);
    const Layout layout_a = random.layout(one.a, context.size()),
                 layout_b = random.layout(one.b, context.size());
    std::vector<Held> kept;
    kept.reserve(4);
    const auto lies = [&] { return static_cast<Lies>(random.number(0, 4)); };
    const Array a = filled(context, layout_a, one.dtype, lies(), 1, kept);
    const Array b = filled(context, layout_b, one.dtype, lies(), 2, kept);
    MatmulOptions how{.op_a = one.op_a, .op_b = one.op_b};
    const std::string text = layout_a.to_string() + " by " + layout_b.to_string() + " ops " +
                             std::to_string(static_cast<int>(one.op_a)) +
                             std::to_string(static_cast<int>(one.op_b));
    if (layout_a.partial() || layout_b.partial()) continue;
    const Whole expected = product_of_matrices(context, one, how);
    const Array fresh = matmul(a, b, how);
    expect_same(Whole(fresh), expected, one.d, one.a.size(), text + " new");
    const Layout layout_d =
        one.d.empty() ? Layout(Replicated(), one.d, context.size()) : random.layout(one.d, context.size());
    if (layout_d.partial()) continue;
    Array d = filled(context, layout_d, one.dtype, lies(), 3, kept);
    matmul_into(a, b, nullptr, d, how);
    expect_same(Whole(d), expected, one.d, one.a.size(), text + " into " + layout_d.to_string());
    // D += A B, by the object, in place.
    how.beta = 1;
    Matmul accumulate(context, {a.operand(), b.operand(), d.operand(), d.operand()}, how, true);
    accumulate.reset(a, b, &d, d);
    accumulate.execute();
    const Whole twice(d);
    for (std::int64_t e = 0; e < volume(one.d); ++e) {
      EXPECT_LE(std::abs(twice[e] - expected[e] - expected[e]), 1e-12L) << text;
    }
    if (::testing::Test::HasFailure()) return;
  }
}

RANK_TEST(MatmulVectors, ResultsLieWhereTheProductIs) {
  const int ranks = context.size();
  Array matrix = empty(context, {4 * ranks, 6}, Slab(0), Dtype::f64);
  Array vector = empty(context, {6}, Slab(0), Dtype::f64);
  fill_random(matrix, 1);
  fill_random(vector, 2);
  const Array product = matmul(matrix, vector);
  EXPECT_EQ(product.shape(), Shape({4 * ranks}));
  EXPECT_TRUE(product.layout().equivalent(Layout(Slab(0), {4 * ranks}, ranks)))
      << product.layout().to_string();
  const Array dot = matmul(vector, vector);
  EXPECT_EQ(dot.shape(), Shape());
  EXPECT_EQ(dot.layout(), Layout(Replicated(), {}, ranks));
  MatmulOptions how{.distribution = BlockCyclic({ranks}, {3})};
  EXPECT_EQ(matmul(matrix, vector, how).layout().distribution(), *how.distribution);
}

RANK_TEST(MatmulVectors, ShapesThatDoNotFit) {
  const Array matrix = empty(context, {5, 6}, Slab(0), Dtype::f64);
  const Array five = empty(context, {5}, Slab(0), Dtype::f64);
  Array square = empty(context, {5, 5}, Slab(0), Dtype::f64);
  Array six = empty(context, {6}, Slab(0), Dtype::f64);
  EXPECT_ERROR(ArgumentError, matmul(matrix, five), "columns of op(A)");
  EXPECT_ERROR(ArgumentError, matmul_into(five, matrix, nullptr, square), "one dimension less");
  EXPECT_NO_THROW(matmul_into(five, matrix, nullptr, six));
  if (context.size() > 1) {
    EXPECT_ERROR(ArgumentError, matmul_into(five, matrix, nullptr, six, {.distribution = Replicated()}),
                 "the requested distribution of D is replicated");
  }
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
