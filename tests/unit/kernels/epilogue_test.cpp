// The last pass over a result and sums along dimensions, against formulas in wider numbers.
#include "kernels/host/epilogue.hpp"

#include "execute/works/bound_work.hpp"
#include "support/models/local_array.hpp"
#include "support/models/random_layouts.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

long double gelu(long double x) {
  const long double y = std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x);
  return x / 2 * (1 + std::tanh(y));
}

long double gelu_derivative(long double x) {
  const long double root = std::sqrt(2 / std::acos(-1.0L));
  const long double t = std::tanh(root * (x + 0.044715L * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * 0.044715L * x * x);
}

Wide activated(Activation activation, Wide value, Wide auxiliary) {
  switch (activation) {
    case Activation::identity:
      return value;
    case Activation::relu:
      return std::max(0.0L, value.real());
    case Activation::gelu:
      return gelu(value.real());
    case Activation::drelu:
      return auxiliary.real() > 0 ? value : Wide(0);
    case Activation::dgelu:
      return value * gelu_derivative(auxiliary.real());
  }
  return 0;
}

template <class T>
void expect_gelu_close(long double tolerance) {
  for (int i = -4000; i <= 4000; ++i) {
    const T x = static_cast<T>(i) / 317;
    T value = x;
    T slope = 1;
    kernels::activate(Activation::gelu, &value, static_cast<const T*>(nullptr), 1);
    kernels::activate(Activation::dgelu, &slope, &x, 1);
    const auto wide = static_cast<long double>(value);
    EXPECT_LE(std::abs(wide - gelu(static_cast<long double>(x))),
              tolerance * std::max(1.0L, std::abs(static_cast<long double>(x))))
        << x;
    EXPECT_LE(std::abs(static_cast<long double>(slope) - gelu_derivative(static_cast<long double>(x))),
              8 * tolerance)
        << x;
  }
}

TEST(Activations, AreAccurate) {
  expect_gelu_close<float>(3e-7L);
  expect_gelu_close<double>(5e-16L);
}

TEST(Activations, NaNPassesAndInfinityEndsWhereItShould) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Activation activation : {Activation::relu, Activation::gelu}) {
    double values[] = {nan, inf, -inf, 1e30, -1e30, 0};
    kernels::activate(activation, values, static_cast<const double*>(nullptr), 6);
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(values[1], inf);
    EXPECT_NEAR(values[2], 0, 1e-300);
    EXPECT_EQ(values[3], 1e30);
    EXPECT_NEAR(values[4], 0, 1e-300);
    EXPECT_EQ(values[5], 0);
  }
  const double at[] = {nan, inf, -inf, 1e30};
  double slopes[] = {1, 1, 1, 1};
  kernels::activate(Activation::dgelu, slopes, at, 4);
  EXPECT_TRUE(std::isnan(slopes[0]));
  EXPECT_EQ(slopes[1], 1);
  EXPECT_NEAR(slopes[2], 0, 1e-300);
  EXPECT_EQ(slopes[3], 1);
}

class EpilogueCase {
 public:
  explicit EpilogueCase(std::uint64_t seed) : random_(seed) {}

  void run() {
    Shape shape = random_.shape(random_.maybe(0.3) ? 1 : 0, 3);
    shape.push_back(random_.number(1, 40));
    shape.push_back(random_.maybe(0.1) ? 1100 : random_.number(1, 40));
    const std::array<Dtype, 4> computed{Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};
    computed_ = computed[static_cast<std::size_t>(random_.number(0, 3))];
    add_arrays(shape);
    choose_work();
    choose_scales();
    long double next = 0;
    for (Local& local : locals_) {
      each_index(local.owned, [&](const Index& index) {
        next += 0.37L;
        local.set(index, {std::remainder(next, 4.0L), std::remainder(next * 1.7L, 3.0L)});
      });
    }
    before_ = locals_;
    parameters_.beta = random_.maybe(0.3) ? 0 : std::complex<double>(0.5, 0.25);
    parameters_.scale = random_.maybe(0.5) ? 1 : 1.25;
    execution::bind_work(work_, {plan_, strides_})
        ->run(
            [&](const Place& place) { return locals_[static_cast<std::size_t>(place.buffer)].memory.data(); },
            parameters_);
    compare();
  }

