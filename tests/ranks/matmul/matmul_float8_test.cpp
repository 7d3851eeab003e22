// Multiplies of numbers of 8 bits with scales, against sums in wider numbers.
#include "support/models/matmul_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

constexpr std::array float8_results{Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2};
constexpr std::array float8_epilogues{Epilogue::none, Epilogue::bias, Epilogue::relu_bias, Epilogue::relu_aux,
                                      Epilogue::all_reduce};

class Float8Case {
 public:
  Float8Case(Context& context, RandomLayouts& random) : context_(context), random_(random) {
    m_ = random.number(0, 30), n_ = random.number(1, 30), k_ = random.number(0, 40);
    const Dtype result = float8_results[static_cast<std::size_t>(random.number(0, 4))];
    options_.epilogue = float8_epilogues[static_cast<std::size_t>(random.number(0, 4))];
    options_.op_a = random.maybe() ? Op::transpose : Op::none;
    options_.alpha = random.maybe(0.1) ? 0 : -1.5;
    a_ = array(stored_shape({}, m_, k_, options_.op_a), factor_dtype(), 1);
    b_ = array({k_, n_}, factor_dtype(), 2);
    c_ = array({m_, n_}, result, 3);
    d_ = array({m_, n_}, result, 4);
    bias_ = array({m_}, random.maybe() ? result : Dtype::f32, 5);
    auxiliary_ = array({m_, n_}, result, 6);
    if (random.maybe()) options_.beta = 0.5;
    in_place_ = options_.beta != 0.0 && random.maybe();
    scale_a_ = scale(random.maybe() ? Shape{} : Shape{m_}, 7);
    scale_b_ = scale(random.maybe() ? Shape{} : Shape{n_}, 8);
    scale_d_ = scale({}, 9);
    amax_ = scale({}, 10);
    if (is_float8(result) && random.maybe()) arrays_.scale_d = &scale_d_.array;
    if (random.maybe(0.7)) arrays_.scale_a = &scale_a_.array;
    if (random.maybe(0.7)) arrays_.scale_b = &scale_b_.array;
    if (random.maybe(0.7)) arrays_.amax_d = &amax_.array;
    if (has_bias()) arrays_.bias = &bias_.array;
    if (options_.epilogue == Epilogue::relu_aux) arrays_.auxiliary = &auxiliary_.array;
  }

  void run() {
    const Whole c(c_.array);
    fill_nan(d_.array);
    fill_nan(amax_.array);
    const bool reads_c = options_.beta != 0.0;
    Array result = in_place_ ? c_.array : d_.array;
    if (options_.epilogue == Epilogue::all_reduce) {
      options_.result = result.dtype();
      result = reads_c ? matmul(a_.array, b_.array, c_.array, options_, arrays_)
                       : matmul(a_.array, b_.array, options_, arrays_);
    } else {
      matmul_into(a_.array, b_.array, reads_c ? &c_.array : nullptr, result, options_, arrays_);
    }
    compare(Whole(result), reads_c ? &c : nullptr, result.dtype());
  }

 private:
  Dtype factor_dtype() { return random_.maybe() ? Dtype::f8e4m3 : Dtype::f8e5m2; }
  bool has_bias() const {
    return options_.epilogue == Epilogue::bias || options_.epilogue == Epilogue::relu_bias;
  }
  bool has_relu() const {
    return options_.epilogue == Epilogue::relu_aux || options_.epilogue == Epilogue::relu_bias;
  }

