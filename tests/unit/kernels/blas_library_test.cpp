#include "kernels/host/blas_library.hpp"

#include "kernels/host/gemm.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

TEST(BlasLibrary, ChoosesTheKernelsByTheProcessor) {
  EXPECT_EQ(kernels::suitable_core_type({.avx512 = true, .avx2 = true, .amd = true}), "SKYLAKEX");
  EXPECT_EQ(kernels::suitable_core_type({.avx512 = true, .avx2 = true, .amd = false}), "SKYLAKEX");
  EXPECT_EQ(kernels::suitable_core_type({.avx512 = false, .avx2 = true, .amd = true}), "ZEN");
  EXPECT_EQ(kernels::suitable_core_type({.avx512 = false, .avx2 = true, .amd = false}), "HASWELL");
  EXPECT_EQ(kernels::suitable_core_type({}), "");
}

TEST(BlasLibrary, SaysWhereTheKernelsAreSlowerThanTheProcessor) {
  EXPECT_EQ(kernels::note_on_kernels("SkylakeX", "SKYLAKEX", nullptr, false), "");
  EXPECT_EQ(kernels::note_on_kernels("Cooperlake", "SKYLAKEX", "Cooperlake", false), "");
  EXPECT_EQ(kernels::note_on_kernels("Zen", "HASWELL", "Zen", true), "");
  EXPECT_EQ(kernels::note_on_kernels("Prescott", "", "Prescott", true), "");
  const std::string forced = kernels::note_on_kernels("Haswell", "SKYLAKEX", "Haswell", false);
  EXPECT_TRUE(
      contains(forced, "OPENBLAS_CORETYPE=Haswell in the environment forces OpenBLAS's Haswell kernels"))
      << forced;
  EXPECT_TRUE(contains(forced, "unset OPENBLAS_CORETYPE")) << forced;
  const std::string before = kernels::note_on_kernels("Prescott", "ZEN", nullptr, true);
  EXPECT_TRUE(contains(before, "loaded before Partita")) << before;
  EXPECT_TRUE(contains(before, "set OPENBLAS_CORETYPE=ZEN")) << before;
}

TEST(BlasLibrary, SaysWhatItIs) {
  const char* const before = std::getenv("OPENBLAS_CORETYPE");
  const std::string set_by_user = before == nullptr ? "" : before;
  const kernels::BlasLibrary& library = kernels::blas();
  EXPECT_TRUE(contains(library.path(), "openblas")) << library.path();
  EXPECT_TRUE(contains(library.configuration(), "OpenBLAS")) << library.configuration();
  EXPECT_FALSE(library.core_type().empty());
  // The environment is as it was.
  const char* const after = std::getenv("OPENBLAS_CORETYPE");
  EXPECT_EQ(after == nullptr ? "" : after, set_by_user);
  if (set_by_user.empty() && library.note().empty()) {
    EXPECT_EQ(library.chosen_core_type(), kernels::suitable_core_type(kernels::ProcessorFeatures::detect()));
  }
  EXPECT_EQ(&kernels::blas(), &library);
}

template <class T>
void expect_product(kernels::Gemm<T> gemm) {
  using Real = decltype(std::abs(T()));
  // C[i,j] = sum over k of A[i,k] B[k,j], column-major, odd sizes.
  const int m = 7, n = 5, k = 11;
  const auto at = [](int row, int column, int rows) {
    return static_cast<std::size_t>(row) + static_cast<std::size_t>(column) * static_cast<std::size_t>(rows);
  };
  std::vector<T> a(77), b(55), c(35, T(99));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(static_cast<Real>(static_cast<int>(i) % 9 - 4));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = T(static_cast<Real>(static_cast<int>(i) % 7 - 3));
  const T one(1), zero(0);
  gemm("N", "N", &m, &n, &k, &one, a.data(), &m, b.data(), &k, &zero, c.data(), &m);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      T expected(0);
      for (int l = 0; l < k; ++l) expected += a[at(i, l, m)] * b[at(l, j, k)];
      EXPECT_EQ(c[at(i, j, m)], expected) << i << "," << j;
    }
  }
}

