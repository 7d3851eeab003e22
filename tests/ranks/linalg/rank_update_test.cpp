// Updates of one triangle by the product of a matrix with its transpose.
#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

DenseMatrix transposed_of(const DenseMatrix& a) {
  return op_of(a, Op::transpose);
}

/// alpha op(A) op(A)^H + beta C, all of it.
DenseMatrix updated(const DenseMatrix& a, const DenseMatrix& c, const RankUpdateOptions& options) {
  const DenseMatrix left = op_of(a, options.op);
  const DenseMatrix product = left * (options.symmetric ? transposed_of(left) : adjoint(left));
  DenseMatrix result = c;
  for (std::size_t i = 0; i < result.numbers.size(); ++i) {
    const Entry before = options.beta == 0.0 ? 0 : options.beta * c.numbers[i];
    result.numbers[i] = options.alpha * product.numbers[i] + before;
  }
  return result;
}

void expect_updated(Context& context, const DenseMatrix& a, std::int64_t n, const Distribution& of_a,
                    const Distribution& of_c, Dtype dtype, const RankUpdateOptions& options) {
  DenseMatrix c = random_numbers(n, n, dtype, 5);
  if (options.beta == 0.0) std::ranges::fill(c.numbers, std::numeric_limits<double>::quiet_NaN());
  Array array = array_of(context, c, of_c, dtype);
  rank_k_update(array_of(context, a, of_a, dtype), array, options);
  const DenseMatrix found = triangle_of(dense_of(array), options.upper, false),
                    wanted = triangle_of(updated(a, c, options), options.upper, false);
  EXPECT_LT(ratio(found - wanted, a.norm() * adjoint(a).norm() + 1, n, epsilon_of(dtype)), most_ratio);
}

RANK_TEST(RankUpdate, EveryDtypeAndOp) {
  for (const Dtype dtype : linear_dtypes) {
    for (int kind = 0; kind < 8; ++kind) {
      RankUpdateOptions options;
      options.symmetric = (kind & 1) != 0;
      const bool transposes = (kind & 2) != 0;
      if (transposes) options.op = options.symmetric ? Op::transpose : Op::conjugate_transpose;
      options.upper = (kind & 4) != 0;
      options.alpha = kind % 3 == 0 ? 1 : -2;
      options.beta = kind % 3 == 1 ? 0.5 : 0;
      SCOPED_TRACE(fmt::format("{} kind {}", name(dtype), kind));
      for (const auto& [n, k] : {std::pair{17, 6}, {6, 17}, {1, 1}, {5, 0}, {0, 5}}) {
        const DenseMatrix a = transposes ? random_numbers(k, n, dtype, 6) : random_numbers(n, k, dtype, 6);
        expect_updated(context, a, n, Slab(0), Slab(1), dtype, options);
      }
    }
  }
}

RANK_TEST(RankUpdate, ByBlocks) {
  const std::int64_t n = 300, k = 20;
  const DenseMatrix a = random_numbers(n, k, Dtype::f64, 7);
  RankUpdateOptions options;
  options.beta = 1;
  for (const bool upper : {false, true}) {
    options.upper = upper;
    for (const Distribution& how :
         {Distribution(by_panels(context, n, 16)), Distribution(Slab(0)), Distribution(Replicated()),
          Distribution(BlockCyclic({context.size(), 1}, {8, n}))}) {
      SCOPED_TRACE(how.to_string());
      expect_updated(context, a, n, Slab(0), how, Dtype::f64, options);
    }
  }
}

RANK_TEST(RankUpdate, WrongArguments) {
  Array a = empty(context, {6, 4}, Slab(0), Dtype::c128), c = empty(context, {6, 6}, Slab(0), Dtype::c128);
  EXPECT_ERROR_ON_ALL(ArgumentError, rank_k_update(a, a), "C", "6 x 6", "6x4");
  EXPECT_ERROR_ON_ALL(ArgumentError, rank_k_update(a, c, {.op = Op::transpose}), "conjugate-transpose");
  EXPECT_ERROR_ON_ALL(ArgumentError, rank_k_update(a, c, {.op = Op::conjugate}), "conjugate");
  EXPECT_ERROR_ON_ALL(ArgumentError, rank_k_update(a, c, {.alpha = {0, 1}}), "real");
  EXPECT_ERROR_ON_ALL(ArgumentError, rank_k_update(c, c), "rank_k_update");
  Array none;
  EXPECT_ERROR_ON_ALL(ArgumentError, rank_k_update(a, none), "C");
}

}  // namespace
}  // namespace partita::testing
