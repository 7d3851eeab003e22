// BLACS contexts come and go, and what is not computed here is handed on.
#include <cstdlib>

#include "matrix_model.hpp"

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

/// A first block that is longer than the others is no window of equal blocks: the original does it.
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
