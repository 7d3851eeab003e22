// Elementwise functions, comparisons and selection against the standard library.
#include <cmath>
#include <iterator>
#include <limits>
#include <partita/functions.hpp>
#include <partita/places.hpp>
#include <partita/transform.hpp>

#include "support/models/number_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// All of them.
template <class Function>
std::vector<Function> every() {
  std::vector<Function> functions;
  for (std::size_t i = 0; i < std::size(OptionWords<Function>::words); ++i)
    functions.push_back(static_cast<Function>(i));
  return functions;
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_whole(Dtype dtype) {
  return is_integer(dtype) || dtype == Dtype::boolean;
}
bool is_series(Unary function) {
  return function >= Unary::sqrt && function <= Unary::tanh;
}

bool is_defined(Unary function, Dtype dtype) {
  if (dtype == Dtype::boolean || is_float8(dtype)) return false;
  if (is_series(function)) return !is_whole(dtype);
  if (function >= Unary::tan) return !is_whole(dtype) && !is_complex(dtype);
  return !is_complex(dtype) || function == Unary::negative || function == Unary::abs;
}
bool is_defined(Binary function, Dtype dtype) {
  if (is_float8(dtype)) return false;
  if (function == Binary::equal || function == Binary::not_equal) return true;
  if (function == Binary::pow) return !is_whole(dtype);
  if (function == Binary::hypot || function == Binary::atan2) return !is_whole(dtype) && !is_complex(dtype);
  return dtype != Dtype::boolean && !is_complex(dtype);
}

Number expected(Unary function, Number x) {
  using OfReal = double (*)(double);
  using OfComplex = Number (*)(const Number&);
  constexpr OfComplex series[] = {std::sqrt, std::exp, std::log, std::sin, std::cos, std::tanh};
  constexpr OfReal others[] = {std::floor, std::ceil,  std::nearbyint, std::tan,  std::asin,
                               std::acos,  std::atan,  std::sinh,      std::cosh, std::log2,
                               std::log10, std::log1p, std::expm1};
  const auto number = static_cast<std::size_t>(function);
  if (function == Unary::negative) return -x;
  if (function == Unary::abs) return std::abs(x);
  if (is_series(function)) return series[number - static_cast<std::size_t>(Unary::sqrt)](x);
  return others[number - static_cast<std::size_t>(Unary::floor)](x.real());
}

Number expected(Binary function, Number x, Number y) {
  const double a = x.real(), b = y.real();
  const Number results[] = {
      std::min(a, b),    std::max(a, b), std::pow(x, y),   x == y,           x != y,
      a<b, a <= b, a> b, a >= b,         std::hypot(a, b), std::atan2(a, b), a - b * std::floor(a / b),
      std::floor(a / b)};
  return results[static_cast<std::size_t>(function)];
}

double function_tolerance(Dtype dtype) {
  if (dtype == Dtype::f16) return 2e-3;
  if (dtype == Dtype::bf16) return 2e-2;
  return dtype == Dtype::f32 || dtype == Dtype::c64 ? 1e-5 : 1e-13;
}

void expect_near(const std::vector<Number>& found, const std::vector<Number>& wanted, double relative) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (wanted[i] != wanted[i]) {
      EXPECT_TRUE(std::isnan(found[i].real())) << i;
    } else {
      EXPECT_LE(std::abs(found[i] - wanted[i]), relative * std::max(1.0, std::abs(wanted[i]))) << i;
    }
  }
}

/// Calls `check(a, b, to_unary, to_mask)` for every dtype, in layouts and memories in turn.
template <class Check>
void for_each_case(Context& context, const Check& check) {
  const Shape shape{5, 4, 7};
  int memory = 0;
  for (const Distribution& distribution : three_dimensional(shape, context.size())) {
    const Layout layout(distribution, shape, context.size());
    for (const Dtype dtype : every_dtype) {
      SCOPED_TRACE(distribution.to_string() + " " + std::string(name(dtype)));
      const bool on_device = context.state()->default_space() == MemorySpace::device;
      const auto make = [&] {
        const int kind = memory++ % 5;
        return make_array(context, layout, dtype, kind == 3 && on_device ? 4 : kind);
      };
      Wrapped a = make(), b = make();
      write_numbers(a.array, [](std::int64_t i) { return static_cast<double>(1 + (i * 3 + 2) % 5); });
      write_numbers(b.array, [](std::int64_t i) { return static_cast<double>(1 + i % 3); });
      check(a.array, b.array);
    }
  }
}

bool is_refused_on_devices(const Array& array) {
  return array.local().space == MemorySpace::device && is_complex(array.dtype());
}

