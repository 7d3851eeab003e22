// Reductions of arrays against sums over all elements.
#include "support/models/number_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

const Shape reduced_shape{5, 4, 3};

constexpr ArrayReduction all_reductions[] = {
    ArrayReduction::sum,  ArrayReduction::product, ArrayReduction::min, ArrayReduction::max,
    ArrayReduction::mean, ArrayReduction::norm,    ArrayReduction::any, ArrayReduction::all};

bool orders(ArrayReduction reduction) {
  return reduction == ArrayReduction::min || reduction == ArrayReduction::max;
}

/// What `numbers` become, in exact arithmetic for the small numbers of these tests.
Number brute_force(ArrayReduction reduction, const std::vector<Number>& numbers) {
  Number sum = 0, product = 1, least = numbers.front(), most = numbers.front();
  double squares = 0;
  bool any = false, all = true;
  for (const Number x : numbers) {
    sum += x;
    product *= x;
    if (x.real() < least.real()) least = x;
    if (x.real() > most.real()) most = x;
    squares += std::norm(x);
    any = any || x != 0.0;
    all = all && x != 0.0;
  }
  switch (reduction) {
    case ArrayReduction::sum:
      return sum;
    case ArrayReduction::product:
      return product;
    case ArrayReduction::min:
      return least;
    case ArrayReduction::max:
      return most;
    case ArrayReduction::mean:
      return sum / static_cast<double>(numbers.size());
    case ArrayReduction::norm:
      return std::sqrt(squares);
    case ArrayReduction::any:
      return any ? 1 : 0;
    default:
      return all ? 1 : 0;
  }
}

/// The table of the header.
Dtype result_dtype(ArrayReduction reduction, Dtype dtype) {
  const bool whole = dtype == Dtype::boolean || is_integer(dtype);
  const bool half = dtype == Dtype::f16 || dtype == Dtype::bf16;
  const Dtype single = half ? Dtype::f32 : dtype;
  switch (reduction) {
    case ArrayReduction::any:
    case ArrayReduction::all:
      return Dtype::boolean;
    case ArrayReduction::min:
    case ArrayReduction::max:
      return dtype;
    case ArrayReduction::mean:
      return whole ? Dtype::f64 : single;
    case ArrayReduction::norm:
      return whole || dtype == Dtype::c128 ? Dtype::f64 : dtype == Dtype::c64 ? Dtype::f32 : single;
    default:
      if (!whole) return single;
      return is_integer(dtype) && !is_signed(dtype) ? Dtype::u64 : Dtype::i64;
  }
}

/// Products stay small: most numbers are 1.
double number_for(ArrayReduction reduction, std::int64_t number) {
  if (reduction == ArrayReduction::product) return number % 11 == 3 ? 2 : 1;
  if (reduction == ArrayReduction::all) return number == 7 ? 2 : 1;
  return known_value(number, 0);
}

double tolerance_of_results(Dtype result) {
  return result == Dtype::f32 || result == Dtype::c64 ? 1e-6 : 1e-14;
}

void expect_near_number(Number found, Number expected, Dtype result) {
  EXPECT_LE(std::abs(found - expected), tolerance_of_results(result) * std::max(1.0, std::abs(expected)))
      << found << " instead of " << expected;
}

Number as_number(const Scalar& scalar) {
  return scalar.dtype() == Dtype::boolean ? Number(scalar.as<bool>() ? 1 : 0) : scalar.as<Number>();
}

RANK_TEST(ArrayReductions, WholeArraysOfEveryDtype) {
  int memory = 0;
  for (const Distribution& distribution : three_dimensional(reduced_shape, context.size())) {
    const Layout layout(distribution, reduced_shape, context.size());
    for (const Dtype dtype : every_dtype) {
      Wrapped wrapped = make_array(context, layout, dtype, memory++ % 5);
      for (const ArrayReduction reduction : all_reductions) {
        SCOPED_TRACE(distribution.to_string() + " " + std::string(name(dtype)) + " " +
                     std::string(name(reduction)));
        if (orders(reduction) && is_complex(dtype)) {
          EXPECT_THROW((void)reduce(wrapped.array, reduction), ArgumentError);
          continue;
        }
        write_numbers(wrapped.array, [&](std::int64_t i) { return number_for(reduction, i); });
        const Scalar found = reduce(wrapped.array, reduction);
        EXPECT_EQ(found.dtype(), result_dtype(reduction, dtype));
        expect_near_number(as_number(found), brute_force(reduction, whole_numbers(wrapped.array)),
                           found.dtype());
      }
    }
  }
}

