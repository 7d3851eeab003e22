// Reductions of the elements that are not NaN, against those of all elements as numbers on every rank.
#include <partita/nan_reductions.hpp>
#include <partita/places.hpp>
#include <partita/quantiles.hpp>
#include <partita/statistics.hpp>

#include "support/models/number_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing::nan_reductions {
namespace {

constexpr double unknown_number = std::numeric_limits<double>::quiet_NaN();
const Shape shape{5, 4, 3};

using Numbers = std::vector<Number>;

bool is_unknown(const Number& x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}

Number mean_of(const Numbers& numbers) {
  Number sum = 0;
  for (const Number x : numbers) sum += x;
  return sum / static_cast<double>(numbers.size());
}

Number variance_of(const Numbers& numbers, double less) {
  if (static_cast<double>(numbers.size()) <= less) return unknown_number;
  double sum = 0;
  for (const Number x : numbers) sum += std::norm(x - mean_of(numbers));
  return sum / (static_cast<double>(numbers.size()) - less);
}

Number quantile_of(const Numbers& numbers, double q) {
  if (numbers.empty()) return unknown_number;
  std::vector<double> line;
  for (const Number x : numbers) line.push_back(x.real());
  std::ranges::sort(line);
  const double place = q * static_cast<double>(line.size() - 1);
  const double low = line[static_cast<std::size_t>(place)],
               high = line[static_cast<std::size_t>(std::ceil(place))];
  return low + (high - low) * (place - std::floor(place));
}

/// A function, the one that it follows, which says of which dtype and layout the result is, and what becomes
/// of the numbers of a line.
struct Case {
  const char* name;
  bool orders;
  Scalar (*whole)(const Array&);
  Array (*over)(const Array&, const Axes&, const ReduceAxesOptions&);
  Array (*followed)(const Array&, const Axes&, const ReduceAxesOptions&);
  Number (*wanted)(const Numbers&);
};

using Options = ReduceAxesOptions;

const Case cases[] = {
    {"nansum", false, [](const Array& a) { return nansum(a); },
     [](const Array& a, const Axes& axes, const Options& options) { return nansum(a, axes, options); },
     [](const Array& a, const Axes& axes, const Options& options) { return sum(a, axes, options); },
     [](const Numbers& line) { return std::accumulate(line.begin(), line.end(), Number(0)); }},
    {"nanproduct", false, [](const Array& a) { return nanproduct(a); },
     [](const Array& a, const Axes& axes, const Options& options) { return nanproduct(a, axes, options); },
     [](const Array& a, const Axes& axes, const Options& options) { return product(a, axes, options); },
     [](const Numbers& line) {
       return std::accumulate(line.begin(), line.end(), Number(1), std::multiplies<>());
     }},
    {"nanmin", true, [](const Array& a) { return nanmin(a); },
     [](const Array& a, const Axes& axes, const Options& options) { return nanmin(a, axes, options); },
     [](const Array& a, const Axes& axes, const Options& options) { return min(a, axes, options); },
     [](const Numbers& line) { return quantile_of(line, 0); }},
    {"nanmax", true, [](const Array& a) { return nanmax(a); },
     [](const Array& a, const Axes& axes, const Options& options) { return nanmax(a, axes, options); },
     [](const Array& a, const Axes& axes, const Options& options) { return max(a, axes, options); },
     [](const Numbers& line) { return quantile_of(line, 1); }},
    {"nanmean", false, [](const Array& a) { return nanmean(a); },
     [](const Array& a, const Axes& axes, const Options& options) { return nanmean(a, axes, options); },
     [](const Array& a, const Axes& axes, const Options& options) { return mean(a, axes, options); },
     mean_of},
    {"nanvar", false, [](const Array& a) { return Scalar(nanvar(a)); },
     [](const Array& a, const Axes& axes, const Options& options) { return nanvar(a, axes, options); },
     [](const Array& a, const Axes& axes, const Options& options) { return var(a, axes, options); },
     [](const Numbers& line) { return variance_of(line, 0); }},
    {"nanstddev", false, [](const Array& a) { return Scalar(nanstddev(a, 1)); },
     [](const Array& a, const Axes& axes, const Options& options) { return nanstddev(a, axes, options, 1); },
     [](const Array& a, const Axes& axes, const Options& options) { return stddev(a, axes, options, 1); },
     [](const Numbers& line) { return Number(std::sqrt(variance_of(line, 1).real())); }},
    {"nanmedian", true, [](const Array& a) { return Scalar(nanmedian(a)); },
     [](const Array& a, const Axes& axes, const Options& options) { return nanmedian(a, axes, options); },
     [](const Array& a, const Axes& axes, const Options& options) { return median(a, axes, options); },
     [](const Numbers& line) { return quantile_of(line, 0.5); }},
    {"nanquantile", true, [](const Array& a) { return Scalar(nanquantile(a, 0.3)); },
     [](const Array& a, const Axes& axes, const Options& options) {
       return nanquantile(a, 0.3, axes, options);
     },
     [](const Array& a, const Axes& axes, const Options& options) { return quantile(a, 0.3, axes, options); },
     [](const Numbers& line) { return quantile_of(line, 0.3); }},
};

bool is_defined(const Case& one, Dtype dtype) {
  if (one.wanted == cases[8].wanted && dtype == Dtype::boolean) return false;
  return !one.orders || !is_complex(dtype);
}

/// Which elements are NaN: none, some, all lines along axis 0 and one along each of the others, all.
constexpr int patterns = 4;
double element(int pattern, std::int64_t number) {
  const Index index = index_of(number, shape);
  const bool is_nan = pattern == 1   ? number % 3 == 1
                      : pattern == 2 ? index[0] == 3 || index[1] == 2 || (index[0] != 1 && index[2] == 0)
                                     : pattern == 3;
  return is_nan ? unknown_number : static_cast<double>(number % 11 == 3 ? 3 : number % 2 + 1);
}

void write(Array& array, int pattern) {
  const bool may = !is_integer(array.dtype()) && array.dtype() != Dtype::boolean;
  write_numbers(array, [&](std::int64_t number) { return element(may ? pattern : 0, number); });
}

void expect_near(const Number& found, const Number& wanted, Dtype result) {
  ASSERT_EQ(is_unknown(found), is_unknown(wanted)) << found << " instead of " << wanted;
  if (is_unknown(wanted)) return;
  const bool half = result == Dtype::f16 || result == Dtype::bf16;
  const double tolerance = half ? 1e-2 : result == Dtype::f32 || result == Dtype::c64 ? 1e-5 : 1e-12;
  EXPECT_LE(std::abs(found - wanted), tolerance * std::max(1.0, std::abs(wanted)))
      << found << " instead of " << wanted;
}

/// The numbers of each line that are not NaN, by the row-major number of the result.
std::vector<Numbers> lines_of(const Numbers& numbers, const Shape& whole, const std::vector<int>& axes) {
  Shape kept = whole;
  for (const int axis : axes) kept[axis] = 1;
  std::vector<Numbers> lines(static_cast<std::size_t>(volume(kept)));
  const Strides strides = dense_strides(kept);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Index index = index_of(static_cast<std::int64_t>(i), whole);
    std::int64_t line = 0;
    for (int d = 0; d < whole.size(); ++d) line += kept[d] == 1 ? 0 : index[d] * strides[d];
    if (!is_unknown(numbers[i])) lines[static_cast<std::size_t>(line)].push_back(numbers[i]);
  }
  return lines;
}

