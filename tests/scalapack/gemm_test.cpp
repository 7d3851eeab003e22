#include "matrix_model.hpp"

namespace partita::testing {
namespace {

/// op(X)(i, j) of the matrix of `seed` whose sub-matrix begins at (row, column).
template <class T>
T op_element(char op, unsigned seed, int row, int column, int i, int j) {
  if (op == 'N') return element<T>(seed, row + i, column + j);
  const T value = element<T>(seed, row + j, column + i);
  return op == 'C' ? conjugate_of(value) : value;
}

struct Shapes {
  int m;
  int n;
  int k;
};

/// One matrix of the product: its part, and how it is distributed.
template <class T>
struct Placed {
  Part rows;
  Part columns;
  Matrix<T> matrix;

  Placed(Random& random, const BlacsGrid& grid, int m, int n, bool with_first)
      : rows(random_part(random, m)),
        columns(random_part(random, n)),
        matrix(random, grid, rows.whole, columns.whole, with_first) {}
  bool holds(int i, int j, int m, int n) const {
    return i >= rows.from && i < rows.from + m && j >= columns.from && j < columns.from + n;
  }
  std::string text() const {
    return "(" + std::to_string(rows.from) + "," + std::to_string(columns.from) + ") of " + matrix.text();
  }
};

/// C = alpha op(A) op(B) + beta C on random sub-matrices, by the drop-in, by ScaLAPACK and by a loop.
template <class T>
void try_one(Random& random, const Both<Gemm<T>>& routine, const Shapes& shapes) {
  const BlacsGrid& grid = grids()[static_cast<std::size_t>(random(0, static_cast<int>(grids().size()) - 1))];
  const int m = shapes.m;
  const int n = shapes.n;
  const int k = shapes.k;
  const char op_a = "NTC"[random(0, 2)];
  const char op_b = "NTCntc"[random(0, 5)];
  const bool straight_a = op_a == 'N';
  const bool straight_b = op_b == 'N' || op_b == 'n';
  const bool with_first = random.maybe(0.4);
  Placed<T> a(random, grid, straight_a ? m : k, straight_a ? k : m, with_first);
  Placed<T> b(random, grid, straight_b ? k : n, straight_b ? n : k, with_first && random.maybe());
  Placed<T> c(random, grid, m, n, with_first && random.maybe());
  const T alpha = random_scalar<T>(random);
  const T beta = random_scalar<T>(random);
  const bool nan_c = beta == T(0) && random.maybe();
  const bool nan_ab = (alpha == T(0) || k == 0) && random.maybe();  // not read either
  if (!grid.inside()) return;
  a.matrix.fill([&](int i, int j) { return nan_ab ? not_a_number<T>() : element<T>(1, i, j); });
  b.matrix.fill([&](int i, int j) { return nan_ab ? not_a_number<T>() : element<T>(2, i, j); });
  c.matrix.fill(
      [&](int i, int j) { return nan_c && c.holds(i, j, m, n) ? not_a_number<T>() : element<T>(3, i, j); });
  Matrix<T> theirs = c.matrix;
  Matrix<T> expected = c.matrix;
  const char plain_b = static_cast<char>(std::toupper(op_b));
  expected.for_each([&](int i, int j, T& value) {
    if (!c.holds(i, j, m, n)) return;
    T sum{};
    for (int p = 0; p < k; ++p) {
      sum += op_element<T>(op_a, 1, a.rows.from, a.columns.from, i - c.rows.from, p) *
             op_element<T>(plain_b, 2, b.rows.from, b.columns.from, p, j - c.columns.from);
    }
    value = (alpha == T(0) ? T(0) : alpha * sum) + (beta == T(0) ? T(0) : beta * value);
  });
  const std::vector<T> a_before = a.matrix.values;
  const auto run = [&](Gemm<T>* function, Matrix<T>& to) {
    const auto desca = a.matrix.descriptor();
    const auto descb = b.matrix.descriptor();
    const auto descc = to.descriptor();
    const std::array<int, 6> corners{a.rows.from + 1,    a.columns.from + 1, b.rows.from + 1,
                                     b.columns.from + 1, c.rows.from + 1,    c.columns.from + 1};
    function(&op_a, &op_b, &m, &n, &k, &alpha, a.matrix.values.data(), &corners[0], &corners[1], desca.data(),
             b.matrix.values.data(), &corners[2], &corners[3], descb.data(), &beta, to.values.data(),
             &corners[4], &corners[5], descc.data());
  };
  run(routine.ours, c.matrix);
  run(routine.theirs, theirs);
  const std::string what = std::string("gemm ") + op_a + op_b + " " + std::to_string(m) + "x" +
                           std::to_string(n) + "x" + std::to_string(k) + " A" + a.text() + " B" + b.text() +
                           " C" + c.text();
  const double tolerance = (16 + 4 * k) * precision<T>();
  expect_same(c.matrix.values, expected.values, tolerance, what);
  expect_same(c.matrix.values, theirs.values, tolerance, what + " beside ScaLAPACK");
  if (!nan_ab) {
    EXPECT_EQ(a.matrix.values, a_before) << what;
  }
}

template <class T>
void try_gemm(const char* name, unsigned seed) {
  const Both<Gemm<T>> routine(name);
  ASSERT_TRUE(routine.found()) << name;
  Random random(seed);
  const long before = partita_scalapack_calls_handed_on();
  for (int round = 0; round < 50; ++round)
    try_one<T>(random, routine, {random(0, 40), random(0, 40), random(0, 40)});
  for (const Shapes& shapes : {Shapes{1, 1, 1}, {0, 5, 5}, {5, 0, 5}, {5, 5, 0}, {61, 3, 90}, {1, 70, 2}})
    try_one<T>(random, routine, shapes);
  EXPECT_EQ(partita_scalapack_calls_handed_on(), before);
}

TEST(ScalapackGemm, IsScalapacksAndALoops) {
  try_gemm<float>("psgemm_", 21);
  try_gemm<double>("pdgemm_", 22);
  try_gemm<std::complex<float>>("pcgemm_", 23);
  try_gemm<std::complex<double>>("pzgemm_", 24);
}

/// Sub-matrices of one array, as a factorisation updates its trailing part.
TEST(ScalapackGemm, UpdatesAPartOfTheArrayThatHoldsAAndB) {
  const Both<Gemm<double>> routine("pdgemm_");
  for (const BlacsGrid& grid : grids()) {
    if (!grid.inside()) continue;
    constexpr int n = 37;
    constexpr int panel = 6;
    Random random(31);
    Matrix<double> ours(random, grid, n, n, false);
    ours.fill([](int i, int j) { return 0.1 * element<double>(1, i, j); });
    Matrix<double> theirs = ours;
    const auto descriptor = ours.descriptor();
    for (int from = panel; from < n; from += panel) {
      const int rest = n - from;
      const double minus = -1;
      const double one = 1;
      const int before = from - panel + 1;
      const int here = from + 1;
      const auto update = [&](Gemm<double>* function, Matrix<double>& matrix) {
        double* const x = matrix.values.data();
        function("N", "N", &rest, &rest, &panel, &minus, x, &here, &before, descriptor.data(), x, &before,
                 &here, descriptor.data(), &one, x, &here, &here, descriptor.data());
      };
      update(routine.ours, ours);
      update(routine.theirs, theirs);
    }
    expect_same(ours.values, theirs.values, 1e-9, "the updated array");
  }
}

/// NaN and Inf of A reach what they touch in C, as in BLAS.
TEST(ScalapackGemm, PassesNanAndInf) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Both<Gemm<double>> routine("pdgemm_");
  for (const BlacsGrid& grid : grids()) {
    if (!grid.inside()) continue;
    constexpr int n = 19;
    Random random(32);
    Matrix<double> a(random, grid, n, n, false);
    Matrix<double> b(random, grid, n, n, false);
    Matrix<double> c(random, grid, n, n, false);
    a.fill([](int i, int j) { return i == 4 && j == 7 ? nan : i == 9 && j == 2 ? infinity : 1.0; });
    b.fill([](int, int) { return 1.0; });
    c.fill([](int, int) { return 1.0; });
    const double one = 1;
    const int first = 1;
    const auto desca = a.descriptor();
    const auto descb = b.descriptor();
    const auto descc = c.descriptor();
    routine.ours("N", "N", &n, &n, &n, &one, a.values.data(), &first, &first, desca.data(), b.values.data(),
                 &first, &first, descb.data(), &one, c.values.data(), &first, &first, descc.data());
    c.for_each([](int i, int, double& value) {
      if (i == 4) {
        EXPECT_TRUE(std::isnan(value));
      } else {
        EXPECT_EQ(value, i == 9 ? infinity : 20.0);
      }
    });
  }
}

}  // namespace
}  // namespace partita::testing
