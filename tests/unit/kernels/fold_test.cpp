// Folds of the host: long rows and columns, strides, and what is lost to rounding.
#include "kernels/host/fold.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

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

/// The extremum of rows or columns of a matrix, of numbers with a fraction if the dtype has them.
template <class T>
void expect_extremes(std::int64_t rows, std::int64_t columns, std::int64_t step) {
  std::vector<T> numbers(static_cast<std::size_t>(rows * columns * step));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<T>(static_cast<double>(i * 7919 % 1009) / 8 - (std::is_unsigned_v<T> ? 0 : 50));
  const Dtype joined = std::is_floating_point_v<T> ? Dtype::f64
                       : std::is_signed_v<T>       ? Dtype::i64
                                                   : Dtype::u64;
  using J = std::conditional_t<std::is_floating_point_v<T>, double,
                               std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
  for (const Reduction reduction : {Reduction::min, Reduction::max}) {
    for (const bool along_rows : {true, false}) {
      const std::int64_t kept = along_rows ? rows : columns, over = along_rows ? columns : rows;
      std::vector<J> result(static_cast<std::size_t>(kept)), expected(result.size());
      FoldPass pass{
          reduction, Folded::value, dtype_of<T>(), joined, {result.data(), numbers.data(), nullptr}, {}, {}};
      pass.kept = {{kept, {1, along_rows ? columns * step : step, 0}}};
      pass.over = {{over, {0, along_rows ? step : columns * step, 0}}};
      fold(simplify(pass));
      for (std::int64_t k = 0; k < kept; ++k) {
        T found = numbers[static_cast<std::size_t>(k * pass.kept[0].strides[1])];
        for (std::int64_t r = 0; r < over; ++r) {
          const T x =
              numbers[static_cast<std::size_t>(k * pass.kept[0].strides[1] + r * pass.over[0].strides[1])];
          found = reduction == Reduction::min ? std::min(found, x) : std::max(found, x);
        }
        expected[static_cast<std::size_t>(k)] = static_cast<J>(+found);
      }
      EXPECT_EQ(result, expected) << rows << " x " << columns << " step " << step << " "
                                  << name(dtype_of<T>());
    }
  }
}

TEST(Fold, ExtremesOfAllTypesDenseAndNot) {
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 9000}, {70, 33}, {2100, 40}}) {
    for (const std::int64_t step : {1, 3}) {
      expect_extremes<std::int8_t>(rows, columns, step);
      expect_extremes<std::uint8_t>(rows, columns, step);
      expect_extremes<std::int16_t>(rows, columns, step);
      expect_extremes<std::uint16_t>(rows, columns, step);
      expect_extremes<std::int32_t>(rows, columns, step);
      expect_extremes<std::uint32_t>(rows, columns, step);
      expect_extremes<std::int64_t>(rows, columns, step);
      expect_extremes<std::uint64_t>(rows, columns, step);
      expect_extremes<float>(rows, columns, step);
      expect_extremes<double>(rows, columns, step);
    }
  }
}

TEST(Fold, ANanIsTheExtremeWhereverItIs) {
  constexpr std::int64_t rows = 9, columns = 77;
  for (std::size_t place = 0; place < rows * columns; place += 5) {
    std::vector<float> numbers(rows * columns, 1);
    numbers[place] = std::numeric_limits<float>::quiet_NaN();
    for (const Reduction reduction : {Reduction::min, Reduction::max}) {
      double whole = 0;
      FoldPass pass{reduction, Folded::value, Dtype::f32, Dtype::f64, {&whole, numbers.data(), nullptr}, {},
                    {}};
      pass.over = {{rows * columns, {0, 1, 0}}};
      fold(simplify(pass));
      EXPECT_TRUE(std::isnan(whole)) << place;
      std::vector<double> by_column(columns);
      pass.data[0] = by_column.data();
      pass.kept = {{columns, {1, 1, 0}}};
      pass.over = {{rows, {0, columns, 0}}};
      fold(simplify(pass));
      for (std::size_t c = 0; c < by_column.size(); ++c)
        EXPECT_EQ(std::isnan(by_column[c]), c == place % columns) << place << " " << c;
    }
  }
}

