// BLACS contexts come and go, and what is not computed here is forwarded.
#include <cstdlib>

#include "linear_model.hpp"

namespace partita::testing {
namespace {

/// A product on the grid, right or not.
void expect_product(const BlacsGrid& grid, const std::array<int, 11>& descriptor, int local_rows,
                    int local_columns) {
  const Both<Tran<double>> routine("pdtran_");
  if (!grid.inside()) return;
  const auto size = static_cast<std::size_t>(descriptor[0] == 2 ? descriptor[10] : descriptor[8]) *
                    static_cast<std::size_t>(local_columns);
  std::vector<double> a(size + 1);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i);
  std::vector<double> ours(a.size(), 1.0);
  std::vector<double> theirs(a.size(), 1.0);
  const int n = descriptor[2];
  const int first = 1;
  const double two = 2;
  for (const auto& [function, to] : {std::pair(routine.ours, &ours), std::pair(routine.theirs, &theirs)}) {
    function(&n, &n, &two, a.data(), &first, &first, descriptor.data(), &two, to->data(), &first, &first,
             descriptor.data());
  }
  EXPECT_EQ(ours, theirs) << local_rows;
}

void expect_right(const BlacsGrid& grid) {
  Random random(51);
  const Matrix<double> matrix(random, grid, 23, 23, false);
  const auto rows = matrix.rows().indices(grid.row, grid.rows);
  const auto columns = matrix.columns().indices(grid.column, grid.columns);
  expect_product(grid, matrix.descriptor(), static_cast<int>(rows.size()), static_cast<int>(columns.size()));
}

TEST(ScalapackContexts, TheNumberOfAnEndedContextMayComeBack) {
  int reused = 0;
  int last = -2;
  for (int round = 0; round < 12; ++round) {
    const int rows = round % 2 == 0 ? 1 : processes();
    const BlacsGrid grid = BlacsGrid::make(rows, processes() / rows);
    reused += grid.context == last ? 1 : 0;
    last = grid.context;
    expect_right(grid);
    expect_right(grid);
    Cblacs_gridexit(grid.context);
  }
  EXPECT_GT(reused, 0);
}

// What is moved has no place on a heap of 2 MiB.
TEST(ScalapackContexts, WhatFindsNoMemoryIsHandedOn) {
  ::setenv("PARTITA_MEMORY_LIMIT", "2097152", 1);
  const BlacsGrid grid = BlacsGrid::make(1, processes());
  Random random(52);
  const Matrix<double> matrix(random, grid, 1300, 1300, false);
  const auto columns = static_cast<int>(matrix.columns().indices(grid.column, grid.columns).size());
  const long before = partita_scalapack_calls_handed_on();
  for (int call = 0; call < 2; ++call) expect_product(grid, matrix.descriptor(), 1300, columns);
  EXPECT_EQ(partita_scalapack_calls_handed_on() - before, 2);
  Cblacs_gridexit(grid.context);
  ::unsetenv("PARTITA_MEMORY_LIMIT");
}

/// A factorization by both; A is 2 I with ones. `first`: IA and JA.
void expect_factorized(const Both<Getrf<double>>& routine, const SubMatrixOf<double>& a, int n, int first) {
  SubMatrixOf<double> ours = a, theirs = a;
  std::vector<int> ipiv(2000), their_ipiv(2000);
  int info = -1, their_info = -1;
  routine.ours(&n, &n, ours.data(), &first, &first, ours.descriptor.data(), ipiv.data(), &info);
  routine.theirs(&n, &n, theirs.data(), &first, &first, theirs.descriptor.data(), their_ipiv.data(),
                 &their_info);
  EXPECT_EQ(info, their_info);
  EXPECT_EQ(ours.matrix.values, theirs.matrix.values);
}

SubMatrixOf<double> matrix_to_factorize(const BlacsGrid& grid, int n, int block) {
  Random random(53);
  const Dealt deal{n, block, block, 0};
  SubMatrixOf<double> a{Matrix<double>(random, grid, deal, deal, false)};
  a.fill(n, n, [](int i, int j) { return i == j ? 2.0 : (i == 0 || j == 0 ? 1.0 : 0.0); });
  return a;
}

TEST(ScalapackContexts, FactorizationsThatFindNoMemoryAreHandedOn) {
  ::setenv("PARTITA_MEMORY_LIMIT", "2097152", 1);
  const BlacsGrid grid = BlacsGrid::make(1, processes());
  const Both<Getrf<double>> routine("pdgetrf_");
  const long before = partita_scalapack_calls_handed_on();
  expect_factorized(routine, matrix_to_factorize(grid, 1100, 64), 1100, 1);
  EXPECT_GT(partita_scalapack_calls_handed_on(), before);
  Cblacs_gridexit(grid.context);
  ::unsetenv("PARTITA_MEMORY_LIMIT");
}

/// ScaLAPACK refuses a sub-matrix that does not begin with a block: it reports that itself.
TEST(ScalapackContexts, FactorizationsThatScalapackRefusesAreHandedOn) {
  const BlacsGrid grid = BlacsGrid::make(1, processes());
  const Both<Getrf<double>> routine("pdgetrf_");
  const long before = partita_scalapack_calls_handed_on();
  expect_factorized(routine, matrix_to_factorize(grid, 20, 3), 9, 2);
  EXPECT_EQ(partita_scalapack_calls_handed_on(), before + 1);
  Cblacs_gridexit(grid.context);
}

TEST(ScalapackContexts, SeveralLiveSideBySide) {
  const BlacsGrid one = BlacsGrid::make(1, processes());
  const BlacsGrid two = BlacsGrid::make(processes(), 1);
  for (int round = 0; round < 3; ++round) {
    expect_right(one);
    expect_right(two);
  }
  Cblacs_gridexit(one.context);
  expect_right(two);
  Cblacs_gridexit(two.context);
}

/// A first block that is longer than the others is not a window of equal blocks: the original does it.
TEST(ScalapackContexts, WhatNoLayoutDescribesIsHandedOn) {
  if (processes() < 2) GTEST_SKIP() << "needs several ranks";
  const BlacsGrid grid = BlacsGrid::make(processes(), 1);
  Random random(52);
  const Dealt rows{23, 7, 3, 1};
  const auto mine = rows.indices(grid.row, grid.rows);
  const int leading = std::max(1, static_cast<int>(mine.size()));
  const std::array<int, 11> descriptor{2, grid.context, 23, 23, 7, 23, 3, 23, 1, 0, leading};
  const long before = partita_scalapack_calls_handed_on();
  expect_product(grid, descriptor, leading, 23);
  EXPECT_EQ(partita_scalapack_calls_handed_on(), before + 1);
  // The part behind the first block is ordinary again.
  const Both<Geadd<double>> routine("pdgeadd_");
  std::vector<double> a(static_cast<std::size_t>(leading) * 23, 3.0);
  std::vector<double> c(a.size(), 1.0);
  std::vector<double> theirs = c;
  const int m = 15;
  const int n = 20;
  const int row = 8;
  const int column = 2;
  const double one = 1;
  const long computed = partita_scalapack_calls();
  for (const auto& [function, to] : {std::pair(routine.ours, &c), std::pair(routine.theirs, &theirs)}) {
    function("N", &m, &n, &one, a.data(), &row, &column, descriptor.data(), &one, to->data(), &row, &column,
             descriptor.data());
  }
  EXPECT_EQ(c, theirs);
  EXPECT_EQ(partita_scalapack_calls(), computed + 1);
  Cblacs_gridexit(grid.context);
}

}  // namespace
}  // namespace partita::testing
