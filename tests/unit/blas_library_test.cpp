#include "kernels/host/blas_library.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <partita/error.hpp>
#include <vector>

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
  EXPECT_NE(forced.find("OPENBLAS_CORETYPE=Haswell in the environment forces OpenBLAS's Haswell kernels"),
            std::string::npos)
      << forced;
  EXPECT_NE(forced.find("unset OPENBLAS_CORETYPE"), std::string::npos) << forced;
  const std::string before = kernels::note_on_kernels("Prescott", "ZEN", nullptr, true);
  EXPECT_NE(before.find("loaded before Partita"), std::string::npos) << before;
  EXPECT_NE(before.find("set OPENBLAS_CORETYPE=ZEN"), std::string::npos) << before;
}

TEST(BlasLibrary, SaysWhatItIs) {
  const char* const before = std::getenv("OPENBLAS_CORETYPE");
  const std::string set_by_user = before == nullptr ? "" : before;
  const kernels::BlasLibrary& library = kernels::blas();
  EXPECT_NE(library.path().find("openblas"), std::string::npos) << library.path();
  EXPECT_NE(library.configuration().find("OpenBLAS"), std::string::npos) << library.configuration();
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
