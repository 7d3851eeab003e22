// A spectrum times a symbol, mode by mode.
#include "kernels/host/symbol.hpp"

#include "support/test.hpp"

namespace partita::testing {
namespace {

using kernels::Symbol;
using kernels::SymbolPass;

/// 2 x 3 modes by rows into places by columns.
SymbolPass pass_of(Symbol symbol, Dtype dtype, void* to, void* from, const double* rows,
                   const double* columns) {
  SymbolPass pass;
  pass.symbol = symbol;
  pass.dtype = dtype;
  pass.data = {to, from};
  pass.loops = {{2, {1, 3}, rows}, {3, {2, 1}, columns}};
  return pass;
}

TEST(Symbol, InverseLaplacianHasNoMean) {
  std::vector<std::complex<double>> from{{4, 8}, {1, 2}, {3, 0}, {2, 2}, {5, 5}, {0, 10}}, to(6);
  const std::vector<double> rows{0, 1}, columns{0, 1, 4};
  kernels::multiply(
      pass_of(Symbol::inverse_laplacian, Dtype::c128, to.data(), from.data(), rows.data(), columns.data()));
  const std::vector<std::complex<double>> expected{{0, 0},       {-2, -2},   {-1, -2},
                                                   {-2.5, -2.5}, {-0.75, 0}, {0, -2}};
  EXPECT_EQ(to, expected);
}

TEST(Symbol, DerivativesAreAlongOneDimension) {
  std::vector<std::complex<float>> from{{4, 8}, {1, 2}, {3, 0}, {2, 2}, {5, 5}, {0, 10}}, to(6);
  const std::vector<double> columns{0, 2, -1};
  kernels::multiply(pass_of(Symbol::derivative, Dtype::c64, to.data(), from.data(), nullptr, columns.data()));
  const std::vector<std::complex<float>> expected{{0, 0}, {0, 0}, {-4, 2}, {-10, 10}, {0, -3}, {10, 0}};
  EXPECT_EQ(to, expected);
}

TEST(Symbol, WithoutLoopsThereIsOneMode) {
  std::complex<double> mode{3, 4};
  SymbolPass pass;
  pass.data = {&mode, &mode};
  kernels::multiply(pass);
  EXPECT_EQ(mode, 0.0);
}

}  // namespace
}  // namespace partita::testing
