// Products of a size at which both implementations are tried: the result is always ScaLAPACK's, and in
// the end all processes keep one of them. Runs if PARTITA_SCALAPACK_THRESHOLD leaves the limits as they are.
#include <cstring>

#include "matrix_model.hpp"
#include "trial.hpp"

namespace partita::testing {
namespace {

using scalapack::Trial;

constexpr int all_calls = Trial::calls + 4;
/// ScaLAPACK sends messages for every block, each of which costs a turn of the scheduler where processes that
/// spin (MPICH's) are more than the cores. So blocks are long here, grids two (of one process and of all),
/// and ScaLAPACK computes what is expected but once.
constexpr Blocks long_blocks{.shortest = 30, .longest = 70};

bool limits_as_they_are() {
  const char* const factor = std::getenv("PARTITA_SCALAPACK_THRESHOLD");
  return factor == nullptr || std::strcmp(factor, "1") == 0;
}

struct Counters {
  long computed = partita_scalapack_calls();
  long handed_on = partita_scalapack_calls_handed_on();

  Counters since(const Counters& before) const {
    return {computed - before.computed, handed_on - before.handed_on};
  }
};

struct Shapes {
  int m;
  int n;
  int k;
};

/// C = alpha op(A) B + beta C, of equal sub-matrices again and again.
template <class T>
struct Product {
  Product(Random& random, const BlacsGrid& grid, const Shapes& what, char op)
      : shapes(what),
        op_a(op),
        a_rows(random_part(random, op == 'N' ? what.m : what.k)),
        a_columns(random_part(random, op == 'N' ? what.k : what.m)),
        b_rows(random_part(random, what.k)),
        b_columns(random_part(random, what.n)),
        c_rows(random_part(random, what.m)),
        c_columns(random_part(random, what.n)),
        a(random, grid, a_rows.whole, a_columns.whole, false, long_blocks),
        b(random, grid, b_rows.whole, b_columns.whole, true, long_blocks),
        c(random, grid, c_rows.whole, c_columns.whole, false, long_blocks) {
    a.fill([](int i, int j) { return element<T>(1, i, j); });
    b.fill([](int i, int j) { return element<T>(2, i, j); });
  }

  void run(Gemm<T>* function, Matrix<T>& to) const {
    const auto desca = a.descriptor();
    const auto descb = b.descriptor();
    const auto descc = to.descriptor();
    const std::array<int, 6> corners{a_rows.from + 1,    a_columns.from + 1, b_rows.from + 1,
                                     b_columns.from + 1, c_rows.from + 1,    c_columns.from + 1};
    const T alpha(2);
    const T beta(-1);
    function(&op_a, "N", &shapes.m, &shapes.n, &shapes.k, &alpha, a.values.data(), &corners[0], &corners[1],
             desca.data(), b.values.data(), &corners[2], &corners[3], descb.data(), &beta, to.values.data(),
             &corners[4], &corners[5], descc.data());
  }

  Shapes shapes;
  char op_a;
  Part a_rows, a_columns, b_rows, b_columns, c_rows, c_columns;
  Matrix<T> a, b, c;
};

/// The calls that were computed here since, on every process of the grid the same.
void expect_alike(const BlacsGrid& grid, const Counters& counted) {
  std::array<int, 2> mine{static_cast<int>(counted.computed), -static_cast<int>(counted.computed)};
  std::array<int, 2> most = mine;
  Cigamx2d(grid.context, "All", " ", 2, 1, most.data(), 2, nullptr, nullptr, -1, -1, -1);
  EXPECT_EQ(most, mine) << "the processes go different ways";
}

template <class T>
void try_product(const BlacsGrid& grid, const Both<Gemm<T>>& routine, Random& random, const Shapes& shapes,
                 char op) {
  Product<T> product(random, grid, shapes, op);
  if (!grid.inside()) return;
  const double tolerance = (64 + 8 * shapes.k) * precision<T>();
  const auto first = [](int i, int j) { return element<T>(3, i, j); };
  product.c.fill(first);
  Matrix<T> theirs = product.c;
  product.run(routine.theirs, theirs);
  const Counters before;
  Counters after_trial;
  for (int call = 0; call < all_calls; ++call) {
    product.c.fill(first);
    product.run(routine.ours, product.c);
    expect_same(product.c.values, theirs.values, tolerance, "call " + std::to_string(call));
    if (call == Trial::calls - 1) after_trial = Counters();
  }
  const Counters trial = after_trial.since(before);
  EXPECT_EQ(trial.computed, Trial::calls / 2);
  EXPECT_EQ(trial.handed_on, Trial::calls / 2);
  const Counters rest = Counters().since(after_trial);
  EXPECT_EQ(rest.computed + rest.handed_on, all_calls - Trial::calls);
  EXPECT_TRUE(rest.computed == 0 || rest.handed_on == 0) << rest.computed << " and " << rest.handed_on;
  expect_alike(grid, rest);
}

template <class T>
void try_type(const char* name, unsigned seed) {
  if (!limits_as_they_are()) GTEST_SKIP() << "the limits are not as they are";
  const Both<Gemm<T>> routine(name);
  ASSERT_TRUE(routine.found()) << name;
  Random random(seed);
  try_product(grids().front(), routine, random, {200, 200, 200}, 'N');
  try_product(grids().back(), routine, random, {211, 187, 229}, 'T');
}

TEST(ScalapackTurns, AreScalapacksWhoeverComputes) {
  try_type<double>("pdgemm_", 51);
  try_type<float>("psgemm_", 52);
}
TEST(ScalapackTurns, AreScalapacksWhoeverComputesComplex) {
  try_type<std::complex<double>>("pzgemm_", 53);
  try_type<std::complex<float>>("pcgemm_", 54);
}

/// Kinds of calls in between do not disturb a trial: each counts its own.
TEST(ScalapackTurns, CountEveryKindByItself) {
  if (!limits_as_they_are()) GTEST_SKIP() << "the limits are not as they are";
  const Both<Gemm<double>> routine("pdgemm_");
  const BlacsGrid& grid = grids().front();
  Random random(55);
  Product<double> first(random, grid, {205, 201, 203}, 'N');
  Product<double> second(random, grid, {203, 205, 201}, 'C');
  if (!grid.inside()) return;
  const Counters before;
  for (int call = 0; call < Trial::calls; ++call) {
    first.run(routine.ours, first.c);
    second.run(routine.ours, second.c);
  }
  const Counters both = Counters().since(before);
  EXPECT_EQ(both.computed, Trial::calls);
  EXPECT_EQ(both.handed_on, Trial::calls);
}

}  // namespace
}  // namespace partita::testing
