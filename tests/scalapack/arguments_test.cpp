// Wrong arguments are found as ScaLAPACK finds them, with its numbers.
#include <utility>

#include "matrix_model.hpp"

namespace partita::testing {
namespace {

/// The latest report: of the PBLAS to PB_Cabort, of other routines to pxerbla_.
struct Reports {
  int position = 0;
  std::string routine;
} reports;

}  // namespace
}  // namespace partita::testing

// Found by the libraries, before their own.
#pragma GCC visibility push(default)
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void pxerbla_(const int* /*context*/, const char* routine, const int* position, std::size_t length) {
  partita::testing::reports = {*position, std::string(routine, length)};
}
// The end of the program by the PBLAS, and what it prints before.
void PB_Cabort(int /*context*/, const char* routine, int info) {
  partita::testing::reports = {-info, routine};
}
void PB_Cwarn(int /*context*/, int /*line*/, const char* /*routine*/, const char* /*format*/, ...) {}
}
// NOLINTEND(readability-identifier-naming)
#pragma GCC visibility pop

namespace partita::testing {
namespace {

/// The arguments of one matrix.
struct MatrixArguments {
  std::array<int, 11> descriptor{};
  int row = 1;
  int column = 1;

  int& entry(int number) { return descriptor[static_cast<std::size_t>(number)]; }

  void spoil(Random& random, const BlacsGrid& grid) {
    const int blocks = descriptor[0] == 2 ? 6 : 4;
    switch (random(0, 13)) {
      case 0:
        row = random(-3, 0);
        break;
      case 1:
        column = random(-3, 0);
        break;
      case 2:
        row = 100;
        break;
      case 3:
        column = 100;
        break;
      case 4:
        descriptor[0] = random.maybe() ? 7 : 0;
        break;
      case 5:
        descriptor[1] = -1;
        break;
      case 6:
        descriptor[2] = random(-2, 0);
        break;
      case 7:
        descriptor[3] = random(-2, 0);
        break;
      case 8:
        descriptor[4] = random(-2, 0);
        break;
      case 9:
        descriptor[5] = random(-2, 0);
        break;
      case 10:
        entry(blocks + random(0, 1)) = 0;
        break;
      case 11:
        entry(blocks + 2) = random.maybe() ? -2 : grid.rows;
        break;
      case 12:
        entry(blocks + 3) = random.maybe() ? -2 : grid.columns;
        break;
      default:
        entry(blocks + 4) = 0;
        break;
    }
  }
};

constexpr int extent = 24;

/// Valid, with room for `extent` in each dimension.
MatrixArguments valid_arguments(Random& random, const BlacsGrid& grid) {
  const Matrix<double> matrix(random, grid, extent, extent, random.maybe());
  return {matrix.descriptor(), random(1, 4), random(1, 4)};
}

struct Sizes {
  int m;
  int n;
  int k;