 private:
  bool real() const { return !is_complex(computed_); }
  Dtype any_dtype() {
    if (!real()) return random_.maybe() ? Dtype::c64 : Dtype::c128;
    const std::array<Dtype, 6> reals{Dtype::f16, Dtype::bf16,   Dtype::f32,
                                     Dtype::f64, Dtype::f8e4m3, Dtype::f8e5m2};
    return reals[static_cast<std::size_t>(random_.number(0, 5))];
  }
  Local add(const char* name, const Layout& layout, Dtype dtype) {
    return add_operand(plan_, strides_, name, layout, dtype, random_.number(0, 2));
  }

  void add_arrays(const Shape& shape) {
    const int rows = shape.size() - 2;
    work_.bias_along_rows = random_.maybe();
    work_.gradient_along_rows = random_.maybe();
    const auto line = [&](bool along_rows) {
      return Layout(Replicated(), Shape{shape[along_rows ? rows : rows + 1]}, 2);
    };
    locals_ = {add("from", random_.layout(shape, 2), computed_),
               add("to", random_.layout(shape, 2), any_dtype()),
               add("c", random_.layout(shape, 2), any_dtype()),
               add("auxiliary", random_.layout(shape, 2), any_dtype()),
               add("bias", line(work_.bias_along_rows), any_dtype()),
               add("gradient", line(work_.gradient_along_rows), real() ? Dtype::f64 : Dtype::c128),
               add("scale a", random_.maybe() ? scalar() : line(true), Dtype::f32),
               add("scale b", random_.maybe() ? scalar() : line(false), Dtype::f32),
               add("scale d", scalar(), Dtype::f32),
               add("amax", scalar(), Dtype::f32)};
  }
  static Layout scalar() { return Layout(Replicated(), Shape{}, 2); }

  void choose_work() {
    work_.activation = real() ? static_cast<Activation>(random_.number(0, 4)) : Activation::identity;
    work_.has_c = random_.maybe();
    work_.has_bias = random_.maybe();
    work_.has_auxiliary = random_.maybe() || work_.activation >= Activation::drelu;
    work_.has_gradient = random_.maybe();
    Region common = locals_[0].owned;
    for (std::size_t x = 1; x < 4; ++x) common = intersect(common, locals_[x].owned);
    Part* const parts[] = {&work_.from, &work_.to, &work_.c, &work_.auxiliary};
    for (int x = 0; x < 4; ++x) *parts[x] = {common, {x, 0, 0, {}}};
    work_.bias = {{{set_of(common, work_.bias_along_rows)}}, {4, 0, 0, {}}};
    work_.gradient = {{{set_of(common, work_.gradient_along_rows)}}, {5, 0, 0, {}}};
  }

  void choose_scales() {
    if (computed_ != Dtype::f32) return;
    work_.has_scale_a = random_.maybe();
    work_.has_scale_b = random_.maybe();
    work_.has_scale_d = random_.maybe();
    work_.has_amax = random_.maybe();
    const auto part = [&](int buffer, bool rows) {
      const bool line = !locals_[static_cast<std::size_t>(buffer)].owned.sets.empty();
      return Part{line ? Region{{set_of(work_.from.region, rows)}} : Region(), {buffer, 0, 0, {}}};
    };
    work_.scale_a = part(6, true);
    work_.scale_b = part(7, false);
    work_.scale_d = part(8, true);
    work_.amax = part(9, true);
  }

  static IndexSet set_of(const Region& region, bool rows) {
    return region.sets[region.sets.size() - (rows ? 2 : 1)];
  }
  static Index line_of(const Index& index, bool rows) { return {index[index.size() - (rows ? 2 : 1)]}; }

