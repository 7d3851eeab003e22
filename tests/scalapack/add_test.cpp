#include "matrix_model.hpp"

namespace partita::testing {
namespace {

/// C = beta C + alpha op(A) on random sub-matrices, by the drop-in, by ScaLAPACK and by a loop.
/// op: 'N', 'T' or 'C'. `call(function, ...)` passes the arguments that the two families have in common.
template <class T, class Function, class Call>
void try_one(Random& random, const Both<Function>& routine, char op, Call&& call, const std::string& what) {
  const BlacsGrid& grid = grids()[static_cast<std::size_t>(random(0, static_cast<int>(grids().size()) - 1))];
  const int m = random(0, 40);
  const int n = random(0, 40);
  const bool straight = op == 'N';
  const Part a_rows = random_part(random, straight ? m : n);
  const Part a_columns = random_part(random, straight ? n : m);
  const Part c_rows = random_part(random, m);
  const Part c_columns = random_part(random, n);
  const bool with_first = random.maybe(0.4);
  Matrix<T> a(random, grid, a_rows.whole, a_columns.whole, with_first);
  Matrix<T> c(random, grid, c_rows.whole, c_columns.whole, with_first && random.maybe());
  const T alpha = random_scalar<T>(random);
  const T beta = random_scalar<T>(random);
  const bool nan = beta == T(0) && random.maybe();
  if (!grid.inside()) return;
  const auto in_c = [&](int i, int j) {
    return i >= c_rows.from && i < c_rows.from + m && j >= c_columns.from && j < c_columns.from + n;
  };
  a.fill([](int i, int j) { return element<T>(1, i, j); });
  c.fill([&](int i, int j) { return nan && in_c(i, j) ? not_a_number<T>() : element<T>(2, i, j); });
  Matrix<T> theirs = c;
  Matrix<T> expected = c;
  expected.for_each([&](int i, int j, T& value) {
    if (!in_c(i, j)) return;
    const int row = i - c_rows.from;
    const int column = j - c_columns.from;
    const T from =
        element<T>(1, a_rows.from + (straight ? row : column), a_columns.from + (straight ? column : row));
    const T moved = op == 'C' ? conjugate_of(from) : from;
    value = (alpha == T(0) ? T(0) : alpha * moved) + (beta == T(0) ? T(0) : beta * value);
  });
  const std::vector<T> a_before = a.values;
  const auto run = [&](Function* function, Matrix<T>& to) {
    const int ia = a_rows.from + 1;
    const int ja = a_columns.from + 1;
    const int ic = c_rows.from + 1;
    const int jc = c_columns.from + 1;
    const auto desca = a.descriptor();
    const auto descc = to.descriptor();
    call(function, &m, &n, &alpha, a.values.data(), &ia, &ja, desca.data(), &beta, to.values.data(), &ic, &jc,
         descc.data());
  };
  run(routine.ours, c);
  run(routine.theirs, theirs);
  const std::string where = what + " " + op + " " + std::to_string(m) + "x" + std::to_string(n) + " A(" +
                            std::to_string(a_rows.from) + "," + std::to_string(a_columns.from) + ") of " +
                            a.text() + " C(" + std::to_string(c_rows.from) + "," +
                            std::to_string(c_columns.from) + ") of " + c.text();
  expect_same(c.values, expected.values, 16 * precision<T>(), where);
  expect_same(c.values, theirs.values, 16 * precision<T>(), where + " beside ScaLAPACK");
  EXPECT_EQ(a.values, a_before) << where;
}

template <class T>
void try_geadd(const char* name, unsigned seed) {
  const Both<Geadd<T>> routine(name);
  ASSERT_TRUE(routine.found()) << name;
  Random random(seed);
  const long before = partita_scalapack_calls_handed_on();
  for (int round = 0; round < 60; ++round) {
    const char op = "NTC"[random(0, 2)];
    const auto call = [&](Geadd<T>* function, auto... arguments) { function(&op, arguments...); };
    try_one<T>(random, routine, op, call, name);
  }
  EXPECT_EQ(partita_scalapack_calls_handed_on(), before);
}

template <class T>
void try_tran(const char* name, char op, unsigned seed) {
  const Both<Tran<T>> routine(name);
  ASSERT_TRUE(routine.found()) << name;
  Random random(seed);
  const long before = partita_scalapack_calls_handed_on();
  for (int round = 0; round < 40; ++round) {
    const auto call = [](Tran<T>* function, auto... arguments) { function(arguments...); };
    try_one<T>(random, routine, op, call, name);
  }
  EXPECT_EQ(partita_scalapack_calls_handed_on(), before);
}

TEST(ScalapackGeadd, IsScalapacksAndALoops) {
  try_geadd<float>("psgeadd_", 1);
  try_geadd<double>("pdgeadd_", 2);
  try_geadd<std::complex<float>>("pcgeadd_", 3);
  try_geadd<std::complex<double>>("pzgeadd_", 4);
}

TEST(ScalapackTran, IsScalapacksAndALoops) {
  try_tran<float>("pstran_", 'T', 5);
  try_tran<double>("pdtran_", 'T', 6);
  try_tran<std::complex<float>>("pctranu_", 'T', 7);
  try_tran<std::complex<double>>("pztranu_", 'T', 8);
  try_tran<std::complex<float>>("pctranc_", 'C', 9);
  try_tran<std::complex<double>>("pztranc_", 'C', 10);
}

}  // namespace
}  // namespace partita::testing