void expect_whole(const Case& one, const Array& array) {
  std::vector<int> axes(static_cast<std::size_t>(array.shape().size()));
  std::iota(axes.begin(), axes.end(), 0);
  const Scalar found = one.whole(array);
  const Dtype result = one.followed(array, axes, {}).dtype();
  const bool is_double = found.dtype() == Dtype::f64;  // those that return a double
  EXPECT_TRUE(is_double || found.dtype() == result) << name(found.dtype());
  const Number number = found.dtype() == Dtype::boolean ? (found.as<bool>() ? 1 : 0) : found.as<Number>();
  expect_near(number, one.wanted(lines_of(whole_numbers(array), array.shape(), axes)[0]), result);
}

void expect_over(const Case& one, const Array& array, const std::vector<int>& axes, const Options& options) {
  const Array found = one.over(array, axes, options), followed = one.followed(array, axes, options);
  EXPECT_EQ(found.operand().to_string(), followed.operand().to_string());
  const Numbers numbers = whole_numbers(found);
  const std::vector<Numbers> lines = lines_of(whole_numbers(array), array.shape(), axes);
  ASSERT_EQ(numbers.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) expect_near(numbers[i], one.wanted(lines[i]), found.dtype());
}

RANK_TEST(NanReductions, OfEveryLayout) {
  constexpr Dtype dtypes[] = {Dtype::f64, Dtype::f32, Dtype::c128, Dtype::f16, Dtype::i16};
  const std::vector<std::vector<int>> lists{{0}, {1}, {2}, {0, 2}, {1, 0}, {0, 1, 2}};
  int place = 0, turn = 0;
  for (const Distribution& distribution : three_dimensional(shape, context.size())) {
    const Layout layout(distribution, shape, context.size());
    for (int pattern = 0; pattern < patterns; ++pattern) {
      for (const Case& one : cases) {
        if (++place % 4 != 0 && !full_product()) continue;  // another fourth for each layout
        const Dtype dtype = dtypes[static_cast<std::size_t>(++turn) % std::size(dtypes)];
        const std::vector<int>& axes = lists[static_cast<std::size_t>(turn / 2) % lists.size()];
        if (!is_defined(one, dtype)) continue;
        SCOPED_TRACE(fmt::format("{} of {} {}, pattern {}, over {} axes from {}", one.name, name(dtype),
                                 distribution.to_string(), pattern, axes.size(), axes[0]));
        Wrapped wrapped = make_array(context, layout, dtype, turn % 5);
        write(wrapped.array, pattern);
        expect_whole(one, wrapped.array);
        Options options{.keep_dimensions = turn % 2 == 1};
        expect_over(one, wrapped.array, axes, options);
        if (turn % 3 == 0) options.root = context.size() - 1;
        if (turn % 3 == 1) options.distribution = Replicated{};
        expect_over(one, wrapped.array, axes, options);
      }
    }
  }
}