/// The numbers that become each element of the result, by its row-major number.
std::vector<std::vector<Number>> lines_of(const std::vector<Number>& numbers, const std::vector<int>& axes) {
  Shape kept;
  std::vector<int> dimensions;
  for (int d = 0; d < reduced_shape.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) != axes.end()) continue;
    kept.push_back(reduced_shape[d]);
    dimensions.push_back(d);
  }
  const Strides strides = dense_strides(kept);
  std::vector<std::vector<Number>> lines(static_cast<std::size_t>(volume(kept)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Index index = index_of(static_cast<std::int64_t>(i), reduced_shape);
    std::int64_t line = 0;
    for (int k = 0; k < kept.size(); ++k) line += index[dimensions[static_cast<std::size_t>(k)]] * strides[k];
    lines[static_cast<std::size_t>(line)].push_back(numbers[i]);
  }
  return lines;
}

void expect_over_axes(const Array& array, ArrayReduction reduction, const std::vector<int>& axes,
                      const ReduceAxesOptions& options) {
  const std::vector<std::vector<Number>> lines = lines_of(whole_numbers(array), axes);
  const Array found = reduce(array, reduction, axes, options);
  EXPECT_EQ(found.dtype(), result_dtype(reduction, array.dtype()));
  EXPECT_EQ(found.local().space, array.local().space);
  Shape shape;
  for (int d = 0; d < reduced_shape.size(); ++d) {
    const bool gone = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (!gone) shape.push_back(reduced_shape[d]);
    if (gone && options.keep_dimensions) shape.push_back(1);
  }
  ASSERT_EQ(found.shape(), shape);
  if (!options.root && !options.distribution) {
    EXPECT_EQ(found.layout(), reduced_layout(array.layout(), axes, options.keep_dimensions));
  }
  if (options.root) {
    EXPECT_EQ(found.local_size(), *options.root == found.context().rank() ? volume(shape) : 0);
  }
  const std::vector<Number> numbers = whole_numbers(found);
  ASSERT_EQ(numbers.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    expect_near_number(numbers[i], brute_force(reduction, lines[i]), found.dtype());
}

RANK_TEST(ArrayReductions, OverAxesOfEveryLayout) {
  const std::vector<std::vector<int>> lists{{0}, {1}, {2}, {0, 2}, {1, 0}, {0, 1, 2}};
  int turn = 0;
  for (const Distribution& distribution : three_dimensional(reduced_shape, context.size())) {
    const Layout layout(distribution, reduced_shape, context.size());
    for (const std::vector<int>& axes : lists) {
      SCOPED_TRACE(distribution.to_string() + " over " + std::to_string(axes.size()) + " axes from " +
                   std::to_string(axes.front()));
      const Dtype dtype = every_dtype[static_cast<std::size_t>(turn) % std::size(every_dtype)];
      Wrapped wrapped = make_array(context, layout, dtype, turn % 5);
      const ArrayReduction reduction = all_reductions[static_cast<std::size_t>(turn / 2 % 8)];
      if (orders(reduction) && is_complex(dtype)) {
        ++turn;
        continue;
      }
      write_numbers(wrapped.array, [&](std::int64_t i) { return number_for(reduction, i); });
      ReduceAxesOptions options{.keep_dimensions = turn % 2 == 1};
      expect_over_axes(wrapped.array, reduction, axes, options);
      options.distribution = Replicated{};
      if (turn % 3 == 0 && axes.size() < 3) options.distribution = Slab(0);
      expect_over_axes(wrapped.array, reduction, axes, options);
      options.distribution.reset();
      options.root = context.size() - 1;
      expect_over_axes(wrapped.array, reduction, axes, options);
      ++turn;
    }
  }
}

RANK_TEST(ArrayReductions, OfWindowsAndOfPartsOfLargerGroups) {
  const Shape whole{9, 8, 7};
  const Index lower{1, 2, 3};
  std::vector<int> others;
  for (int rank = context.size() - 1; rank > 0; --rank) others.push_back(rank);
  std::vector<Layout> layouts;
  for (const Distribution& distribution : three_dimensional(whole, context.size()))
    layouts.push_back(Layout(distribution, whole, context.size()).window(lower, reduced_shape));
  const int fewer = static_cast<int>(others.size());
  if (fewer > 0) {
    for (const Distribution& distribution : three_dimensional(reduced_shape, fewer))
      layouts.push_back(Layout(distribution, reduced_shape, fewer).embedded(others, context.size()));
  }
  for (const Layout& layout : layouts) {
    SCOPED_TRACE(layout.to_string());
    Array array = empty(context, layout, Dtype::i32);
    write_numbers(array, [](std::int64_t i) { return known_value(i, 0); });
    const std::vector<Number> numbers = whole_numbers(array);
    EXPECT_EQ(sum<Number>(array), brute_force(ArrayReduction::sum, numbers));
    for (const std::vector<int>& axes : {std::vector<int>{0}, {1}, {2, 1}, {2, 0}}) {
      expect_over_axes(array, ArrayReduction::sum, axes, {});
      expect_over_axes(array, ArrayReduction::min, axes, {.keep_dimensions = true});
    }
  }
}

RANK_TEST(ArrayReductions, LongRowsAndColumns) {
  const Shape shape{20011, 37};
  for (const Distribution& distribution :
       std::vector<Distribution>{Slab(0), Slab(1), BlockCyclic(ProcessGrid({context.size(), 1}), {64, 5})}) {
    for (const Dtype dtype : {Dtype::u8, Dtype::f32, Dtype::f64}) {
      SCOPED_TRACE(distribution.to_string() + " " + std::string(name(dtype)));
      Array array = empty(context, shape, distribution, dtype);
      write_numbers(array, [](std::int64_t i) { return static_cast<double>(i % 101); });
      std::vector<Number> rows(20011), columns(37);
      for (std::size_t i = 0; i < rows.size() * columns.size(); ++i) {
        rows[i / 37] += static_cast<double>(i % 101);
        columns[i % 37] += static_cast<double>(i % 101);
      }
      EXPECT_EQ(whole_numbers(sum(array, {0})), columns);
      EXPECT_EQ(whole_numbers(sum(array, {1})), rows);
      EXPECT_EQ(max<Number>(array), 100.0);
    }
  }
}

RANK_TEST(ArrayReductions, AllReductionsOverAnAxis) {
  for (const Dtype dtype : every_dtype) {
    Array array = empty(context, reduced_shape, Slab(1), dtype);
    for (const ArrayReduction reduction : all_reductions) {
      if (orders(reduction) && is_complex(dtype)) continue;
      SCOPED_TRACE(std::string(name(dtype)) + " " + std::string(name(reduction)));
      write_numbers(array, [&](std::int64_t i) { return number_for(reduction, i); });
      expect_over_axes(array, reduction, {1}, {});
      expect_over_axes(array, reduction, {0}, {});
    }
  }
}

RANK_TEST(ArrayReductions, WhatIsLeftOfALayout) {
  const Array rows = zeros(context, {9, 4}, Slab(0), Dtype::f32);
  EXPECT_EQ(sum(rows, {1}).layout().distribution(), Distribution(Slab(0)));
  EXPECT_EQ(sum(rows, {1}, {.keep_dimensions = true}).shape(), Shape({9, 1}));
  EXPECT_TRUE(sum(rows, {0}).layout().equivalent(Layout(Replicated{}, {4}, context.size())));
  const Array cyclic =
      zeros(context, {9, 4}, BlockCyclic(ProcessGrid({1, context.size()}), {2, 1}), Dtype::f64);
  const Array left = max(cyclic, {0});
  EXPECT_TRUE(
      left.layout().equivalent(Layout(BlockCyclic(ProcessGrid({context.size()}), {1}), {4}, context.size())));
  EXPECT_EQ(mean(cyclic, {0, 1}).shape(), Shape({}));
}

RANK_TEST(ArrayReductions, RepeatedOnesHaveAPlan) {
  // Three steps (reduced, moved, finished), two, one.
  Array rows = empty(context, {9, 4}, Slab(0), Dtype::i16);
  const auto& plans = context.state()->plans;
  const auto results = [&](int round) {
    write_numbers(rows, [&](std::int64_t i) { return known_value(i, 0, round); });
    return std::vector<Array>{mean(rows, {0}), norm(rows, {0}, {.root = 0}), sum(rows, {0}), sum(rows, {1})};
  };
  std::size_t after_one = 0;
  for (const int round : {0, 1, 2, 3}) {
    const std::vector<Array> found = results(round);
    const std::vector<Number> numbers = whole_numbers(rows);
    for (std::size_t row = 0; row < 9; ++row) {
      const std::vector<Number> line(numbers.begin() + 4 * static_cast<std::ptrdiff_t>(row),
                                     numbers.begin() + 4 * static_cast<std::ptrdiff_t>(row + 1));
      EXPECT_EQ(whole_numbers(found[3])[row], brute_force(ArrayReduction::sum, line));
    }
    for (std::size_t column = 0; column < 4; ++column) {
      std::vector<Number> line;
      for (std::size_t row = 0; row < 9; ++row) line.push_back(numbers[4 * row + column]);
      expect_near_number(whole_numbers(found[0])[column], brute_force(ArrayReduction::mean, line),
                         Dtype::f64);
      expect_near_number(whole_numbers(found[1])[column], brute_force(ArrayReduction::norm, line),
                         Dtype::f64);
      EXPECT_EQ(whole_numbers(found[2])[column], brute_force(ArrayReduction::sum, line));
    }
    if (round == 0) after_one = plans.size();
  }
  EXPECT_EQ(plans.size(), after_one);
}

RANK_TEST(ArrayReductions, ResultsInOrdinaryMemory) {
  const Array rows = zeros(context, {9, 4}, Slab(0), Dtype::f32);
  for (const int axis : {0, 1}) {
    for (const ArrayReduction reduction : {ArrayReduction::sum, ArrayReduction::max}) {
      const Array ordinary = reduce(rows, reduction, axis, {.residency = Residency::ordinary});
      EXPECT_EQ(ordinary.operand().residency, Residency::ordinary);
      EXPECT_EQ(reduce(rows, reduction, axis).operand().residency, Residency::heap);
      EXPECT_EQ(whole_numbers(ordinary), std::vector<Number>(axis == 0 ? 4 : 9, 0.0));
    }
  }
  if (context.size() == 1) return;
  const bool first = context.rank() == 0;
  EXPECT_THROW((void)sum(rows, {1}, {.residency = first ? Residency::ordinary : Residency::heap}),
               DisagreementError);
}

RANK_TEST(ArrayReductions, ByNameAndType) {
  Array array = empty(context, {3, 7}, Slab(1), Dtype::i8);
  write_numbers(array, [](std::int64_t i) { return i % 5 == 0 ? -120.0 : 100.0; });
  EXPECT_EQ(sum<int>(array), 16 * 100 - 5 * 120);
  EXPECT_EQ(min<std::int8_t>(array), -120);
  EXPECT_EQ(max<double>(array), 100);
  EXPECT_DOUBLE_EQ(mean<double>(array), (16 * 100 - 5 * 120) / 21.0);
  EXPECT_DOUBLE_EQ(norm(array), std::sqrt(16 * 1e4 + 5 * 1.44e4));
  EXPECT_TRUE(any(array));
  EXPECT_TRUE(all(array));
  EXPECT_THROW((void)sum<std::int8_t>(array), ArgumentError);  // 1000
  EXPECT_EQ(sum(array, {0}).dtype(), Dtype::i64);
  EXPECT_EQ(any(array, {1}).dtype(), Dtype::boolean);
  EXPECT_EQ(sum(array, 0).shape(), Shape({7}));
  EXPECT_EQ(sum(array, 1).shape(), Shape({3}));
}

/// Rows whose squares overflow, underflow, become less exact, or are 0, next to each other.
RANK_TEST(ArrayReductions, NormsAreScaled) {
  const double scales[] = {1, 1e200, 1e-200, 1e-160, 0, 0x1p1023, 0x1p-1074};
  const std::int64_t rows = std::size(scales), columns = 9;
  for (const Dtype dtype : {Dtype::f64, Dtype::c128}) {
    // Rows of 1, ..., 9 times the scale; imaginary parts are half of the real ones, and negative.
    const double length = std::sqrt(285 * (dtype == Dtype::c128 ? 1.25 : 1.0)) / 16;
    for (const Distribution& rule : {Distribution(Slab(0)), Distribution(Slab(1)), Distribution(Replicated()),
                                     Distribution(BlockCyclic({1, context.size()}, {2, 2}))}) {
      Array array = empty(context, {rows, columns}, rule, dtype);
      write_numbers(array, [&](std::int64_t i) {
        const double number = static_cast<double>(i % columns + 1) / 16;
        const double scale = scales[i / columns];
        return scale == 0x1p-1074 ? 16 * 64 * number * scale : number * scale;
      });
      const std::vector<Number> found = whole_numbers(norm(array, {1}));
      for (std::size_t row = 0; row < found.size(); ++row) {
        const double scale = scales[row] == 0x1p-1074 ? 0x1p-1064 : scales[row];
        const double expected = length * scale;
        EXPECT_NEAR(found[row].real(), expected, 4e-16 * expected + 0x1p-1074) << rule.to_string() << row;
        const Array one = array.window({static_cast<std::int64_t>(row), 0}, {1, columns});
        EXPECT_NEAR(norm(one), expected, 4e-16 * expected + 0x1p-1074) << rule.to_string() << row;
      }
      EXPECT_NEAR(norm(array), length * 0x1p1023, 4e-16 * length * 0x1p1023) << rule.to_string();
    }
    Array array = empty(context, {columns, 2}, Slab(0), dtype);
    write_numbers(array, [](std::int64_t i) { return i == 3 ? std::nan("") : 1e200; });
    const std::vector<Number> found = whole_numbers(norm(array, {0}));
    EXPECT_TRUE(std::isnan(found[1].real()));
    EXPECT_NEAR(found[0].real(), std::sqrt(dtype == Dtype::c128 ? 11.25 : 9.0) * 1e200, 1e185);
    EXPECT_TRUE(std::isnan(norm(array)));
    write_numbers(array, [](std::int64_t i) { return i == 3 ? HUGE_VAL : 1e200; });
    EXPECT_EQ(norm(array), HUGE_VAL);
  }
}

/// In memory of others any byte but 0 is true.
RANK_TEST(ArrayReductions, BooleansOfAnyByte) {
  if (context.state()->device != nullptr) return;  // the memory is this rank's
  std::vector<std::uint8_t> bytes{2, 0, 255, 1};
  const View view{bytes.data(), Dtype::boolean, {4}, {1}};
  const Array truths = wrap(context, view, Slab(0), {4 * context.size()});
  const std::int64_t ranks = context.size();
  EXPECT_EQ(sum<std::int64_t>(truths), 3 * ranks);
  EXPECT_EQ(mean<double>(truths), 0.75);
  EXPECT_TRUE(max<bool>(truths));
  EXPECT_EQ(norm(truths), std::sqrt(3.0 * static_cast<double>(ranks)));
  EXPECT_EQ(dot<std::int64_t>(truths, truths), 3 * ranks);
  EXPECT_EQ(sum<int>(astype(truths, Dtype::u8)), 3 * ranks);
  const Array ones = astype(astype(truths, Dtype::i32), Dtype::boolean);
  EXPECT_TRUE(compare(truths, ones).equal);
  EXPECT_EQ(at<bool>(truths, {2}), true);
  EXPECT_EQ(to_string(truths.window({0}, {4})), "[ True False  True  True]");
}

RANK_TEST(ArrayReductions, OfNothing) {
  const Array nothing = zeros(context, {0, 3}, Slab(0), Dtype::f32);
  EXPECT_EQ(sum<float>(nothing), 0);
  EXPECT_EQ(product<float>(nothing), 1);
  EXPECT_EQ(norm(nothing), 0);
  EXPECT_FALSE(any(nothing));
  EXPECT_TRUE(all(nothing));
  EXPECT_ERROR(ArgumentError, min(nothing), "no elements");
  EXPECT_ERROR(ArgumentError, mean(nothing, {0}), "no elements");
  EXPECT_EQ(whole_numbers(sum(nothing, {0})), std::vector<Number>(3, 0.0));
  EXPECT_EQ(max(nothing, {1}).shape(), Shape({0}));
}

RANK_TEST(ArrayReductions, ANotANumberWins) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Dtype dtype : {Dtype::f16, Dtype::f32, Dtype::f64}) {
    Array array = empty(context, {37, 5}, Slab(0), dtype);
    write_numbers(array, [&](std::int64_t i) { return i == 101 ? nan : static_cast<double>(i % 9); });
    EXPECT_TRUE(std::isnan(min<double>(array)));
    EXPECT_TRUE(std::isnan(max<double>(array)));
    const std::vector<Number> least = whole_numbers(min(array, {0}));
    for (std::size_t i = 0; i < least.size(); ++i) EXPECT_EQ(std::isnan(least[i].real()), i == 101 % 5);
  }
}