RANK_TEST(Functions, OfOneOperandInEveryDtypeLayoutAndMemory) {
  for_each_case(context, [&](Array& a, Array& /*b*/) {
    for (const Unary function : every<Unary>()) {
      SCOPED_TRACE(name(function));
      if (!is_defined(function, a.dtype())) {
        EXPECT_THROW((void)apply(function, a), ArgumentError);
        continue;
      }
      if (is_series(function) && is_refused_on_devices(a)) {
        EXPECT_THROW((void)apply(function, a), UnsupportedError);
        continue;
      }
      if (function == Unary::negative && is_integer(a.dtype()) && !is_signed(a.dtype())) continue;
      const Array result = apply(function, a);
      EXPECT_EQ(is_complex(result.dtype()), is_complex(a.dtype()) && function != Unary::abs);
      std::vector<Number> wanted = whole_numbers(a);
      for (Number& number : wanted) number = expected(function, number);
      expect_near(whole_numbers(result), wanted, function_tolerance(a.dtype()));
    }
  });
}

RANK_TEST(Functions, OfTwoOperandsInEveryDtypeLayoutAndMemory) {
  for_each_case(context, [&](Array& a, Array& b) {
    const std::vector<Number> x = whole_numbers(a), y = whole_numbers(b);
    for (const Binary function : every<Binary>()) {
      SCOPED_TRACE(name(function));
      if (!is_defined(function, a.dtype())) {
        EXPECT_THROW((void)apply(function, a, b), ArgumentError);
        continue;
      }
      if (function == Binary::pow && is_refused_on_devices(a)) {
        EXPECT_THROW((void)apply(function, a, b), UnsupportedError);
        continue;
      }
      Array result = apply(function, a, b);
      const bool is_comparison = function >= Binary::equal && function <= Binary::greater_equal;
      EXPECT_EQ(result.dtype(), is_comparison ? Dtype::boolean : a.dtype());
      std::vector<Number> wanted(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) wanted[i] = expected(function, x[i], y[i]);
      expect_near(whole_numbers(result), wanted, function_tolerance(a.dtype()));
      fill(result, static_cast<const void*>(std::array<std::byte, 16>{}.data()));
      apply(function, a, b, result);
      expect_near(whole_numbers(result), wanted, function_tolerance(a.dtype()));
    }
  });
}

RANK_TEST(Functions, WhereInEveryDtypeLayoutAndMemory) {
  for_each_case(context, [&](Array& a, Array& b) {
    const std::vector<Number> x = whole_numbers(a), y = whole_numbers(b);
    std::vector<Number> wanted(x.size());
    const Array differ = not_equal(a, b);
    for (std::size_t i = 0; i < x.size(); ++i) wanted[i] = x[i] != y[i] ? x[i] : y[i];
    expect_near(whole_numbers(where(differ, a, b)), wanted, 0);
    for (std::size_t i = 0; i < x.size(); ++i) wanted[i] = x[i] != y[i] ? x[i] : Number(1);
    if (a.dtype() != Dtype::boolean) expect_near(whole_numbers(where(differ, a, 1)), wanted, 0);
    Array here = empty_beside(a, a.layout(), a.dtype());
    where(differ, a, b, here);
    EXPECT_TRUE(compare(here, where(differ, a, b)).equal);
    where(differ, a, here, here);
    EXPECT_TRUE(compare(here, where(differ, a, b)).equal);
    EXPECT_THROW(where(differ, here, b, here), ArgumentError);
  });
  const Array rows = arange(context, 6, Slab(0));
  const Array chosen = where(rows > 3, 1.5, 0);
  EXPECT_EQ(chosen.dtype(), Dtype::f64);
  EXPECT_EQ(sum<double>(chosen), 3);
  const Array row = arange(context, 3, Replicated());
  const Array table = where(full(context, {4, 3}, Slab(0), true), row, -1);
  EXPECT_EQ(table.shape(), Shape({4, 3}));
  EXPECT_EQ(sum<int>(table), 12);
  EXPECT_ERROR_ON_ALL(ArgumentError, where(rows, 1, 0), "the condition is i32, not bool");
  EXPECT_ERROR_ON_ALL(ArgumentError, where(rows > 3, 1, 0.5), "where: 0.5 (f64) is not representable in i32");
  const Array other = redistribute(rows, BlockCyclic({context.size()}, {1}));
  if (context.size() > 1) {
    EXPECT_ERROR_ON_ALL(ArgumentError, where(rows > 3, other, 0),
                        "redistribute the first operand to the layout of the condition operand");
  }
}