/// Whether any, or all, of the numbers are true; the others are all the same.
template <class T>
void expect_truths() {
  for (const std::size_t size : {1UL, 31UL, 1000UL}) {
    for (std::size_t place = 0; place < size; place += 7) {
      for (const bool others : {false, true}) {
        std::vector<T> numbers(size, static_cast<T>(others ? 2 : 0));
        numbers[place] = static_cast<T>(others ? 0 : 2);
        for (const Reduction reduction : {Reduction::min, Reduction::max}) {
          std::uint64_t whole = 7;
          FoldPass pass{
              reduction, Folded::truth, dtype_of<T>(), Dtype::u64, {&whole, numbers.data(), nullptr}, {}, {}};
          pass.over = {{static_cast<std::int64_t>(size), {0, 1, 0}}};
          fold(simplify(pass));
          const bool expected = reduction == Reduction::max ? (size > 1 || !others) : size == 1 && !others;
          EXPECT_EQ(whole, expected ? 1U : 0U) << name(dtype_of<T>()) << " " << size << " " << place;
          std::vector<std::uint64_t> each(size);
          pass.data[0] = each.data();
          pass.kept = {{static_cast<std::int64_t>(size), {1, 1, 0}}};
          pass.over = {{5, {0, 0, 0}}};
          fold(simplify(pass));
          for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(each[i], (i == place) != others ? 1U : 0U);
        }
      }
    }
  }
}

TEST(Fold, TruthsOfAllTypes) {
  expect_truths<std::int8_t>();
  expect_truths<std::uint16_t>();
  expect_truths<std::int32_t>();
  expect_truths<std::uint64_t>();
  expect_truths<float>();
  expect_truths<double>();
  expect_truths<std::complex<float>>();
  expect_truths<std::complex<double>>();
}

TEST(Fold, SumsOfRealComplexAndBooleanElements) {
  constexpr std::int64_t rows = 37, columns = 2100;
  std::vector<std::complex<float>> numbers(rows * columns);
  std::vector<float> reals(rows * columns);
  std::vector<std::uint8_t> booleans(rows * columns);  // bytes other than 1 are true, too
  std::vector<std::complex<double>> sums(columns), found(columns);
  std::vector<double> squares(columns), found_squares(columns);
  std::vector<std::int64_t> counts(columns), found_counts(columns);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = {static_cast<float>(i % 13), static_cast<float>(i % 7)};
    reals[i] = static_cast<float>(i % 11);
    booleans[i] = static_cast<std::uint8_t>(i % 3 * 2);
    sums[i % columns] += numbers[i];
    squares[i % columns] += std::pow(static_cast<double>(reals[i]), 2);
    counts[i % columns] += i % 3 != 0 ? 1 : 0;
  }
  const auto folded_as = [&](Folded folded, Dtype dtype, Dtype joined, void* to, void* from) {
    FoldPass pass{Reduction::sum, folded, dtype, joined, {to, from, nullptr}, {}, {}};
    pass.kept = {{columns, {1, 1, 0}}};
    pass.over = {{rows, {0, columns, 0}}};
    fold(simplify(pass));
    pass.kept = {};
    pass.over = {{rows * columns, {0, 1, 0}}};
    std::complex<double> whole;
    pass.data[0] = &whole;
    fold(simplify(pass));
    return whole;
  };
  const std::complex<double> whole =
      folded_as(Folded::value, Dtype::c64, Dtype::c128, found.data(), numbers.data());
  EXPECT_EQ(found, sums);
  EXPECT_EQ(whole, std::accumulate(sums.begin(), sums.end(), std::complex<double>()));
  const double square =
      folded_as(Folded::square, Dtype::f32, Dtype::f64, found_squares.data(), reals.data()).real();
  EXPECT_EQ(found_squares, squares);
  EXPECT_EQ(square, std::accumulate(squares.begin(), squares.end(), 0.0));
  (void)folded_as(Folded::value, Dtype::boolean, Dtype::i64, found_counts.data(), booleans.data());
  EXPECT_EQ(found_counts, counts);
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
