// p?trsm, p?syrk and p?herk, next to ScaLAPACK's.
#include "linear_model.hpp"

namespace partita::testing {
namespace {

char one_of(Random& random, const std::string& letters) {
  return letters[index(random(0, static_cast<int>(letters.size()) - 1))];
}

template <class T>
void try_trsm(Random& random, const char* name, const Both<Trsm<T>>& trsm) {
  const BlacsGrid& grid = one_of_grids(random);
  const int m = random(1, 40), n = random(1, 40);
  const char side = one_of(random, "LRlr"), uplo = one_of(random, "ULul"), trans = one_of(random, "NTC"),
             diag = one_of(random, "NUnu");
  const bool upper = uplo == 'U' || uplo == 'u', unit = diag == 'U' || diag == 'u';
  const int order = side == 'L' || side == 'l' ? m : n;
  const bool with_first = random.maybe(0.4);
  SubMatrixOf<T> a = random_sub_matrix<T>(random, grid, order, order, with_first);
  SubMatrixOf<T> b = random_sub_matrix<T>(random, grid, m, n, with_first && random.maybe());
  const T alpha = element<T>(7, random(1, 1000), 3);
  if (!grid.inside()) return;
  a.fill(order, order, [&](int i, int j) {
    if (i == j) return unit ? T(-555) : number<T>(order) + element<T>(1, i, j);
    return (i < j) == upper ? element<T>(1, i, j) / number<T>(order) : T(-555);
  });
  b.fill(m, n, [](int i, int j) { return element<T>(2, i, j); });
  const std::string what = std::string(name) + " " + side + uplo + trans + diag + " " + std::to_string(m) +
                           "x" + std::to_string(n) + " A" + a.text() + " B" + b.text();
  SubMatrixOf<T> x = b, y = b;
  const auto solve = [&](Trsm<T>* function, SubMatrixOf<T>& sides) {
    function(&side, &uplo, &trans, &diag, &m, &n, &alpha, a.data(), &a.ia, &a.ja, a.descriptor.data(),
             sides.data(), &sides.ia, &sides.ja, sides.descriptor.data());
  };
  const std::vector<T> before = a.matrix.values;
  expect_computed_here([&] { solve(trsm.ours, x); }, what);
  solve(trsm.theirs, y);
  expect_same(x.matrix.values, y.matrix.values, 100 * (order + 4) * precision<T>(), what);
  EXPECT_EQ(a.matrix.values, before) << what;
}

template <class T, class Scalar>
void try_rank_k(Random& random, const char* name, const Both<RankK<T, Scalar>>& rank_k, bool hermitian,
                int n) {
  const BlacsGrid& grid = one_of_grids(random);
  const int k = random(1, 40);
  const char uplo = one_of(random, "ULul"), trans = one_of(random, hermitian ? "NC" : "NT");
  const bool upper = uplo == 'U' || uplo == 'u', with_first = random.maybe(0.4);
  const int m = trans == 'N' ? n : k, columns = trans == 'N' ? k : n;
  SubMatrixOf<T> a = random_sub_matrix<T>(random, grid, m, columns, with_first);
  SubMatrixOf<T> c = random_sub_matrix<T>(random, grid, n, n, with_first && random.maybe());
  const Scalar alpha = element<Scalar>(7, random(1, 1000), 3), beta = random_scalar<Scalar>(random);
  const bool nan = beta == Scalar(0);
  if (!grid.inside()) return;
  a.fill(m, columns, [](int i, int j) { return element<T>(1, i, j); });
  c.fill(n, n, [&](int i, int j) {
    if (i != j && (i < j) != upper) return T(-555);
    return nan ? not_a_number<T>() : element<T>(2, i, j);
  });
  const std::string what = std::string(name) + " " + uplo + trans + " " + std::to_string(n) + "x" +
                           std::to_string(k) + " A" + a.text() + " C" + c.text();
  SubMatrixOf<T> x = c, y = c;
  const auto update = [&](RankK<T, Scalar>* function, SubMatrixOf<T>& to) {
    function(&uplo, &trans, &n, &k, &alpha, a.data(), &a.ia, &a.ja, a.descriptor.data(), &beta, to.data(),
             &to.ia, &to.ja, to.descriptor.data());
  };
  expect_computed_here([&] { update(rank_k.ours, x); }, what);
  update(rank_k.theirs, y);
  expect_same(x.matrix.values, y.matrix.values, (16 + 4 * k) * precision<T>(), what);
}

template <class T>
void try_all_trsm(const char* name, unsigned seed) {
  const Both<Trsm<T>> trsm(name);
  ASSERT_TRUE(trsm.found()) << name;
  Random random(seed);
  for (int round = 0; round < 12; ++round) try_trsm(random, name, trsm);
}

template <class T, class Scalar>
void try_all_rank_k(const char* name, bool hermitian, unsigned seed) {
  const Both<RankK<T, Scalar>> rank_k(name);
  ASSERT_TRUE(rank_k.found()) << name;
  Random random(seed);
  for (int round = 0; round < 8; ++round) try_rank_k(random, name, rank_k, hermitian, random(1, 40));
  try_rank_k(random, name, rank_k, hermitian, 151);  // in halves
}

TEST(ScalapackTriangular, SolvesAreScalapacks) {
  try_all_trsm<float>("pstrsm_", 71);
  try_all_trsm<double>("pdtrsm_", 72);
  try_all_trsm<std::complex<float>>("pctrsm_", 73);
  try_all_trsm<std::complex<double>>("pztrsm_", 74);
}

TEST(ScalapackTriangular, RankKUpdatesAreScalapacks) {
  try_all_rank_k<float, float>("pssyrk_", false, 75);
  try_all_rank_k<double, double>("pdsyrk_", false, 76);
  try_all_rank_k<std::complex<float>, std::complex<float>>("pcsyrk_", false, 77);
  try_all_rank_k<std::complex<double>, std::complex<double>>("pzsyrk_", false, 78);
  try_all_rank_k<std::complex<float>, float>("pcherk_", true, 79);
  try_all_rank_k<std::complex<double>, double>("pzherk_", true, 80);
}

}  // namespace
}  // namespace partita::testing
