// LU, Cholesky and QR factorizations with solves, next to ScaLAPACK's.
#include "linear_model.hpp"

namespace partita::testing {
namespace {

constexpr int unset = -99;

/// Both compute stably, so they differ by rounding only.
template <class T>
double tolerance_of(int n) {
  return 400 * (n + 4) * precision<T>();
}

template <class T>
std::string named(const char* name, const SubMatrixOf<T>& a, int m, int n) {
  return std::string(name) + " " + std::to_string(m) + "x" + std::to_string(n) + " A" + a.text();
}

/// The pivots of rows that this process owns.
template <class T>
std::vector<int> pivots_here(const SubMatrixOf<T>& a, const BlacsGrid& grid, const std::vector<int>& ipiv,
                             int count) {
  std::vector<int> here;
  const auto rows = a.matrix.rows().indices(grid.row, grid.rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] >= a.from_row && rows[i] < a.from_row + count) here.push_back(ipiv[i]);
  return here;
}

template <class T>
struct LuResult {
  SubMatrixOf<T> a;
  std::vector<int> ipiv;
  int info = unset;

  explicit LuResult(const SubMatrixOf<T>& matrix)
      : a(matrix), ipiv(index(matrix.matrix.rows().extent + matrix.matrix.rows().block + 1), unset) {}
};

template <class T>
void try_lu(Random& random, const char* name, const Both<Getrf<T>>& getrf, const Both<Getrs<T>>& getrs,
            int zero_column) {
  const BlacsGrid& grid = one_of_grids(random);
  const int m = random(1, 45), n = random.maybe() ? m : random(1, 45), r = random(1, 9);
  const char trans = "NTC"[random(0, 2)];
  SubMatrixOf<T> a = aligned_sub_matrix<T>(random, grid, m, n, random(1, 9));
  const SubMatrixOf<T> b = right_sides<T>(random, grid, n, r, a.matrix.rows(), a.from_row);
  if (!grid.inside()) return;
  a.fill(m, n, [&](int i, int j) { return j == zero_column ? T(0) : element<T>(1, i, j); });
  const std::string what = named(name, a, m, n);
  LuResult<T> ours(a), theirs(a);
  const auto factorize = [&](Getrf<T>* function, LuResult<T>& x) {
    function(&m, &n, x.a.data(), &x.a.ia, &x.a.ja, x.a.descriptor.data(), x.ipiv.data(), &x.info);
  };
  expect_computed_here([&] { factorize(getrf.ours, ours); }, what);
  factorize(getrf.theirs, theirs);
  EXPECT_EQ(ours.info, theirs.info) << what;
  const int least = std::min(m, n);
  EXPECT_EQ(pivots_here(a, grid, ours.ipiv, least), pivots_here(a, grid, theirs.ipiv, least)) << what;
  expect_same(ours.a.matrix.values, theirs.a.matrix.values, tolerance_of<T>(least), what);
  if (m != n || ours.info != 0) return;
  SubMatrixOf<T> x = b, y = b;
  int x_info = unset, y_info = unset;
  const auto solve = [&](Getrs<T>* function, LuResult<T>& lu, SubMatrixOf<T>& sides, int& info) {
    sides.fill(n, r, [](int i, int j) { return element<T>(2, i, j); });
    function(&trans, &n, &r, lu.a.data(), &lu.a.ia, &lu.a.ja, lu.a.descriptor.data(), lu.ipiv.data(),
             sides.data(), &sides.ia, &sides.ja, sides.descriptor.data(), &info, 1);
  };
  expect_computed_here([&] { solve(getrs.ours, ours, x, x_info); }, what + " solve " + trans);
  solve(getrs.theirs, theirs, y, y_info);
  EXPECT_EQ(x_info, 0) << what;
  // An ill-conditioned matrix, which random ones may be, has another solution with each rounding.
  expect_same(x.matrix.values, y.matrix.values, 100 * tolerance_of<T>(n), what + " solve " + trans);
}

template <class T>
void try_gesv(Random& random, const char* name, const Both<Gesv<T>>& gesv) {
  const BlacsGrid& grid = one_of_grids(random);
  const int n = random(1, 45), r = random(1, 9);
  SubMatrixOf<T> a = aligned_sub_matrix<T>(random, grid, n, n, random(1, 9));
  SubMatrixOf<T> b = right_sides<T>(random, grid, n, r, a.matrix.rows(), a.from_row);
  if (!grid.inside()) return;
  a.fill(n, n, [&](int i, int j) { return element<T>(1, i, j) + (i == j ? number<T>(n) : T(0)); });
  b.fill(n, r, [](int i, int j) { return element<T>(2, i, j); });
  const std::string what = named(name, a, n, n) + " B" + b.text();
  SubMatrixOf<T> x = b, y = b;
  LuResult<T> ours(a), theirs(a);
  const auto solve = [&](Gesv<T>* function, LuResult<T>& lu, SubMatrixOf<T>& sides) {
    function(&n, &r, lu.a.data(), &lu.a.ia, &lu.a.ja, lu.a.descriptor.data(), lu.ipiv.data(), sides.data(),
             &sides.ia, &sides.ja, sides.descriptor.data(), &lu.info);
  };
  expect_computed_here([&] { solve(gesv.ours, ours, x); }, what);
  solve(gesv.theirs, theirs, y);
  EXPECT_EQ(ours.info, 0) << what;
  EXPECT_EQ(pivots_here(a, grid, ours.ipiv, n), pivots_here(a, grid, theirs.ipiv, n)) << what;
  expect_same(ours.a.matrix.values, theirs.a.matrix.values, tolerance_of<T>(n), what);
  expect_same(x.matrix.values, y.matrix.values, tolerance_of<T>(n), what);
}

/// By p?potrf and p?potrs, or by p?posv. `negative`: a diagonal element that makes a minor negative; -1:
/// none. The other triangle is not read.
template <class T>
void try_cholesky(Random& random, const char* name, const Both<Potrf<T>>& potrf, const Both<Potrs<T>>& potrs,
                  const Both<Potrs<T>>& posv, int negative) {
  const BlacsGrid& grid = one_of_grids(random);
  const int n = random(1, 45), r = random(1, 9);
  const char uplo = "ULul"[random(0, 3)];
  const bool upper = uplo == 'U' || uplo == 'u', at_once = random.maybe(0.3);
  SubMatrixOf<T> a = aligned_sub_matrix<T>(random, grid, n, n, random(1, 9));
  SubMatrixOf<T> b = right_sides<T>(random, grid, n, r, a.matrix.rows(), a.from_row);
  if (!grid.inside()) return;
  a.fill(n, n, [&](int i, int j) {
    if (i != j && (i < j) != upper) return T(-555);
    return i == j && i == negative ? T(-1) : positive_element<T>(n, i, j);
  });
  b.fill(n, r, [](int i, int j) { return element<T>(2, i, j); });
  const std::string what = named(name, a, n, n) + " B" + b.text() + " " + uplo;
  SubMatrixOf<T> ours = a, theirs = a, x = b, y = b;
  int info = unset, their_info = unset;
  const auto factorize = [&](Potrf<T>* function, SubMatrixOf<T>& l, int& result) {
    function(&uplo, &n, l.data(), &l.ia, &l.ja, l.descriptor.data(), &result, 1);
  };
  const auto solve = [&](Potrs<T>* function, SubMatrixOf<T>& l, SubMatrixOf<T>& sides, int& result) {
    function(&uplo, &n, &r, l.data(), &l.ia, &l.ja, l.descriptor.data(), sides.data(), &sides.ia, &sides.ja,
             sides.descriptor.data(), &result, 1);
  };
  if (at_once) {
    expect_computed_here([&] { solve(posv.ours, ours, x, info); }, what);
    solve(posv.theirs, theirs, y, their_info);
  } else {
    expect_computed_here([&] { factorize(potrf.ours, ours, info); }, what);
    factorize(potrf.theirs, theirs, their_info);
  }
  EXPECT_EQ(info, their_info) << what;
  if (info != 0) return;
  if (!at_once) {
    expect_computed_here([&] { solve(potrs.ours, ours, x, info); }, what);
    solve(potrs.theirs, theirs, y, their_info);
    EXPECT_EQ(info, 0) << what;
  }
  expect_same(ours.matrix.values, theirs.matrix.values, tolerance_of<T>(n), what);
  expect_same(x.matrix.values, y.matrix.values, tolerance_of<T>(n), what);
}

template <class T>
int asked_work(const T& work) {
  return static_cast<int>(std::real(work));
}

template <class T>
void try_qr(Random& random, const char* name, const Both<Geqrf<T>>& geqrf) {
  const BlacsGrid& grid = one_of_grids(random);
  const int m = random(1, 45), n = random(1, 45);
  SubMatrixOf<T> a = random_sub_matrix<T>(random, grid, m, n, false);
  if (!grid.inside()) return;
  a.fill(m, n, [](int i, int j) { return element<T>(1, i, j); });
  const std::string what = named(name, a, m, n);
  SubMatrixOf<T> ours = a, theirs = a;
  std::vector<T> tau(index(a.matrix.columns().extent + 1), T(-7)), their_tau = tau, work(1);
  int info = unset, lwork = -1;
  const auto factorize = [&](Geqrf<T>* function, SubMatrixOf<T>& qr, std::vector<T>& factors) {
    function(&m, &n, qr.data(), &qr.ia, &qr.ja, qr.descriptor.data(), factors.data(), work.data(), &lwork,
             &info);
  };
  factorize(geqrf.theirs, theirs, their_tau);
  lwork = asked_work(work[0]);
  work.assign(index(lwork), T(0));
  expect_computed_here([&] { factorize(geqrf.ours, ours, tau); }, what);
  EXPECT_EQ(info, 0) << what;
  EXPECT_EQ(asked_work(work[0]), lwork) << what;
  factorize(geqrf.theirs, theirs, their_tau);
  expect_same(ours.matrix.values, theirs.matrix.values, tolerance_of<T>(m + n), what);
  expect_same(tau, their_tau, tolerance_of<T>(m + n), what + " tau");
}

/// op(A) X = B of full rank, also with fewer rows than columns.
template <class T>
void try_gels(Random& random, const char* name, const Both<Gels<T>>& gels) {
  const BlacsGrid& grid = one_of_grids(random);
  const int m = random(1, 45), n = random(1, 45), r = random(1, 6);
  const bool transposes = random.maybe();
  const char trans = !transposes ? 'N' : std::is_floating_point_v<T> ? 'T' : 'C';
  SubMatrixOf<T> a = aligned_sub_matrix<T>(random, grid, m, n, random(1, 9));
  const bool tall = m >= n;
  SubMatrixOf<T> b = tall ? right_sides<T>(random, grid, m, r, a.matrix.rows(), a.from_row)
                          : right_sides<T>(random, grid, n, r, a.matrix.columns(), a.from_column);
  if (!grid.inside()) return;
  a.fill(m, n, [&](int i, int j) { return element<T>(1, i, j) + (i == j ? number<T>(m + n) : T(0)); });
  b.fill(std::max(m, n), r, [](int i, int j) { return element<T>(2, i, j); });
  const std::string what = named(name, a, m, n) + " B" + b.text() + " " + trans;
  SubMatrixOf<T> ours = a, theirs = a, x = b, y = b;
  std::vector<T> work(1);
  int info = unset, lwork = -1;
  const auto solve = [&](Gels<T>* function, SubMatrixOf<T>& qr, SubMatrixOf<T>& sides) {
    function(&trans, &m, &n, &r, qr.data(), &qr.ia, &qr.ja, qr.descriptor.data(), sides.data(), &sides.ia,
             &sides.ja, sides.descriptor.data(), work.data(), &lwork, &info, 1);
  };
  solve(gels.theirs, theirs, y);
  const int asked = asked_work(work[0]);
  lwork = 4 * asked + 1000;  // what ScaLAPACK asks for may be too little for its own p?geqrf
  work.assign(index(lwork), T(0));
  expect_computed_here([&] { solve(gels.ours, ours, x); }, what);
  EXPECT_EQ(info, 0) << what;
  EXPECT_EQ(asked_work(work[0]), asked) << what;
  solve(gels.theirs, theirs, y);
  EXPECT_EQ(info, 0) << what;
  expect_same(x.matrix.values, y.matrix.values, tolerance_of<T>(m + n), what);
  expect_same(ours.matrix.values, theirs.matrix.values, (m + n) * tolerance_of<T>(m + n), what);
}

template <class T>
void try_type(char letter, unsigned seed) {
  const auto name = [&](const char* rest) { return std::string("p") + letter + rest; };
  const Both<Getrf<T>> getrf(name("getrf_").c_str());
  const Both<Getrs<T>> getrs(name("getrs_").c_str());
  const Both<Gesv<T>> gesv(name("gesv_").c_str());
  const Both<Potrf<T>> potrf(name("potrf_").c_str());
  const Both<Potrs<T>> potrs(name("potrs_").c_str()), posv(name("posv_").c_str());
  const Both<Geqrf<T>> geqrf(name("geqrf_").c_str());
  const Both<Gels<T>> gels(name("gels_").c_str());
  ASSERT_TRUE(getrf.found() && getrs.found() && gesv.found() && potrf.found() && potrs.found() &&
              posv.found() && geqrf.found() && gels.found());
  Random random(seed);
  for (int round = 0; round < 6; ++round) {
    try_lu(random, name("getrf").c_str(), getrf, getrs, round == 5 ? 2 : -1);
    try_gesv(random, name("gesv").c_str(), gesv);
    try_cholesky(random, name("potrf").c_str(), potrf, potrs, posv, round == 5 ? 3 : -1);
    try_qr(random, name("geqrf").c_str(), geqrf);
    try_gels(random, name("gels").c_str(), gels);
  }
}

TEST(ScalapackFactorizations, AreScalapacks) {
  try_type<float>('s', 61);
  try_type<double>('d', 62);
}
TEST(ScalapackFactorizations, AreScalapacksComplex) {
  try_type<std::complex<float>>('c', 63);
  try_type<std::complex<double>>('z', 64);
}

}  // namespace
}  // namespace partita::testing
