// Medians and quantiles against sorted copies of all elements.
#include <algorithm>
#include <cmath>
#include <limits>
#include <partita/astype.hpp>
#include <partita/create.hpp>
#include <partita/elements.hpp>
#include <partita/quantiles.hpp>
#include <partita/redistribute.hpp>
#include <random>

#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

constexpr double unknown_number = std::numeric_limits<double>::quiet_NaN();

std::vector<double> numbers_to_rank(std::int64_t count, int distinct) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<double> found;
  for (std::int64_t i = 0; i < count; ++i)
    found.push_back(static_cast<double>(random() % static_cast<unsigned>(distinct)));
  return found;
}

Array array_to_rank(Context& context, const std::vector<double>& elements, const Shape& shape,
                    const Distribution& distribution, Dtype dtype) {
  Array a = empty(context, shape, distribution);
  const Strides strides = dense_strides(shape);
  fill(a, [&](const Index& index) {
    std::int64_t place = 0;
    for (int d = 0; d < index.size(); ++d) place += index[d] * strides[d];
    return elements[static_cast<std::size_t>(place)];
  });
  return astype(a, dtype);
}

double quantile_of_line(std::vector<double> line, double q, QuantileMethod method) {
  std::ranges::sort(line);
  const double place = q * static_cast<double>(line.size() - 1);
  const double low = line[static_cast<std::size_t>(place)],
               high = line[static_cast<std::size_t>(std::ceil(place))];
  switch (method) {
    case QuantileMethod::lower:
      return low;
    case QuantileMethod::higher:
      return high;
    case QuantileMethod::midpoint:
      return (low + high) / 2;
    case QuantileMethod::nearest:
      return line[static_cast<std::size_t>(std::nearbyint(place))];
    default:
      return low + (high - low) * (place - std::floor(place));
  }
}

std::vector<Distribution> divided_for_quantiles(const Context& context, std::int64_t size) {
  std::vector<std::int64_t> last(static_cast<std::size_t>(context.size()), 0);
  last.push_back(size);
  return {Slab(0), Replicated(), BlockCyclic({context.size()}, 3), Box::from_cuts({last})};
}

RANK_TEST(Quantiles, OfAllElements) {
  const std::vector<double> shares{0, 0.1, 0.25, 0.5, 0.77, 1};
  for (const std::int64_t size : {1, 2, 9, 5000, 70'001}) {
    for (const int distinct : {3, 100}) {
      const std::vector<double> elements = numbers_to_rank(size, distinct);
      for (const Distribution& distribution : divided_for_quantiles(context, size)) {
        for (const Dtype dtype : {Dtype::f32, Dtype::i8, Dtype::bf16}) {
          const Array a = array_to_rank(context, elements, {size}, distribution, dtype);
          EXPECT_EQ(median(a), quantile_of_line(elements, 0.5, QuantileMethod::linear)) << size;
          for (const std::string_view method : words_of<QuantileMethod>()) {
            const auto one = parse<QuantileMethod>(method);
            const std::vector<double> found = quantile(a, shares, one);
            for (std::size_t i = 0; i < shares.size(); ++i)
              EXPECT_NEAR(found[i], quantile_of_line(elements, shares[i], one), 1e-9)
                  << size << " " << method;
          }
          EXPECT_NEAR(percentile(a, 30), quantile_of_line(elements, 0.3, QuantileMethod::linear), 1e-9);
        }
      }
    }
  }
}

RANK_TEST(Quantiles, OfEveryDtypeAndOfNaN) {
  const std::vector<double> elements = numbers_to_rank(33, 7);
  for (const Dtype dtype : {Dtype::i8, Dtype::u8, Dtype::i16, Dtype::u16, Dtype::i32, Dtype::u32, Dtype::i64,
                            Dtype::u64, Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64, Dtype::f8e4m3}) {
    const Array a = array_to_rank(context, elements, {11, 3}, Slab(0), dtype);
    EXPECT_EQ(median(a), quantile_of_line(elements, 0.5, QuantileMethod::linear)) << name(dtype);
    const Array found = median(a, {0, 1});
    EXPECT_EQ(found.dtype(), is_integer(dtype) ? Dtype::f64 : dtype);
    EXPECT_EQ(to_vector<double>(astype(found, Dtype::f64))[0], median(a));
    if (is_integer(dtype)) continue;
    std::vector<double> with_nan = elements;
    with_nan[4] = unknown_number;
    const Array b = array_to_rank(context, with_nan, {11, 3}, Slab(0), dtype);
    EXPECT_TRUE(std::isnan(median(b)) && std::isnan(quantile(b, 0.25)));
    const std::vector<double> lines = to_vector<double>(astype(median(b, 1), Dtype::f64));
    EXPECT_TRUE(std::isnan(lines[1]) && !std::isnan(lines[0]) && !std::isnan(lines[2]));
  }
  const Array truths =
      astype(array_to_rank(context, {0, 1, 1, 1, 0, 0}, {6}, Slab(0), Dtype::u8), Dtype::boolean);
  EXPECT_EQ(median(truths), 0.5);
}

/// Over axes, of the elements in row-major order.
std::vector<double> quantiles_of_lines(const std::vector<double>& elements, const Shape& shape,
                                       const std::vector<int>& axes, double q) {
  Shape kept = shape;
  for (const int axis : axes) kept[axis] = 1;
  std::vector<std::vector<double>> lines(static_cast<std::size_t>(volume(kept)));
  const Strides strides = dense_strides(shape), to = dense_strides(kept);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::int64_t line = 0;
    for (int d = 0; d < shape.size(); ++d)
      line += kept[d] == 1 ? 0 : static_cast<std::int64_t>(i) / strides[d] % shape[d] * to[d];
    lines[static_cast<std::size_t>(line)].push_back(elements[i]);
  }
  std::vector<double> found;
  for (const std::vector<double>& line : lines)
    found.push_back(quantile_of_line(line, q, QuantileMethod::linear));
  return found;
}