RANK_TEST(NanReductions, OfEveryDtype) {
  int turn = 0;
  for (const Dtype dtype : every_dtype) {
    Array array = empty(context, shape, Slab(1), dtype);
    for (int pattern = 1; pattern < patterns; ++pattern) {
      write(array, pattern);
      for (const Case& one : cases) {
        if (!is_defined(one, dtype)) continue;
        SCOPED_TRACE(fmt::format("{} of {}, pattern {}", one.name, name(dtype), pattern));
        expect_whole(one, array);
        if (++turn % 2 == 0) {
          expect_over(one, array, {1}, {.residency = Residency::ordinary});
        } else {
          expect_over(one, array, {0}, {});
        }
      }
    }
  }
}

/// Windows, and more ranks than lines.
RANK_TEST(NanReductions, OfUnevenAndEmptyParts) {
  Array array = empty(context, shape, Slab(0), Dtype::f32);
  write(array, 2);
  std::vector<std::int64_t> last(static_cast<std::size_t>(context.size()), 0);
  last.push_back(5);
  const Array uneven = redistribute(array, Box::from_cuts({last, {0, 4}, {0, 3}}));
  for (const Array& part :
       {array.window({1, 1, 0}, {3, 2, 3}), array.window({2, 0, 1}, {1, 4, 2}), uneven, array.transposed()}) {
    for (const Case& one : cases) {
      SCOPED_TRACE(fmt::format("{} of {}", one.name, part.layout().to_string()));
      expect_whole(one, part);
      expect_over(one, part, {0}, {});
      expect_over(one, part, {2, 1}, {});
    }
  }
}