RANK_TEST(ArrayReductions, TheSameBitsOnEveryRankAndInEveryRun) {
  for (const Distribution& distribution : three_dimensional({19, 23, 17}, context.size())) {
    Array array = empty(context, {19, 23, 17}, distribution, Dtype::f64);
    fill_random(array, 5);
    double numbers[3] = {sum<double>(array), norm(array), dot<double>(array, array)};
    const double again[3] = {sum<double>(array), norm(array), dot<double>(array, array)};
    EXPECT_TRUE(std::equal(numbers, numbers + 3, again));
    Array all =
        wrap(context, View::dense(numbers, Dtype::f64, {3}), Layout(Replicated{}, {3}, context.size()));
    const Array first = gather(all, 0);
    const Array back = redistribute(first, Replicated{});
    const auto of_first = whole_numbers(back);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(of_first[i].real(), numbers[i]);
  }
}

RANK_TEST(ArrayReductions, LittleIsLost) {
  const std::int64_t count = 300000;
  Array array = empty(context, {count}, Slab(0), Dtype::f32);
  fill(array, 0.1F);
  EXPECT_FLOAT_EQ(sum<float>(array),
                  static_cast<float>(static_cast<double>(0.1F) * static_cast<double>(count)));
  Array halves = empty(context, {count}, Slab(0), Dtype::f16);
  write_numbers(halves, [](std::int64_t) { return 1; });
  EXPECT_EQ(sum<float>(halves), static_cast<float>(count));  // beyond f16
}

