#include <numeric>

#include "matrix_model.hpp"

namespace partita::testing {
namespace {

/// A grid of random shape on random processes.
BlacsGrid random_grid(Random& random) {
  std::vector<int> ranks(static_cast<std::size_t>(processes()));
  std::iota(ranks.begin(), ranks.end(), 0);
  random.shuffle(ranks);
  const int rows = random(1, processes());
  const int columns = random(1, processes() / rows);
  ranks.resize(index(rows * columns));
  return BlacsGrid::make(rows, columns, ranks);
}

/// Contexts that hold all processes.
BlacsGrid random_whole(Random& random) {
  const int count = processes();
  if (count == 4 && random.maybe()) return BlacsGrid::make(2, 2);
  return random.maybe() ? BlacsGrid::make(1, count) : BlacsGrid::make(count, 1);
}

/// The numbers of processes of A and B and where they sit are random, so the grids are the same, overlap, or
/// are disjoint.
struct Grids {
  BlacsGrid a;
  BlacsGrid b;
  BlacsGrid whole;

  explicit Grids(Random& random)
      : a(random_grid(random)), b(random_grid(random)), whole(random_whole(random)) {}
  ~Grids() {
    for (const BlacsGrid& grid : {a, b, whole}) {
      if (grid.context >= 0) Cblacs_gridexit(grid.context);
    }
  }
  Grids(const Grids&) = delete;
  Grids& operator=(const Grids&) = delete;
};

/// As the rules of p?gemr2d ask: outside a grid the context is -1 and the rest is not looked at.
std::array<int, 11> descriptor_or_none(const std::array<int, 11>& descriptor, const BlacsGrid& grid) {
  if (grid.inside()) return descriptor;
  std::array<int, 11> none{};
  none.fill(-12345);
  none[1] = -1;
  return none;
}

template <class T>
void try_one(Random& random, const Grids& grids, const Both<Gemr2d<T>>& fortran, const Both<Cgemr2d<T>>& c) {
  const int m = random(0, 40);
  const int n = random(0, 40);
  const Part a_rows = random_part(random, m);
  const Part a_columns = random_part(random, n);
  const Part b_rows = random_part(random, m);
  const Part b_columns = random_part(random, n);
  const bool with_first = random.maybe(0.3);
  Matrix<T> a(random, grids.a, a_rows.whole, a_columns.whole, with_first, {.longest_first = 3});
  Matrix<T> b(random, grids.b, b_rows.whole, b_columns.whole, with_first, {.longest_first = 3});
  a.fill([](int i, int j) { return element<T>(1, i, j); });
  b.fill([](int i, int j) { return element<T>(2, i, j); });
  Matrix<T> theirs = b;
  Matrix<T> expected = b;
  expected.for_each([&](int i, int j, T& value) {
    const int row = i - b_rows.from;
    const int column = j - b_columns.from;
    if (row >= 0 && row < m && column >= 0 && column < n)
      value = element<T>(1, a_rows.from + row, a_columns.from + column);
  });
  const auto desca = descriptor_or_none(a.descriptor(), grids.a);
  const auto descb = descriptor_or_none(b.descriptor(), grids.b);
  const int ia = a_rows.from + 1;
  const int ja = a_columns.from + 1;
  const int ib = b_rows.from + 1;
  const int jb = b_columns.from + 1;
  const int context = grids.whole.context;
  if (random.maybe()) {
    fortran.ours(&m, &n, a.values.data(), &ia, &ja, desca.data(), b.values.data(), &ib, &jb, descb.data(),
                 &context);
  } else {
    c.ours(m, n, a.values.data(), ia, ja, desca.data(), b.values.data(), ib, jb, descb.data(), context);
  }
  const std::string what = std::to_string(m) + "x" + std::to_string(n) + " A(" + std::to_string(ia) + "," +
                           std::to_string(ja) + ") of " + a.text() + " B(" + std::to_string(ib) + "," +
                           std::to_string(jb) + ") of " + b.text();
  if (grids.b.inside()) expect_same(b.values, expected.values, 0, what);
  if (with_first) return;  // the original reads every descriptor as one of 9 entries
  c.theirs(m, n, a.values.data(), ia, ja, desca.data(), theirs.values.data(), ib, jb, descb.data(), context);
  if (grids.b.inside()) expect_same(b.values, theirs.values, 0, what + " beside ScaLAPACK");
}

template <class T>
void try_some(Random& random, const Grids& grids, const std::string& name) {
  const Both<Gemr2d<T>> fortran((name + "_").c_str());
  const Both<Cgemr2d<T>> c(("C" + name).c_str());
  ASSERT_TRUE(fortran.found() && c.found()) << name;
  for (int i = 0; i < 5; ++i) try_one<T>(random, grids, fortran, c);
}

TEST(ScalapackGemr2d, CopiesBetweenGrids) {
  Random random(11);
  for (int round = 0; round < 12; ++round) {
    const Grids grids(random);
    try_some<float>(random, grids, "psgemr2d");
    try_some<double>(random, grids, "pdgemr2d");
    try_some<std::complex<float>>(random, grids, "pcgemr2d");
    try_some<std::complex<double>>(random, grids, "pzgemr2d");
    try_some<std::int32_t>(random, grids, "pigemr2d");
  }
}

}  // namespace
}  // namespace partita::testing