  Wide scale(bool has, std::size_t which, const Index& index, bool rows) const {
    if (!has) return 1;
    return before_[which].get(before_[which].owned.sets.empty() ? Index{} : line_of(index, rows));
  }

  Wide sum_before(const Index& index) const {
    const bool as_real = real();
    Wide value = before_[0].get(index) * static_cast<long double>(parameters_.scale);
    value *= scale(work_.has_scale_a, 6, index, true) * scale(work_.has_scale_b, 7, index, false);
    const Wide beta = as_real ? widened(parameters_.beta.real()) : widened(parameters_.beta);
    if (work_.has_c) value += beta * before_[2].get(index);
    if (work_.has_bias) value += before_[4].get(line_of(index, work_.bias_along_rows));
    return value;
  }

  void compare() const {
    long wrong = 0;
    std::map<std::int64_t, Wide> sums;
    long double largest = before_[9].get({}).real();
    each_index(work_.from.region, [&](const Index& index) {
      const Wide value = sum_before(index);
      const Wide result = activated(work_.activation, value, before_[3].get(index));
      wrong += !close(locals_[1], index, result * scale(work_.has_scale_d, 8, {}, true));
      largest = std::max(largest, std::abs(result));
      const bool writes = work_.has_auxiliary && work_.activation < Activation::drelu;
      wrong += !close(locals_[3], index, writes ? value : before_[3].get(index));
      sums[line_of(index, work_.gradient_along_rows)[0]] += result;
    });
    for (const auto& [i, sum] : sums) {
      const Wide added = locals_[5].get({i}) - before_[5].get({i});
      wrong += std::abs(added - (work_.has_gradient ? sum : Wide(0))) > 1e-3L;
    }
    if (!work_.has_amax) largest = before_[9].get({}).real();
    EXPECT_NEAR(static_cast<double>(locals_[9].get({}).real()), static_cast<double>(largest), 1e-4);
    EXPECT_EQ(wrong, 0) << name(computed_) << " into " << plan_.buffers[1].operand->to_string();
  }

  static bool close(const Local& local, const Index& index, Wide expected) {
    const long double tolerance = local.dtype == Dtype::f8e5m2   ? 0x1.1p-3L
                                  : local.dtype == Dtype::f8e4m3 ? 0x1.1p-4L
                                  : local.dtype == Dtype::bf16   ? 6e-3L
                                  : local.dtype == Dtype::f16    ? 1e-3L
                                                                 : 3e-6L;
    return std::abs(local.get(index) - expected) <= tolerance * std::max(1.0L, std::abs(expected));
  }

  RandomLayouts random_;
  Dtype computed_ = Dtype::f64;
  Plan plan_;
  std::vector<Strides> strides_;
  std::vector<Local> locals_, before_;
  ApplyEpilogue work_;
  Parameters parameters_;
};

TEST(EpilogueWork, RandomPartsOfEverything) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    EpilogueCase(seed).run();
    if (HasFailure()) return;
  }
}

TEST(SumAlongWork, AddsUpAllOtherDimensions) {
  RandomLayouts random(7);
  for (int round = 0; round < 100; ++round) {
    const int dimensions = random.number(1, 3);
    const Shape shape = random.shape(dimensions, 20);
    Plan plan;
    std::vector<Strides> strides;
    Local from =
        add_operand(plan, strides, "from", random.layout(shape, 2), Dtype::bf16, random.number(0, 2));
    SumAlong work;
    work.axis = random.number(0, dimensions - 1);
    const Layout line(Replicated(), Shape{shape[work.axis]}, 2);
    Local to = add_operand(plan, strides, "to", line, Dtype::f32, 0);
    if (from.owned.empty()) continue;
    work.from = {from.owned, {0, 0, 0, {}}};
    work.to = {{{from.owned.sets[static_cast<std::size_t>(work.axis)]}}, {1, 0, 0, {}}};
    std::vector<double> expected(static_cast<std::size_t>(shape[work.axis]), 5);
    int next = 0;
    each_index(from.owned, [&](const Index& index) {
      from.set(index, ++next % 7);
      expected[static_cast<std::size_t>(index[work.axis])] += next % 7;
    });
    each_index(to.owned, [&](const Index& index) { to.set(index, 5); });
    execution::bind_work(work, {plan, strides})
        ->run([&](const Place& place) { return place.buffer == 0 ? from.memory.data() : to.memory.data(); },
              {});
    each_index(to.owned, [&](const Index& index) {
      EXPECT_EQ(to.get(index), widened(expected[static_cast<std::size_t>(index[0])])) << round;
    });
  }
}