  Held array(const Shape& shape, Dtype dtype, std::uint64_t seed) {
    Layout layout = random_.layout(shape, context_.size());
    while (layout.partial() && is_float8(dtype)) layout = random_.layout(shape, context_.size());
    Held held;
    const bool heap = random_.maybe();
    held.array = empty(context_, layout, dtype,
                       {.residency = heap ? Residency::heap : Residency::ordinary,
                        .order = random_.maybe() ? Order::row_major : Order::column_major,
                        .space = space()});
    fill_random(held.array, seed);
    return held;
  }
  Held scale(const Shape& shape, std::uint64_t seed) {
    if (!shape.empty()) return array(shape, Dtype::f32, seed);
    Held held;
    held.array = empty(context_, shape, Replicated(), Dtype::f32, {.space = space()});
    fill_random(held.array, seed);
    return held;
  }
  /// Where there is a device, mostly there; some multiplies mix both.
  std::optional<MemorySpace> space() {
    return random_.maybe(0.1) ? std::optional(MemorySpace::host) : std::nullopt;
  }

  long double factor(const Whole& scale, const Array* array, std::int64_t i) const {
    if (array == nullptr) return 1;
    return scale[array->shape().empty() ? 0 : i].real();
  }

  void compare(const Whole& d, const Whole* c, Dtype dtype) {
    const Whole a(a_.array), b(b_.array), bias(bias_.array);
    const Whole scale_a(scale_a_.array), scale_b(scale_b_.array), scale_d(scale_d_.array), amax(amax_.array);
    MatmulOptions without_c = options_;
    without_c.beta = 0;
    const Product product{&a, &b, nullptr, without_c, k_};
    long double largest = 0, error_of_largest = 0;
    for (std::int64_t i = 0; i < m_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) {
        const long double scales = factor(scale_a, arrays_.scale_a, i) * factor(scale_b, arrays_.scale_b, j);
        long double value = product.value(0, i, j).real() * scales;
        long double magnitude = product.magnitude(0, i, j) * std::abs(scales);
        const auto add = [&](long double term) {
          value += term;
          magnitude += std::abs(term);
        };
        if (c != nullptr) add(0.5L * c->at(0, i, j).real());
        if (has_bias()) add(bias[i].real());
        if (has_relu()) value = std::max(value, 0.0L);
        const long double error =
            (static_cast<long double>(k_ + 4) * 0x1p-24L + cut_of_sums(Dtype::f8e4m3)) * magnitude;
        largest = std::max(largest, std::abs(value));
        error_of_largest = std::max(error_of_largest, error);
        const long double last = factor(scale_d, arrays_.scale_d, 0);
        const long double bound = error * std::abs(last) +
                                  1.01L * rounding(dtype) * (std::abs(value * last) + error) +
                                  underflow(dtype);
        ASSERT_LE(std::abs(d.at(0, i, j) - Wide(value * last)), bound) << text(i, j);
      }
    }
    if (arrays_.amax_d == nullptr) return;
    EXPECT_LE(std::abs(amax[0] - Wide(largest)), error_of_largest + 0x1p-23L * largest) << text(-1, -1);
  }

  std::string text(std::int64_t i, std::int64_t j) const {
    return std::to_string(i) + "," + std::to_string(j) + " of " + a_.array.operand().to_string() + " by " +
           b_.array.operand().to_string() + " into " + d_.array.operand().to_string() + " epilogue " +
           std::to_string(static_cast<int>(options_.epilogue)) + (in_place_ ? " in place" : "");
  }

  Context& context_;
  RandomLayouts& random_;
  MatmulOptions options_;
  EpilogueArrays arrays_;
  std::int64_t m_ = 1, n_ = 1, k_ = 1;
  Held a_, b_, c_, d_, bias_, auxiliary_, scale_a_, scale_b_, scale_d_, amax_;
  bool in_place_ = false;
};

RANK_TEST(MatmulFloat8, RandomScalesOfEverything) {
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()) + 5);
  const int rounds = full_product() ? 600 : 40;
  for (int round = 0; round < rounds; ++round) {
    Float8Case(context, random).run();
    if (::testing::Test::HasFailure()) return;
  }
}

/// The same number everywhere.
Array all(Context& context, const Shape& shape, Dtype dtype, double value) {
  const Distribution how = shape.empty() ? Distribution(Replicated()) : Distribution(Slab(0));
  Array array = empty(context, shape, how, dtype);
  write_constant(array, value);
  return array;
}

