// Which products go to GPUs. Runs where PARTITA_SCALAPACK_DEVICE names some; those of the tests are made of
// host memory.
#include <cstdlib>
#include <string_view>

#include "matrix_model.hpp"

namespace partita::testing {
namespace {

/// C = A B + C of numbers that are 1; whether GPUs have multiplied.
bool goes_to_devices(const Both<Gemm<double>>& routine, const BlacsGrid& grid, int n) {
  Random random(51);
  const Blocks blocks{.shortest = (n + 7) / 8, .longest = (n + 3) / 4};
  Matrix<double> a(random, grid, n, n, false, blocks);
  Matrix<double> b(random, grid, n, n, false, blocks);
  Matrix<double> c(random, grid, n, n, false, blocks);
  for (Matrix<double>* const matrix : {&a, &b, &c}) matrix->fill([](int, int) { return 1.0; });
  const auto desca = a.descriptor();
  const auto descb = b.descriptor();
  const auto descc = c.descriptor();
  const double one = 1;
  const int first = 1;
  const long before = partita_scalapack_calls_on_devices();
  routine.ours("N", "N", &n, &n, &n, &one, a.values.data(), &first, &first, desca.data(), b.values.data(),
               &first, &first, descb.data(), &one, c.values.data(), &first, &first, descc.data());
  c.for_each([&](int i, int j, double value) { ASSERT_EQ(value, n + 1) << i << "," << j; });
  return partita_scalapack_calls_on_devices() > before;
}

TEST(ScalapackDevices, MultiplyWhatCostsLessThere) {
  const char* const set = std::getenv("PARTITA_SCALAPACK_DEVICE");
  if (set == nullptr) GTEST_SKIP() << "needs PARTITA_SCALAPACK_DEVICE";
  const bool cost_nothing = std::string_view(set).ends_with("free_devices.json");
  const Both<Gemm<double>> routine("pdgemm_");
  for (const BlacsGrid& grid : grids()) {
    if (!grid.inside()) continue;
    EXPECT_EQ(goes_to_devices(routine, grid, 31), cost_nothing);
    EXPECT_TRUE(goes_to_devices(routine, grid, 600));
  }
}

}  // namespace
}  // namespace partita::testing