RANK_TEST(Functions, ComparisonsWithNumbersAndNan) {
  Array a = linspace(context, 0, 1, 11, Slab(0));
  set_at(a, {3}, nan);
  EXPECT_EQ(sum(a > 0.45), 6);
  EXPECT_EQ(sum(a >= 0.5), 6);
  EXPECT_EQ(sum(0.5 < a), 5);
  EXPECT_EQ(sum(a < 0.5), 4);
  EXPECT_EQ(sum(a <= 0.5), 5);
  EXPECT_EQ(sum(equal(a, a)), 10);
  EXPECT_EQ(sum(not_equal(a, a)), 1);
  EXPECT_TRUE(std::isnan(max<double>(clip(a, 0.2, 0.8))));
  set_at(a, {3}, 0.3);
  const Array clipped = clip(a, 0.2, 0.8);
  EXPECT_EQ(min<double>(clipped), 0.2);
  EXPECT_EQ(max<double>(clipped), 0.8);
  EXPECT_EQ(at<double>(clipped, {3}), 0.3);
  EXPECT_ERROR_ON_ALL(ArgumentError, arange(context, 3, Slab(0)) > 0.5,
                      "0.5 (f64) is not representable in i32");
  Array mask = empty_beside(a, a.layout(), Dtype::boolean);
  apply(Binary::less, 0.5, a, mask);
  EXPECT_EQ(sum(mask), 5);
  Array wrong = zeros_like(a);
  EXPECT_THROW(apply(Binary::less, a, 1.0, wrong), ArgumentError);
}

RANK_TEST(Functions, PlacesOfExtremaAreTheFirstOnes) {
  for (const Distribution& distribution :
       {Distribution(Slab(0)), Distribution(Slab(1)), Distribution(Replicated())}) {
    Array a = zeros(context, {7, 5}, distribution);
    set_at(a, {2, 3}, 4.0);
    set_at(a, {2, 4}, 4.0);
    set_at(a, {5, 0}, 4.0);
    set_at(a, {6, 1}, -1.0);
    EXPECT_EQ(argmax(a), Index({2, 3}));
    EXPECT_EQ(argmin(a), Index({6, 1}));
    for (const Dtype dtype : {Dtype::i8, Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::i64}) {
      EXPECT_EQ(argmax(astype(a, dtype)), Index({2, 3}));
      EXPECT_EQ(argmin(astype(a, dtype)), Index({6, 1}));
    }
    set_at(a, {4, 1}, nan);
    EXPECT_EQ(argmax(a), Index({4, 1}));
    EXPECT_EQ(argmax(astype(a, Dtype::i16)), Index({2, 3}));
  }
  EXPECT_THROW((void)argmax(empty(context, {0, 3}, Slab(0))), ArgumentError);
}

RANK_TEST(Functions, PlacesOfExtremaAlongAxes) {
  const Shape shape{7, 5, 3};
  const auto value = [](const Index& index) {
    return index == Index{4, 1, 2} ? nan : static_cast<double>((index[0] * 5 + index[1] * 3 + index[2]) % 4);
  };
  const auto is_first = [&](Index index, int axis, std::int64_t place, bool smallest) {
    index[axis] = place;
    const double best = value(index);
    for (std::int64_t i = 0; i < shape[axis]; ++i) {
      index[axis] = i;
      const double other = value(index);
      const bool beats = smallest ? other < best : other > best;
      if (std::isnan(best) ? std::isnan(other) && i < place
                           : std::isnan(other) || beats || (other == best && i < place))
        return false;
    }
    return true;
  };
  for (const Distribution& distribution :
       {Distribution(Slab(0)), Distribution(Slab(1)), Distribution(Slab(2)), Distribution(Replicated())}) {
    Array a = empty(context, shape, distribution);
    fill(a, value);
    for (int axis = 0; axis < 3; ++axis) {
      for (const bool smallest : {false, true}) {
        const ReduceAxesOptions kept{.keep_dimensions = true, .distribution = Replicated{}};
        const Array places = smallest ? argmin(a, axis, kept) : argmax(a, axis, kept);
        ASSERT_EQ(places.dtype(), Dtype::i64);
        for_each_local<std::int64_t>(clone(places, {.space = MemorySpace::host}), [&](const Index& index,
                                                                                      std::int64_t place) {
          EXPECT_TRUE(is_first(index, axis, place, smallest))
              << distribution.to_string() << ", axis " << axis << ", " << to_string(index) << ": " << place;
        });
        const Array left = smallest ? argmin(a, axis) : argmax(a, axis);
        EXPECT_EQ(sum(left), sum(places));
        EXPECT_EQ(left.shape().size(), 2);
      }
    }
    EXPECT_THROW((void)argmax(a, 3), ArgumentError);
  }
  EXPECT_THROW((void)argmin(zeros(context, {4, 2}, Slab(0), Dtype::c64), 0), ArgumentError);
}

