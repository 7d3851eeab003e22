// Variances, standard deviations and distances of extremes, against sums over all elements.
#include <cmath>
#include <partita/astype.hpp>
#include <partita/elements.hpp>
#include <partita/redistribute.hpp>
#include <partita/statistics.hpp>

#include "support/models/number_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

const Shape shape{7, 5, 3};

double value(const Index& index) {
  return static_cast<double>((index[0] * 7 + index[1] * 5 + index[2] * 2) % 11) - 4;
}

/// Of the elements at `index`, of which those of the axes are replaced by all.
double variance_at(Index index, const std::vector<int>& axes, double less) {
  std::vector<double> values;
  const auto collect = [&](auto&& self, std::size_t next) -> void {
    if (next == axes.size()) return values.push_back(value(index));
    for (index[axes[next]] = 0; index[axes[next]] < shape[axes[next]]; ++index[axes[next]])
      self(self, next + 1);
  };
  collect(collect, 0);
  double mean = 0, sum = 0;
  for (const double x : values) mean += x / static_cast<double>(values.size());
  for (const double x : values) sum += (x - mean) * (x - mean);
  return sum / (static_cast<double>(values.size()) - less);
}

RANK_TEST(Statistics, OfAllElementsAndAlongAxesOfEveryLayout) {
  for (const Distribution& distribution :
       {Distribution(Slab(0)), Distribution(Slab(1)), Distribution(Slab(2)), Distribution(Replicated())}) {
    Array a = empty(context, shape, distribution);
    fill(a, value);
    const Index origin{0, 0, 0};
    for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::i16, Dtype::c128}) {
      const Array x = astype(a, dtype);
      const double error = dtype == Dtype::f32 ? 1e-5 : 1e-13;
      EXPECT_NEAR(var(x), variance_at(origin, {0, 1, 2}, 0), error);
      EXPECT_NEAR(stddev(x, 1), std::sqrt(variance_at(origin, {0, 1, 2}, 1)), error);
      for (const std::vector<int>& axes :
           {std::vector<int>{0}, std::vector<int>{1}, std::vector<int>{2, 0}}) {
        const ReduceAxesOptions kept{.keep_dimensions = true, .distribution = Replicated{}};
        const Array found = clone(stddev(x, axes, kept, 1), {.space = MemorySpace::host});
        EXPECT_EQ(found.dtype(), dtype == Dtype::f32 ? Dtype::f32 : Dtype::f64);
        for_each_local<double>(astype(found, Dtype::f64), [&](const Index& index, double deviation) {
          EXPECT_NEAR(deviation * deviation, variance_at(index, axes, 1), 100 * error) << to_string(index);
        });
        EXPECT_NEAR(sum<double>(var(x, axes, {}, 1)), sum<double>(var(x, axes, kept, 1)), 100 * error);
      }
    }
    EXPECT_EQ(ptp(a).as<double>(), 10);
    EXPECT_EQ(ptp(astype(a, Dtype::i8)), std::int64_t{10});
    EXPECT_EQ(max<double>(ptp(a, {0, 1, 2})), 10);
    EXPECT_TRUE(std::isnan(var(a, 1000)) || std::isinf(var(a, 1000)));
  }
  EXPECT_THROW((void)var(empty(context, {0, 3}, Slab(0))), ArgumentError);
  const Array line = zeros(context, {3}, Slab(0));
  EXPECT_ERROR(ArgumentError, (void)stddev(Array{}), "stddev: the array is an empty Array");
  const Axes odd{context.rank() == context.size() - 1 ? 1 : 0};  // wrong on one rank alone
  EXPECT_ERROR_ON_ALL(ArgumentError, var(line, odd), "var: ", "has no axis 1");
  EXPECT_ERROR_ON_ALL(ArgumentError, stddev(line, odd), "stddev: ", "has no axis 1");
  EXPECT_EQ(sum<double>(var(line, Axes{0})), 0);
  EXPECT_ERROR(ArgumentError, (void)stddev(line, Axes{1}), "stddev: an array of 1 dimensions has no axis 1");
  EXPECT_ERROR(ArgumentError, (void)var(line, Axes{0, 0}), "var: axis 0 is named twice");
  EXPECT_THROW((void)ptp(zeros(context, {3}, Slab(0), Dtype::boolean)), ArgumentError);
}

RANK_TEST(Statistics, CountsOfEveryDtypeAndLayout) {
  int turn = 0;
  for (const Distribution& distribution : three_dimensional(shape, context.size())) {
    for (const Dtype dtype : every_dtype) {
      SCOPED_TRACE(distribution.to_string() + " " + std::string(name(dtype)));
      Wrapped wrapped = make_array(context, Layout(distribution, shape, context.size()), dtype, ++turn % 5);
      Array& a = wrapped.array;
      const bool may = !is_integer(dtype) && dtype != Dtype::boolean;
      write_numbers(a, [&](std::int64_t i) { return i % 4 != 1 ? 0.0 : may && i == 5 ? std::nan("") : 1.0; });
      EXPECT_EQ(count_nonzero(a), 26);
      const int axis = turn % 3;
      const std::vector<Number> numbers = whole_numbers(a);
      const Array kept = count_nonzero(a, axis, {.keep_dimensions = true, .distribution = Replicated{}});
      EXPECT_EQ(kept.dtype(), Dtype::i64);
      EXPECT_EQ(count_nonzero(a, axis).layout(), reduced_layout(a.layout(), axis));
      std::vector<Number> wanted(static_cast<std::size_t>(kept.size()));
      const Strides strides = dense_strides(kept.shape());
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        Index index = index_of(static_cast<std::int64_t>(i), shape);
        index[axis] = 0;
        std::int64_t line = 0;
        for (int d = 0; d < 3; ++d) line += index[d] * strides[d];
        if (numbers[i] != 0.0) wanted[static_cast<std::size_t>(line)] += 1;
      }
      EXPECT_EQ(whole_numbers(kept), wanted);
    }
  }
  const Array nothing = zeros(context, {0, 3}, Slab(0));
  EXPECT_EQ(count_nonzero(nothing), 0);
  EXPECT_EQ(whole_numbers(count_nonzero(nothing, 0)), std::vector<Number>(3, 0.0));
}

RANK_TEST(Statistics, AWrongAxisOfOneRank) {
  const Array a = zeros(context, {3, 2}, Slab(0));
  const bool is_other = context.rank() == context.size() - 1;
  EXPECT_ERROR_ON_ALL(ArgumentError, var(a, Axes{is_other ? 7 : 0}),
                      "var: an array of 2 dimensions has no axis 7");
  EXPECT_ERROR_ON_ALL(ArgumentError, count_nonzero(a, is_other ? 7 : 0),
                      "count_nonzero: an array of 2 dimensions has no axis 7");
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