/// One number of f32 into one of f8.
template <class Small>
Small narrowed_to(float value) {
  Plan plan;
  std::vector<Strides> strides;
  const Layout layout(Replicated(), Shape{1, 1}, 1);
  (void)add_operand(plan, strides, "from", layout, Dtype::f32, 0);
  (void)add_operand(plan, strides, "to", layout, dtype_of<Small>(), 0);
  ApplyEpilogue work;
  work.from = {layout.region(0), {0, 0, 0, {}}};
  work.to = {layout.region(0), {1, 0, 0, {}}};
  Small result;
  execution::bind_work(work, {plan, strides})
      ->run(
          [&](const Place& place) {
            return place.buffer == 0 ? reinterpret_cast<char*>(&value) : reinterpret_cast<char*>(&result);
          },
          {});
  return result;
}

TEST(EpilogueWork, GoesAsFarAsNumbersOf8BitsGo) {
  for (const float beyond : {464.5F, 1e30F, INFINITY}) {
    EXPECT_EQ(narrowed_to<Float8E4M3>(beyond), 448.0F);
    EXPECT_EQ(narrowed_to<Float8E4M3>(-beyond), -448.0F);
  }
  EXPECT_EQ(narrowed_to<Float8E5M2>(-1e6F), -57344.0F);
  EXPECT_EQ(narrowed_to<Float8E5M2>(1e3F), 1024.0F);
  EXPECT_TRUE(std::isnan(narrowed_to<Float8E4M3>(NAN)) && std::isnan(narrowed_to<Float8E5M2>(NAN)));
}

TEST(EpilogueWork, RefusesDtypesWithoutAKernel) {
  const Layout layout(Replicated(), Shape{2, 2}, 1);
  const auto attempt = [&](Dtype from, Dtype to, Activation activation) {
    Plan plan;
    std::vector<Strides> strides;
    (void)add_operand(plan, strides, "from", layout, from, 0);
    (void)add_operand(plan, strides, "to", layout, to, 0);
    ApplyEpilogue work;
    work.from = {layout.region(0), {0, 0, 0, {}}};
    work.to = {layout.region(0), {1, 0, 0, {}}};
    work.activation = activation;
    (void)execution::bind_work(work, {plan, strides});
  };
  EXPECT_THROW(attempt(Dtype::i64, Dtype::i64, Activation::identity), UnsupportedError);
  EXPECT_THROW(attempt(Dtype::i32, Dtype::f32, Activation::identity), UnsupportedError);
  EXPECT_THROW(attempt(Dtype::i32, Dtype::i32, Activation::relu), UnsupportedError);
  EXPECT_NO_THROW(attempt(Dtype::i32, Dtype::i32, Activation::identity));
  EXPECT_THROW(attempt(Dtype::c64, Dtype::f32, Activation::identity), UnsupportedError);
  EXPECT_THROW(attempt(Dtype::c64, Dtype::c64, Activation::relu), UnsupportedError);
  EXPECT_NO_THROW(attempt(Dtype::f64, Dtype::f16, Activation::relu));
}

}  // namespace
}  // namespace partita::testing