RANK_TEST(MatmulFloat8, ResultsGoAsFarAsTheyGoAndTheAmaxSaysHowFarTheyWould) {
  const Array a = all(context, {9, 40}, Dtype::f8e4m3, 16), b = all(context, {40, 7}, Dtype::f8e5m2, -2);
  const Array less = all(context, {}, Dtype::f32, 0.25), more = all(context, {9}, Dtype::f32, 2);
  Array amax = all(context, {}, Dtype::f32, -1);
  const auto number_of = [](const Array& array) { return Whole(array)[3].real(); };
  const Array plain = matmul(a, b);
  EXPECT_EQ(plain.dtype(), Dtype::f32);
  EXPECT_EQ(number_of(plain), -1280);
  const Array far = matmul(a, b, {.result = Dtype::f8e4m3}, {.amax_d = &amax});
  EXPECT_EQ(number_of(far), -448);
  EXPECT_EQ(Whole(amax)[0], Wide(1280));
  const Array near = matmul(a, b, {.result = Dtype::f8e4m3, .scale_mode = ScaleMode::automatic},
                            {.scale_a = &more, .scale_b = &less, .scale_d = &less, .amax_d = &amax});
  EXPECT_EQ(number_of(near), -160);
  EXPECT_EQ(Whole(amax)[0], Wide(640));
  const Array nan = all(context, {40, 7}, Dtype::f8e4m3, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(number_of(matmul(a, nan, {.result = Dtype::f8e5m2}, {.amax_d = &amax}))));
  EXPECT_TRUE(std::isnan(Whole(amax)[0].real()));
}

RANK_TEST(MatmulFloat8, APlanTakesTheScalesOfEachExecution) {
  const Array a = all(context, {5, 12}, Dtype::f8e4m3, 1), b = all(context, {12, 6}, Dtype::f8e4m3, 0.5);
  Array d = all(context, {5, 6}, Dtype::bf16, 0), amax = all(context, {}, Dtype::f32, 0);
  Array scale = all(context, {}, Dtype::f32, 1);
  Matmul multiply(context, {.a = a.operand(),
                            .b = b.operand(),
                            .d = d.operand(),
                            .epilogue = {.scale_a = scale.operand(), .amax_d = amax.operand()}});
  multiply.reset(a, b, nullptr, d, {.scale_a = &scale, .amax_d = &amax});
  for (const double factor : {4.0, 2.0, 0.0}) {
    fill(scale, static_cast<float>(factor));
    multiply.execute();
    EXPECT_EQ(Whole(d)[7], widened(6 * factor));
    EXPECT_EQ(Whole(amax)[0], widened(6 * factor));
  }
}

// Beyond what floats hold exactly.
RANK_TEST(MatmulIntegers, AreExactHoweverTheyAreCut) {
  const std::int64_t k = 3001;
  Array a = empty(context, {3, k}, Slab(1), Dtype::i8);
  Array b = empty(context, {k, 5}, BlockCyclic({context.size(), 1}, {7, 2}), Dtype::i8);
  const auto of_a = [](std::int64_t number) { return number % 3 == 0 ? -128 : 127 - number % 7; };
  const auto of_b = [](std::int64_t number) { return number % 5 == 0 ? 127 : -128 + number % 9; };
  const auto write = [](Array& array, const auto& value) {
    write_values(array, [&](std::int64_t number) { return static_cast<double>(value(number)); });
  };
  write(a, of_a);
  write(b, of_b);
  for (const std::int64_t alpha : {1, -70001}) {
    const Array d = matmul(a, b, {.alpha = static_cast<double>(alpha)});
    ASSERT_EQ(d.dtype(), Dtype::i32);
    const Whole whole(d);
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 5; ++j) {
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += of_a(i * k + l) * of_b(l * 5 + j);
        EXPECT_EQ(whole.at(0, i, j).real(), static_cast<std::int32_t>(alpha * sum));
      }
    }
  }
}

}  // namespace
}  // namespace partita::testing