TEST(BlasLibrary, Multiplies) {
  expect_product(kernels::blas().sgemm);
  expect_product(kernels::blas().dgemm);
  expect_product(kernels::blas().cgemm);
  expect_product(kernels::blas().zgemm);
}

int gemm_calls = 0;
void counted_gemm(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                  const int*, const double*, const int*, const double*, double*, const int*) {
  ++gemm_calls;
}

/// A matrix in separate memory, with room between its lines.
struct HeldMatrix {
  std::vector<double> memory;
  kernels::Matrix<double> view;

  HeldMatrix(std::int64_t rows, std::int64_t columns, bool by_rows)
      : memory(static_cast<std::size_t>((by_rows ? rows : columns) * ((by_rows ? columns : rows) + 3))),
        view{memory.data(), rows, columns, by_rows ? columns + 3 : 1, by_rows ? 1 : rows + 3} {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<double>(i % 11) - 5;
  }
  double& at(std::int64_t i, std::int64_t j) const {
    return view.data[i * view.row_stride + j * view.column_stride];
  }
  kernels::Matrix<const double> read() const {
    return {view.data, view.rows, view.columns, view.row_stride, view.column_stride};
  }
};

/// c = 2 a b + 3 c; calls of gemm that it took.
int calls_of_product(std::int64_t m, std::int64_t n, std::int64_t k, int forms) {
  const HeldMatrix a(m, k, (forms & 1) != 0), b(k, n, (forms & 2) != 0), c(m, n, (forms & 4) != 0);
  std::vector<double> expected;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 3 * c.at(i, j);
      for (std::int64_t l = 0; l < k; ++l) sum += 2 * a.at(i, l) * b.at(l, j);
      expected.push_back(sum);
    }
  }
  gemm_calls = 0;
  kernels::gemm(2.0, a.read(), false, b.read(), false, 3.0, c.view);
  if (gemm_calls > 0) return gemm_calls;
  std::size_t at = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double wanted = expected[at++];
      if (c.at(i, j) != wanted) return ADD_FAILURE() << i << "," << j << ": " << c.at(i, j), -1;
    }
  }
  return 0;
}

// By gemv, which reads the matrix once and copies nothing; in blocks of 1,024 elements by 32 lines.
TEST(BlasLibrary, VectorsAndFewColumnsDoNotGoThroughGemm) {
  const auto one_thread = kernels::hold_blas_threads(1);
  kernels::BlasLibrary& library = kernels::blas();
  const kernels::Gemm<double> gemm = std::exchange(library.dgemm, &counted_gemm);
  for (int forms = 0; forms < 8; ++forms) {
    for (const std::int64_t few : {1, 2, 3}) {
      EXPECT_EQ(calls_of_product(1100, few, 70, forms), 0) << few << " columns, forms " << forms;
      EXPECT_EQ(calls_of_product(70, few, 1100, forms), 0) << few << " columns, forms " << forms;
      EXPECT_EQ(calls_of_product(few, 70, 1100, forms), 0) << few << " rows, forms " << forms;
      EXPECT_EQ(calls_of_product(few, 1100, 70, forms), 0) << few << " rows, forms " << forms;
    }
    EXPECT_EQ(calls_of_product(1, 1, 300, forms), 0);
    EXPECT_EQ(calls_of_product(40, 40, 40, forms), 1);
  }
  library.dgemm = gemm;
}

TEST(BlasLibrary, ThreadsAreHeldByTheFirstAndRestoredByTheLast) {
  const kernels::BlasLibrary& library = kernels::blas();
  const int before = library.threads();
  const int wanted = before == 1 ? 2 : 1;
  auto first = kernels::hold_blas_threads(wanted);
  EXPECT_EQ(library.threads(), wanted);
  auto second = kernels::hold_blas_threads(before);
  EXPECT_EQ(library.threads(), wanted);
  first.reset();
  EXPECT_EQ(library.threads(), wanted);
  second.reset();
  EXPECT_EQ(library.threads(), before);
}

}  // namespace
}  // namespace partita