/// Infinities are numbers, and stay what IEEE 754 makes of them.
RANK_TEST(NanReductions, OfInfinitiesAndOfParts) {
  Array array = empty(context, {2, 3}, Slab(1), Dtype::f64);
  write_numbers(array, [](std::int64_t i) { return i == 1 ? -HUGE_VAL : i < 3 ? unknown_number : 1.0; });
  EXPECT_EQ(nansum(array), -HUGE_VAL);
  EXPECT_EQ(nanmax(array, {1}).dtype(), Dtype::f64);
  EXPECT_EQ(whole_numbers(nanmax(array, {1})), (Numbers{-HUGE_VAL, 1}));
  EXPECT_EQ(nanmax(array.window({0, 0}, {1, 3})), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(nanvar(array)));
  EXPECT_TRUE(std::isnan(whole_numbers(nanvar(array, Axes{1}))[0].real()));
  EXPECT_EQ(whole_numbers(nanvar(array, Axes{1}))[1], 0.0);
  Array complex = zeros(context, {3}, Slab(0), Dtype::c64);
  set_at(complex, {1}, std::complex<float>(2, NAN));
  set_at(complex, {2}, std::complex<float>(3, 1));
  EXPECT_EQ(nansum(complex).as<Number>(), Number(3, 1));
  EXPECT_EQ(nanmean(complex).as<Number>(), Number(1.5, 0.5));
}

RANK_TEST(NanReductions, PlacesOfEveryLayout) {
  for (const Distribution& distribution : three_dimensional(shape, context.size())) {
    SCOPED_TRACE(distribution.to_string());
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::i32}) {
      Array array = empty(context, shape, distribution, dtype);
      const bool may = dtype != Dtype::i32;
      write_numbers(array, [&](std::int64_t i) {
        return may && i % 7 < 3 ? unknown_number : static_cast<double>((i * 37) % 61);
      });
      const auto place_of = [&](bool least, const std::vector<std::int64_t>& line) {
        std::size_t best = line.size();
        const auto value = [&](std::size_t k) { return (line[k] * 37) % 61; };
        for (std::size_t k = 0; k < line.size(); ++k) {
          if (may && line[k] % 7 < 3) continue;
          if (best == line.size() || (least ? value(k) < value(best) : value(k) > value(best))) best = k;
        }
        return static_cast<std::int64_t>(best);
      };
      std::vector<std::int64_t> all(60);
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(nanargmax(array), index_of(place_of(false, all), shape));
      EXPECT_EQ(nanargmin(array), index_of(place_of(true, all), shape));
      const Numbers most = whole_numbers(nanargmax(array, 0)), least = whole_numbers(nanargmin(array, 0));
      for (std::size_t i = 0; i < most.size(); ++i) {
        std::vector<std::int64_t> line;
        for (std::int64_t k = 0; k < shape[0]; ++k) line.push_back(static_cast<std::int64_t>(i) + 12 * k);
        EXPECT_EQ(most[i], static_cast<double>(place_of(false, line)));
        EXPECT_EQ(least[i], static_cast<double>(place_of(true, line)));
      }
    }
  }
}

RANK_TEST(NanReductions, OfNothing) {
  const Array nothing = zeros(context, {0, 3}, Slab(0), Dtype::f32);
  EXPECT_EQ(nansum(nothing), 0);
  EXPECT_EQ(nanproduct(nothing), 1);
  EXPECT_EQ(whole_numbers(nansum(nothing, {0})), Numbers(3, 0.0));
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(one.over(nothing, {1}, {}).shape(), Shape{0});
    if (one.name == std::string_view("nansum") || one.name == std::string_view("nanproduct")) continue;
    EXPECT_ERROR_ON_ALL(ArgumentError, one.whole(nothing), one.name, "no elements");
    EXPECT_ERROR_ON_ALL(ArgumentError, one.over(nothing, {0}, {}), one.name, "no elements");
  }
  EXPECT_ERROR_ON_ALL(ArgumentError, nanargmax(nothing), "nanargmax: the array 0x3 has no elements");
  EXPECT_EQ(nanargmin(nothing, 1).shape(), Shape{0});
}