RANK_TEST(Functions, AllcloseInAnyDistributionAndDtype) {
  const Array a = linspace(context, 0, 100, 23, Slab(0));
  EXPECT_TRUE(allclose(a, redistribute(a * (1 + 1e-7), Replicated())));
  EXPECT_FALSE(allclose(a, a * 1.001));
  EXPECT_TRUE(allclose(a, a * 1.001, 1e-2));
  EXPECT_TRUE(allclose(a, astype(a, Dtype::f32)));
  EXPECT_TRUE(allclose(astype(a, Dtype::c64), a));
  Array b = a.clone();
  set_at(b, {22}, infinity);
  EXPECT_FALSE(allclose(a, b));
  EXPECT_FALSE(allclose(b, a));
  EXPECT_TRUE(allclose(b, b));
  set_at(b, {3}, nan);
  EXPECT_FALSE(allclose(b, b));
  const Array other = zeros(context, {22}, Slab(0));
  EXPECT_THROW((void)allclose(a, other), ArgumentError);
  EXPECT_ERROR_ON_ALL(ArgumentError, allclose(a, context.rank() == context.size() - 1 ? other : a),
                      "allclose: the shapes differ");
  EXPECT_TRUE(allclose(a, a));
}

RANK_TEST(Functions, PartsOfComplexNumbersAreViews) {
  for (const Dtype dtype : {Dtype::c64, Dtype::c128}) {
    Array z = empty(context, {6, 5}, Slab(0), dtype, {.order = Order::column_major});
    write_numbers(z, [](std::int64_t i) { return static_cast<double>(i); });
    std::vector<Number> wanted = whole_numbers(z);
    std::vector<Number> reals = wanted, imaginaries = wanted, conjugates = wanted;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      reals[i] = wanted[i].real();
      imaginaries[i] = wanted[i].imag();
      conjugates[i] = std::conj(wanted[i]);
    }
    expect_near(whole_numbers(real(z)), reals, 0);
    expect_near(whole_numbers(imag(z)), imaginaries, 0);
    expect_near(whole_numbers(conj(z)), conjugates, 0);
    expect_near(whole_numbers(real(z.window({1, 1}, {3, 2})).transposed()),
                {reals[6], reals[11], reals[16], reals[7], reals[12], reals[17]}, 0);
    Array part = imag(z);
    fill(part, 2);
    EXPECT_EQ(sum<Number>(z), Number(435, 60));
  }
  const Array x = arange(context, 4.0, Slab(0));
  EXPECT_EQ(real(x).state(), x.state());
  EXPECT_TRUE(compare(conj(x), x).equal);
  EXPECT_THROW((void)imag(x), ArgumentError);
}

RANK_TEST(Functions, RemaindersOfAnySign) {
  Array a = arange(context, -7.0, 8.0, 1.0, Slab(0)), b = full(context, {15}, Slab(0), -3.0);
  for (const Dtype dtype : {Dtype::f32, Dtype::i8, Dtype::i64}) {
    const Array x = astype(a, dtype), y = astype(b, dtype);
    const Array quotient = apply(Binary::floor_divide, x, y), rest = apply(Binary::remainder, x, y);
    EXPECT_TRUE(compare(quotient * y + rest, x).equal);
    EXPECT_EQ(max<double>(rest), 0);
    EXPECT_EQ(min<double>(rest), -2);
  }
  const Array ones = full(context, {4}, Slab(0), 7), none = zeros_like(ones);
  EXPECT_EQ(sum(apply(Binary::floor_divide, ones, none)), 0);
  EXPECT_EQ(sum(apply(Binary::remainder, ones, none)), 0);
  EXPECT_EQ(sum(apply(Binary::remainder, ones, -1)), 0);
}

RANK_TEST(Functions, ResultsThatARankMakesForItself) {
  const Array a = linspace(context, -3, 3, 13, Slab(0));
  Array whole = empty_beside(a, a.layout(), Dtype::i32);
  convert(a, whole);
  EXPECT_TRUE(compare(whole, astype(a, Dtype::i32)).equal);
  Array shorter = empty(context, {12}, Slab(0), Dtype::i32);
  EXPECT_THROW(convert(a, shorter), ArgumentError);
}