RANK_TEST(Quantiles, OverAxesOfEveryLayout) {
  for (const Shape& shape : {Shape{7, 5, 3}, Shape{2, 900, 1}, Shape{40, 1, 2}}) {
    const std::vector<double> elements = numbers_to_rank(volume(shape), 50);
    for (const Distribution& rule : {Distribution(Slab(0)), Distribution(Slab(1)), Distribution(Replicated()),
                                     Distribution(BlockCyclic({1, context.size(), 1}, {2, 2, 2}))}) {
      const Array a = array_to_rank(context, elements, shape, rule, Dtype::f32);
      for (const std::vector<int>& axes : {std::vector<int>{0}, {1}, {2}, {0, 2}, {2, 1}, {0, 1, 2}}) {
        const std::vector<double> wanted = quantiles_of_lines(elements, shape, axes, 0.3);
        for (const bool keep : {false, true}) {
          for (const std::optional<Distribution>& other :
               {std::optional<Distribution>(), std::optional<Distribution>(Replicated())}) {
            const Array found = quantile(a, 0.3, axes, {.keep_dimensions = keep, .distribution = other});
            EXPECT_EQ(found.dtype(), Dtype::f32);
            EXPECT_EQ(found.local().space, a.local().space);
            EXPECT_TRUE(found.layout() ==
                        max(a, axes, {.keep_dimensions = keep, .distribution = other}).layout());
            const std::vector<double> numbers_found = to_vector<double>(astype(found, Dtype::f64));
            ASSERT_EQ(numbers_found.size(), wanted.size());
            for (std::size_t i = 0; i < wanted.size(); ++i)
              EXPECT_NEAR(numbers_found[i], wanted[i], 1e-5) << a.operand().to_string();
          }
        }
        EXPECT_EQ(to_vector<float>(median(a, axes, {.root = context.size() - 1})).size(), wanted.size());
      }
    }
  }
}

RANK_TEST(Quantiles, Errors) {
  const Array a = zeros(context, {3, 2}, Slab(0)), b = zeros(context, {3, 2}, Slab(0), Dtype::f32);
  EXPECT_ERROR(ArgumentError, (void)median(Array()), "median: the array is an empty Array");
  EXPECT_ERROR(ArgumentError, (void)median(a, 2), "median: an array of 2 dimensions has no axis 2");
  EXPECT_ERROR(ArgumentError, (void)quantile(a, 1.5), "quantile: 1.5 is not between 0 and 1");
  EXPECT_ERROR(ArgumentError, (void)quantile(a, unknown_number), "is not between 0 and 1");
  EXPECT_ERROR(ArgumentError, (void)median(zeros(context, {0, 2}, Slab(0))), "no elements");
  EXPECT_ERROR(ArgumentError, (void)median(astype(a, Dtype::c64)), "median is not defined for c64");
  EXPECT_ERROR(ArgumentError, (void)quantile(astype(a, Dtype::boolean), 0.5),
               "quantile is not defined for bool");
  EXPECT_ERROR(ArgumentError, (void)median(a, 0, {.root = 99}), "the root 99");
  if (context.size() == 1) return;
  const bool is_other = context.rank() == 1;
  EXPECT_ERROR_ON_ALL(ArgumentError, median(a, is_other ? 7 : 0), "an array of 2 dimensions has no axis 7",
                      "rank 1");
  EXPECT_ERROR_ON_ALL(DisagreementError, median(a, is_other ? 1 : 0), "median: the ranks disagree on axes");
  EXPECT_ERROR_ON_ALL(DisagreementError, median(is_other ? b : a), "median: the ranks disagree on array",
                      "f32");
  EXPECT_ERROR_ON_ALL(DisagreementError, quantile(a, is_other ? 0.5 : 0.25),
                      "quantile: the ranks disagree on q");
}

RANK_TEST(Quantiles, OrderStatistics) {
  const int ranks = context.size(), rank = context.rank();
  for (const std::int64_t each : {10, 3000, 40'000}) {
    std::vector<std::int64_t> mine, all;
    for (int r = 0; r < ranks; ++r) {
      for (std::int64_t i = 0; i < each * r; ++i) {
        all.push_back((i * 7919 + r * 13) % 5003 - 100);
        if (r == rank) mine.push_back(all.back());
      }
    }
    std::ranges::sort(all);
    if (all.empty()) continue;
    const auto size = static_cast<std::int64_t>(all.size());
    std::vector<std::int64_t> positions{size - 1, 0, size / 2, size / 2, size / 3}, found(5);
    order_statistics(context, view(mine), positions, view(found));
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(found[i], all[static_cast<std::size_t>(positions[i])]);
    positions[0] = size;
    EXPECT_ERROR(ArgumentError, order_statistics(context, view(mine), positions, view(found)),
                 "order_statistics: position");
  }
}

}  // namespace
}  // namespace partita::testing