RANK_TEST(NanReductions, Errors) {
  const Array a = zeros(context, {3, 2}, Slab(0)), b = zeros(context, {3, 2}, Slab(0), Dtype::f32);
  EXPECT_ERROR(ArgumentError, (void)nanargmax(Array()), "nanargmax: the array is an empty Array");
  EXPECT_ERROR(ArgumentError, (void)nanmax(astype(a, Dtype::c64)), "max is not defined for c64");
  EXPECT_ERROR(ArgumentError, (void)nansum(astype(a, Dtype::f8e4m3)), "sum is not defined for f8e4m3");
  EXPECT_EQ(nanmedian(astype(a, Dtype::f8e4m3)), 0);
  EXPECT_ERROR(ArgumentError, (void)nansum(a, Axes{0, 0}), "nansum: axis 0 is named twice");
  const Array partial =
      empty(context, {3, 2}, Distribution::parse(fmt::format("mesh:r={}:-,-;partial=sum:r", context.size())));
  const bool is_other = context.rank() == context.size() - 1;
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    EXPECT_ERROR(ArgumentError, (void)one.over(Array(), {0}, {}), one.name, "the array is an empty Array");
    EXPECT_ERROR_ON_ALL(ArgumentError, one.over(a, {is_other ? 7 : 0}, {}), one.name,
                        "an array of 2 dimensions has no axis 7");
    if (context.size() == 1) continue;
    EXPECT_ERROR_ON_ALL(ArgumentError, one.whole(partial), one.name, "partial");
    EXPECT_ERROR_ON_ALL(DisagreementError, one.over(a, {is_other ? 1 : 0}, {}), "the ranks disagree on axes");
    EXPECT_ERROR_ON_ALL(DisagreementError, one.over(is_other ? b : a, {0}, {}), "the ranks disagree on");
    EXPECT_FALSE(context.failed());
  }
  EXPECT_ERROR_ON_ALL(ArgumentError, nanargmin(a, is_other ? -1 : 0),
                      "nanargmin: an array of 2 dimensions has no axis -1");
}

RANK_TEST(NanReductions, PlacesWithoutNumbers) {
  Array a = empty(context, {2, 3}, Slab(1));
  write_numbers(a, [](std::int64_t i) { return i < 3 ? unknown_number : 1.0; });
  EXPECT_ERROR_ON_ALL(ArgumentError, nanargmax(a, 1),
                      "nanargmax: all elements of a line along axis 1 are NaN");
  EXPECT_EQ(whole_numbers(nanargmax(a, 0)), Numbers(3, 1.0));
  EXPECT_EQ(nanargmin(a), (Index{1, 0}));
  EXPECT_ERROR_ON_ALL(ArgumentError, nanargmin(a.window({0, 0}, {1, 3})), "nanargmin: all elements are NaN");
}

/// Of the same ranks in the opposite order.
RANK_TEST(NanReductions, InTwoContexts) {
  std::vector<int> ranks = all_ranks(context);
  std::ranges::reverse(ranks);
  const Context second = context.subgroup(ranks);
  Array a = empty(context, shape, Slab(0)), b = empty(second, shape, Slab(2), Dtype::f32);
  write(a, 1);
  write(b, 2);
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    for (const Array& array : {a, b}) {
      expect_whole(one, array);
      expect_over(one, array, {0}, {});
    }
  }
}

}  // namespace
}  // namespace partita::testing::nan_reductions
