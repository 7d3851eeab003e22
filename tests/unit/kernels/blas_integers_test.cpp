#include "kernels/host/blas_integers.hpp"

#include "support/test.hpp"

namespace partita {
namespace {

TEST(BlasIntegers, DecideOnNames) {
  const kernels::BlasNaming narrow{"", false}, of_numpy{"scipy_", true};
  EXPECT_EQ(narrow.of_fortran("dgemm"), "dgemm_");
  EXPECT_EQ(narrow.of_c("openblas_get_config"), "openblas_get_config");
  EXPECT_EQ(of_numpy.of_fortran("dgemm"), "scipy_dgemm_64_");
  EXPECT_EQ(of_numpy.of_c("openblas_get_config"), "scipy_openblas_get_config64_");
}

struct Functions {
  using Sum = void (*)(const char* which, const int* m, const int* n, const double* x, std::int64_t* memory,
                       int* info, std::size_t length);
  Sum first = nullptr;
  Sum second = nullptr;
};

template <int factor>
void wide_sum(const char* which, const std::int64_t* m, const std::int64_t* n, const double* x,
              std::int64_t* memory, std::int64_t* info, std::size_t length) {
  memory[0] = factor * (*m + *n);
  *info += static_cast<std::int64_t>(*x) + (*which == 'U' ? 100 : 0) + static_cast<std::int64_t>(length);
}

template <auto member>
Functions::Sum adapted(void (*function)(const char*, const std::int64_t*, const std::int64_t*, const double*,
                                        std::int64_t*, std::int64_t*, std::size_t)) {
  return kernels::with_narrow_integers<member, Functions::Sum>(reinterpret_cast<void*>(function), true);
}

// Two functions of one type, as trsm and trmm.
TEST(BlasIntegers, AreCopiedToWideOnesAndBack) {
  const Functions functions{adapted<&Functions::first>(&wide_sum<1>),
                            adapted<&Functions::second>(&wide_sum<2>)};
  const double x = 5;
  for (const int factor : {1, 2}) {
    const std::array<int, 2> sizes{-1, 12345};  // what follows a size is not read
    std::array<int, 2> info{7, 99};
    std::int64_t memory = 0;
    (factor == 1 ? functions.first : functions.second)("U", &sizes[1], sizes.data(), &x, &memory, info.data(),
                                                       1);
    EXPECT_EQ(memory, factor * 12344);
    EXPECT_EQ(info[0], 7 + 5 + 100 + 1);
    EXPECT_EQ(info[1], 99);
  }
}

TEST(BlasIntegers, AreLeftAloneInNarrowLibraries) {
  int here = 0;
  EXPECT_EQ(
      reinterpret_cast<void*>(kernels::with_narrow_integers<&Functions::first, Functions::Sum>(&here, false)),
      &here);
  EXPECT_EQ((kernels::with_narrow_integers<&Functions::first, Functions::Sum>(nullptr, true)), nullptr);
}

}  // namespace
}  // namespace partita