RANK_TEST(ArrayReductions, InnerProducts) {
  for (const Dtype dtype : every_dtype) {
    SCOPED_TRACE(name(dtype));
    Array a = empty(context, reduced_shape, Slab(1), dtype);
    Wrapped b = make_array(context, a.layout(), dtype, static_cast<int>(dtype) % 5);
    write_numbers(a, [](std::int64_t i) { return known_value(i, 0) % 5; });
    write_numbers(b.array, [](std::int64_t i) { return known_value(i, 1) % 7; });
    const std::vector<Number> x = whole_numbers(a), y = whole_numbers(b.array);
    if (a.local().space == b.array.local().space) {
      const Number plain = std::inner_product(x.begin(), x.end(), y.begin(), Number());
      const Number conjugated = std::inner_product(x.begin(), x.end(), y.begin(), Number(), std::plus<>(),
                                                   [](Number u, Number v) { return std::conj(u) * v; });
      expect_near_number(as_number(dot(a, b.array)), plain, result_dtype(ArrayReduction::sum, dtype));
      expect_near_number(as_number(vdot(a, b.array)), conjugated, result_dtype(ArrayReduction::sum, dtype));
    } else {
      EXPECT_THROW((void)dot(a, b.array), UnsupportedError);
    }
  }
}

RANK_TEST(ArrayReductions, ErrorsSayWhatHelps) {
  const Array rows = zeros(context, {4, 4}, Slab(0), Dtype::f32);
  if (context.size() > 1) {
    const Array columns = zeros(context, {4, 4}, Slab(1), Dtype::f32);
    EXPECT_ERROR(ArgumentError, dot(rows, columns), "slab:0", "slab:1", "redistribute");
    const std::string mesh = "mesh:r=" + std::to_string(context.size()) + ":-,-;partial=sum:r";
    const Array partial = zeros(context, {4, 4}, Distribution::parse(mesh), Dtype::f32);
    EXPECT_ERROR(ArgumentError, sum(partial), "redistribute");
    EXPECT_ERROR(ArgumentError, sum(partial, {0}), "redistribute");
    EXPECT_ERROR(ArgumentError, reduced_layout(partial.layout(), {0}), "redistribute");
    EXPECT_ERROR(ArgumentError, reduced_layout(partial.layout(), {2}), "no axis 2");
    EXPECT_THROW((void)sum(rows, {0},
                           {.distribution = Distribution::parse("mesh:r=" + std::to_string(context.size()) +
                                                                ":-;partial=sum:r")}),
                 ArgumentError);
  }
  const Array doubles = zeros(context, {4, 4}, Slab(0), Dtype::f64);
  EXPECT_ERROR(ArgumentError, dot(rows, doubles), "astype");
  EXPECT_THROW((void)sum(rows, {}), ArgumentError);
  EXPECT_THROW((void)sum(rows, {2}), ArgumentError);
  EXPECT_THROW((void)sum(rows, {0, 0}), ArgumentError);
  EXPECT_THROW((void)sum(rows, {0}, {.root = context.size()}), ArgumentError);
  EXPECT_THROW((void)sum(rows, {0}, {.distribution = Replicated{}, .root = 0}), ArgumentError);
  EXPECT_THROW((void)sum(Array()), ArgumentError);
  EXPECT_EQ(sum<double>(rows), 0);  // the context is as before
}

// In a separate context: if the plans of tests before take all places, making room for one that is
// refused has the ranks forget all.
RANK_TEST_WITH(ArrayReductions, RanksThatDifferAreToldSo, ContextOptions()) {
  if (ranks().count == 1) GTEST_SKIP() << "needs two ranks";
  const Array rows = zeros(context, {4, 4}, Slab(0), Dtype::f32);
  const auto sum_along_another = [&] { (void)sum(rows, {context.rank() == 0 ? 0 : 1}); };
  EXPECT_THROW(sum_along_another(), DisagreementError);
  (void)sum(rows, {0});  // now there is a plan of one, and then of both
  EXPECT_THROW(sum_along_another(), DisagreementError);
  (void)sum(rows, {1});
  const std::string text = caught<DisagreementError>(sum_along_another);
  EXPECT_TRUE(contains(text, "purpose: sum 4x4")) << text;
  const Array others = zeros(context, {3, 11}, Slab(0), Dtype::f32);  // of which there is no plan yet
  EXPECT_THROW((void)(context.rank() == 0 ? sum<double>(others) : norm(others)), DisagreementError);
  EXPECT_EQ(sum<double>(rows), 0);
}

}  // namespace
}  // namespace partita::testing