  explicit Sizes(Random& random) : m(random(0, 9)), n(random(0, 9)), k(random(0, 9)) {
    for (int* const size : {&m, &n, &k}) {
      if (random.maybe(0.1)) *size = -1;
    }
  }
};

template <class Function, class Call>
void compare_reports(const Both<Function>& routine, const char* name, Call&& call, const std::string& what) {
  reports = {};
  call(routine.theirs);
  const int expected = std::exchange(reports, {}).position;
  call(routine.ours);
  EXPECT_EQ(reports.position, expected) << what;
  if (expected != 0) {
    EXPECT_EQ(reports.routine, name) << what;
  }
}

std::string text_of(const MatrixArguments& matrix) {
  std::string text = "(" + std::to_string(matrix.row) + "," + std::to_string(matrix.column) + ")";
  for (const int entry : matrix.descriptor) text += " " + std::to_string(entry);
  return text;
}

TEST(ScalapackArguments, OfGemmAreNumberedAsScalapackNumbersThem) {
  const Both<Gemm<double>> routine("pdgemm_");
  ASSERT_TRUE(routine.found());
  Random random(41);
  int wrong = 0;
  for (int round = 0; round < 3000; ++round) {
    const BlacsGrid& grid = one_of_grids(random);
    MatrixArguments a = valid_arguments(random, grid);
    MatrixArguments b = valid_arguments(random, grid);
    MatrixArguments c = valid_arguments(random, grid);
    const Sizes sizes(random);
    const char trans_a = random.maybe(0.1) ? 'X' : "NTC"[random(0, 2)];
    const char trans_b = random.maybe(0.1) ? 'n' - 1 : "NTC"[random(0, 2)];
    for (int faults = random(1, 3); faults > 0; --faults)
      std::array<MatrixArguments*, 3>{&a, &b, &c}[static_cast<std::size_t>(random(0, 2))]->spoil(random,
                                                                                                 grid);
    if (!grid.inside()) continue;
    std::vector<double> nothing(extent * extent * 2, 0.0);
    const double zero = 0;
    // Products are left out where nothing is wrong: alpha is 0.
    const auto call = [&](Gemm<double>* function) {
      function(&trans_a, &trans_b, &sizes.m, &sizes.n, &sizes.k, &zero, nothing.data(), &a.row, &a.column,
               a.descriptor.data(), nothing.data(), &b.row, &b.column, b.descriptor.data(), &zero,
               nothing.data(), &c.row, &c.column, c.descriptor.data());
    };
    compare_reports(routine, "PDGEMM", call,
                    std::string(1, trans_a) + trans_b + " " + std::to_string(sizes.m) + " " +
                        std::to_string(sizes.n) + " " + std::to_string(sizes.k) + " A" + text_of(a) + " B" +
                        text_of(b) + " C" + text_of(c));
    wrong += reports.position != 0 ? 1 : 0;
  }
  EXPECT_GT(wrong, 300);
}

TEST(ScalapackArguments, OfGeaddAndTranToo) {
  const Both<Geadd<double>> geadd("pdgeadd_");
  const Both<Tran<double>> tran("pdtran_");
  ASSERT_TRUE(geadd.found() && tran.found());
  Random random(42);
  for (int round = 0; round < 2000; ++round) {
    const BlacsGrid& grid = one_of_grids(random);
    MatrixArguments a = valid_arguments(random, grid);
    MatrixArguments c = valid_arguments(random, grid);
    const Sizes sizes(random);
    const char trans = random.maybe(0.1) ? 'X' : "NTC"[random(0, 2)];
    for (int faults = random(1, 3); faults > 0; --faults) (random.maybe() ? a : c).spoil(random, grid);
    if (!grid.inside()) continue;
    std::vector<double> nothing(extent * extent * 2, 0.0);
    const double zero = 0;
    const std::string what = std::string(1, trans) + " " + std::to_string(sizes.m) + " " +
                             std::to_string(sizes.n) + " A" + text_of(a) + " C" + text_of(c);
    compare_reports(
        geadd, "PDGEADD",
        [&](Geadd<double>* function) {
          function(&trans, &sizes.m, &sizes.n, &zero, nothing.data(), &a.row, &a.column, a.descriptor.data(),
                   &zero, nothing.data(), &c.row, &c.column, c.descriptor.data());
        },
        "geadd " + what);
    compare_reports(
        tran, "PDTRAN",
        [&](Tran<double>* function) {
          function(&sizes.m, &sizes.n, &zero, nothing.data(), &a.row, &a.column, a.descriptor.data(), &zero,
                   nothing.data(), &c.row, &c.column, c.descriptor.data());
        },
        "tran " + what);
  }
}

TEST(ScalapackArguments, ALeadingDimensionBelowTheLocalRows) {
  const Both<Gemm<double>> routine("pdgemm_");
  const BlacsGrid& grid = grids().front();  // 1 x 1
  if (!grid.inside()) return;
  const std::array<int, 9> good{1, grid.context, 8, 8, 3, 3, 0, 0, 8};
  std::array<int, 9> small = good;
  small[8] = 7;
  std::vector<double> numbers(64, 0.0);
  const int n = 8;
  const int first = 1;
  const double one = 1;
  for (int which = 0; which < 3; ++which) {
    const auto of = [&](int matrix) { return matrix == which ? small.data() : good.data(); };
    const auto call = [&](Gemm<double>* function) {
      function("N", "N", &n, &n, &n, &one, numbers.data(), &first, &first, of(0), numbers.data(), &first,
               &first, of(1), &one, numbers.data(), &first, &first, of(2));
    };
    compare_reports(routine, "PDGEMM", call, "LLD of matrix " + std::to_string(which));
    constexpr std::array<int, 3> positions{1011, 1411, 1911};
    EXPECT_EQ(reports.position, positions[static_cast<std::size_t>(which)]);
  }
}

/// The original of p?gemr2d ends the program; ours reports in the same way as the others.
TEST(ScalapackArguments, OfGemr2d) {
  const Both<Cgemr2d<double>> routine("Cpdgemr2d");
  const BlacsGrid& grid = grids().back();
  const BlacsGrid& whole = grids().back();
  if (!grid.inside()) return;
  const auto reported = [&](int m, int n, int ia, int jb, const std::array<int, 9>& desca,
                            const std::array<int, 9>& descb) {
    std::vector<double> numbers(64, 0.0);
    reports = {};
    routine.ours(m, n, numbers.data(), ia, 1, desca.data(), numbers.data(), 1, jb, descb.data(),
                 whole.context);
    return reports.position;
  };
  const std::array<int, 9> good{1, grid.context, 8, 8, 3, 3, 0, 0, 8};
  const auto with = [&](std::size_t entry, int value) {
    std::array<int, 9> descriptor = good;
    descriptor[entry] = value;
    return descriptor;
  };
  EXPECT_EQ(reported(-1, 2, 1, 1, good, good), 1);
  EXPECT_EQ(reported(2, -2, 1, 1, good, good), 2);
  EXPECT_EQ(reported(2, 2, 8, 1, good, good), 4);
  EXPECT_EQ(reported(2, 2, 0, 1, good, good), 4);
  EXPECT_EQ(reported(2, 2, 1, 8, good, good), 9);
  EXPECT_EQ(reported(2, 2, 1, 1, with(4, 0), good), 605);
  EXPECT_EQ(reported(2, 2, 1, 1, good, with(6, -1)), 1009);
  EXPECT_EQ(reported(2, 2, 1, 1, good, with(8, 0)), 1011);
  EXPECT_EQ(reports.routine, "PDGEMR2D");
}

}  // namespace
}  // namespace partita::testing
