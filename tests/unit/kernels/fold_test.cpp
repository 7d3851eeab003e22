// Folds of the host: long rows and columns, strides, and what is lost to rounding.
#include "kernels/host/fold.hpp"

#include "support/test.hpp"

namespace partita::kernels {
namespace {

/// Over dimension `over` of a dense array of three dimensions.
std::vector<std::int64_t> folded(std::vector<std::int32_t>& numbers, const Extents& shape, int over,
                                 Reduction reduction) {
  const Strides strides = dense_strides(shape);
  FoldPass pass{reduction, Folded::value, Dtype::i32, Dtype::i64, {}, {}, {}};
  std::vector<std::int64_t> result(static_cast<std::size_t>(volume(shape) / shape[over]));
  std::int64_t stride = 1;
  for (int d = 2; d >= 0; --d) {
    if (d == over) {
      pass.over.push_back({shape[d], {0, strides[d], 0}});
    } else {
      pass.kept.push_back({shape[d], {stride, strides[d], 0}});
      stride *= shape[d];
    }
  }
  pass.data = {result.data(), numbers.data(), nullptr};
  fold(simplify(pass));
  return result;
}

TEST(Fold, RowsAndColumnsOfAnyLength) {
  for (const Extents& shape :
       {Extents{1, 1, 3001}, Extents{700, 3, 300}, Extents{5, 1300, 2}, Extents{3, 40, 517}}) {
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(volume(shape)));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % 1009) - 500;
    const Strides strides = dense_strides(shape);
    for (int over = 0; over < 3; ++over) {
      std::vector<std::int64_t> sums(numbers.size() / static_cast<std::size_t>(shape[over])),
          least(sums.size(), 1000);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::int64_t place = 0;
        for (int d = 0; d < 3; ++d) {
          if (d != over) place = place * shape[d] + static_cast<std::int64_t>(i) / strides[d] % shape[d];
        }
        const auto p = static_cast<std::size_t>(place);
        sums[p] += numbers[i];
        least[p] = std::min<std::int64_t>(least[p], numbers[i]);
      }
      EXPECT_EQ(folded(numbers, shape, over, Reduction::sum), sums);
      EXPECT_EQ(folded(numbers, shape, over, Reduction::min), least);
    }
  }
}

TEST(Fold, SumsArePairwise) {
  std::vector<double> numbers(1 << 20, 0.1);
  double sum = 0;
  FoldPass pass{
      Reduction::sum, Folded::value, Dtype::f64, Dtype::f64, {&sum, numbers.data(), nullptr}, {}, {}};
  pass.over = {{static_cast<std::int64_t>(numbers.size()), {0, 1, 0}}};
  fold(simplify(pass));
  const double exact = 0.1 * static_cast<double>(numbers.size());
  EXPECT_NEAR(sum, exact, exact * 1e-14);
  EXPECT_GT(std::abs(std::accumulate(numbers.begin(), numbers.end(), 0.0) - exact), exact * 1e-14);
}

TEST(Fold, OfNothingIsTheIdentity) {
  double number = 0;
  FoldPass pass{
      Reduction::product, Folded::value, Dtype::f32, Dtype::f64, {&number, &number, nullptr}, {}, {}};
  pass.over = {{0, {0, 1, 0}}};
  fold(simplify(pass));
  EXPECT_EQ(number, 1);
}

}  // namespace
}  // namespace partita::kernels