/// Of this rank, as numbers in row-major order.
std::vector<double> local_elements(const Array& array) {
  const Array numbers = clone(astype(array, Dtype::f64), {.space = MemorySpace::host});
  const auto* const first = static_cast<const double*>(numbers.local().data);
  return {first, first + numbers.local_size()};
}

RANK_TEST(Functions, SortsTheElementsOfEachRank) {
  Array a = empty(context, {9, 4}, Slab(0));
  fill(a, [](const Index& index) {
    return index[0] == 5 && index[1] == 2 ? nan : static_cast<double>((index[0] * 7 + index[1] * 3) % 5) - 2;
  });
  for (const Dtype dtype : {Dtype::u8, Dtype::i16, Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64}) {
    const Array x = astype(a, dtype);
    Array sorted = empty_beside(x, x.layout(), dtype), order = empty_beside(x, x.layout(), Dtype::i64);
    for (const bool descending : {false, true}) {
      sort_part(x, sorted, order, descending);
      const std::vector<double> given = local_elements(x), found = local_elements(sorted);
      const std::vector<double> places = local_elements(order);
      for (std::size_t i = 0; i < given.size(); ++i) {
        const double here = given[static_cast<std::size_t>(places[i])];
        EXPECT_TRUE(found[i] == here || (std::isnan(found[i]) && std::isnan(here)));
        if (i == 0) continue;
        const double before = found[descending ? i : i - 1], after = found[descending ? i - 1 : i];
        EXPECT_TRUE(before <= after || std::isnan(after));
        EXPECT_TRUE(before != after || places[i - 1] < places[i]);
      }
      Array alone = empty_beside(x, x.layout(), dtype), places_alone = zeros_like(order), unwanted;
      sort_part(x, unwanted, places_alone, descending);
      EXPECT_EQ(local_elements(places_alone), places);
      sort_part(x, alone, descending);
      const std::vector<double> by_itself = local_elements(alone);
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(by_itself[i] == found[i] || (std::isnan(by_itself[i]) && std::isnan(found[i])));
    }
  }
  Array z = zeros(context, {3}, Slab(0), Dtype::c64), into = zeros_like(z);
  EXPECT_THROW(sort_part(z, into), UnsupportedError);
  EXPECT_THROW(sort_part(a, a), ArgumentError);
}

double cube(double x) {
  return x * x * x;
}

RANK_TEST(Transform, CallsFunctionsOfYourOwn) {
  Array a = empty(context, {7, 4, 3}, Slab(1));
  Array b = empty(context, a.layout(), Dtype::f32, {.order = Order::column_major});
  write_numbers(a, [](std::int64_t i) { return static_cast<double>(i); });
  write_numbers(b, [](std::int64_t i) { return static_cast<double>(2 * i); });
  Array c = empty(context, a.layout(), Dtype::i32);
  transform(
      c, [](double x, float y) { return static_cast<int>(x) + static_cast<int>(y); }, a, b);
  std::vector<int> wanted(84);
  for (int i = 0; i < 84; ++i) wanted[static_cast<std::size_t>(i)] = 3 * i;
  EXPECT_EQ(to_vector<int>(c), wanted);
  transform(c, [](const int& x) { return -x; });
  for (int& value : wanted) value = -value;
  EXPECT_EQ(to_vector<int>(c), wanted);
  transform<int>(c, [](auto x) { return 2 * x; });
  EXPECT_EQ(sum(c), -2 * 3 * 83 * 42);
  transform(a, cube);
  EXPECT_EQ(at<double>(a, {6, 3, 2}), 83.0 * 83 * 83);
  for_each(a, [](double& x) { x = 1; });
  EXPECT_EQ(sum(a), 84);
  double total = 0;
  for_each(a, [&](double x) { total += x; });
  EXPECT_EQ(all_reduce(context, total), 84);
  transform(
      a, [](double x, double y) { return x - y; }, a, a);
  EXPECT_EQ(norm(a), 0);
  EXPECT_THROW(transform(a, [](float x) { return x; }), ArgumentError);
  EXPECT_THROW(transform(
                   b, [](double x) { return x; }, a),
               ArgumentError);
  if (context.size() > 1) {
    const Array rows = redistribute(a, Slab(0));
    EXPECT_THROW(transform(
                     a, [](double x) { return x; }, rows),
                 ArgumentError);
  }
  Array part = a.window({1, 0, 0}, {6, 4, 3}), earlier = a.window({0, 0, 0}, {6, 4, 3});
  if (part.local_size() > 0) {
    EXPECT_THROW(transform(
                     part, [](double x) { return x; }, earlier),
                 ArgumentError);
  }
}

}  // namespace
}  // namespace partita::testing
