// Epilogues of matrix multiply, against their formulas in wider numbers.
#include "support/models/matmul_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

constexpr std::array epilogues{
    Epilogue::none,
    Epilogue::relu,
    Epilogue::relu_aux,
    Epilogue::bias,
    Epilogue::bias_aux,
    Epilogue::relu_bias,
    Epilogue::gelu,
    Epilogue::relu_bias_aux,
    Epilogue::gelu_aux,
    Epilogue::gelu_bias,
    Epilogue::gelu_bias_aux,
    Epilogue::drelu,
    Epilogue::dgelu,
    Epilogue::dgelu_bias_gradient,
    Epilogue::drelu_bias_gradient,
    Epilogue::bias_gradient_a,
    Epilogue::bias_gradient_b,
};

bool one_of(Epilogue epilogue, std::initializer_list<Epilogue> set) {
  return std::find(set.begin(), set.end(), epilogue) != set.end();
}
bool has_bias(Epilogue e) {
  using enum Epilogue;
  return one_of(e, {Epilogue::bias, bias_aux, relu_bias, relu_bias_aux, gelu_bias, gelu_bias_aux});
}
bool writes_auxiliary(Epilogue e) {
  using enum Epilogue;
  return one_of(e, {relu_aux, bias_aux, relu_bias_aux, gelu_aux, gelu_bias_aux});
}
bool is_derivative(Epilogue e) {
  using enum Epilogue;
  return one_of(e, {drelu, drelu_bias_gradient, dgelu, dgelu_bias_gradient});
}
bool has_gradient(Epilogue e) {
  using enum Epilogue;
  return one_of(e, {drelu_bias_gradient, dgelu_bias_gradient, bias_gradient_a, bias_gradient_b});
}

long double gelu(long double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x)));
}
// By differences: the formula of the library is not used a second time.
long double gelu_slope(long double x) {
  const long double h = 1e-6L;
  return (gelu(x + h) - gelu(x - h)) / (2 * h);
}

long double applied(Epilogue e, long double value, long double auxiliary) {
  using enum Epilogue;
  if (one_of(e, {relu, relu_aux, relu_bias, relu_bias_aux})) return std::max(value, 0.0L);
  if (one_of(e, {gelu, gelu_aux, gelu_bias, gelu_bias_aux})) return testing::gelu(value);
  if (one_of(e, {drelu, drelu_bias_gradient})) return auxiliary > 0 ? value : 0;
  if (one_of(e, {dgelu, dgelu_bias_gradient})) return value * gelu_slope(auxiliary);
  return value;
}

class EpilogueCase {
 public:
  EpilogueCase(Context& context, RandomLayouts& random, Epilogue epilogue, Dtype dtype)
      : context_(context), random_(random), dtype_(dtype) {
    options_.epilogue = epilogue;
    options_.op_a = random.maybe() ? Op::transpose : Op::none;
    options_.alpha = 0.5;
    m_ = random.number(1, 30), n_ = random.number(1, 30), k_ = random.number(1, 30);
    a_ = array(stored_shape({}, m_, k_, options_.op_a), 1);
    b_ = array({k_, n_}, 2);
    c_ = array({m_, n_}, 3);
    d_ = array({m_, n_}, 4);
    bias_ = array({m_}, 5);
    auxiliary_ = array({m_, n_}, 6);
    gradient_ = array({epilogue == Epilogue::bias_gradient_b ? n_ : m_}, 7);
    if (random.maybe()) options_.beta = -0.75;
    in_place_ = options_.beta != 0.0 && random.maybe(0.3);
  }

  void run() {
    const Epilogue e = options_.epilogue;
    const Whole c = Whole::random(c_.array, 3);
    const Whole bias = Whole::random(bias_.array, 5);
    const Whole auxiliary = Whole::random(auxiliary_.array, 6);
    EpilogueArrays arrays;
    if (has_bias(e)) arrays.bias = &bias_.array;
    if (writes_auxiliary(e) || is_derivative(e)) arrays.auxiliary = &auxiliary_.array;
    if (writes_auxiliary(e)) fill_nan(auxiliary_.array);
    if (has_gradient(e)) arrays.gradient = &gradient_.array;
    fill_nan(gradient_.array);
    Array& result = in_place_ ? c_.array : d_.array;
    const bool reads_c = options_.beta != 0.0;
    matmul_into(a_.array, b_.array, reads_c ? &c_.array : nullptr, result, options_, arrays);
    compare(Whole(result), c, bias, auxiliary);
  }

 private:
  Held array(const Shape& shape, std::uint64_t seed) {
    Held held = make_held(context_, random_.layout(shape, context_.size()), dtype_,
                          static_cast<Lies>(random_.number(0, 4)));
    fill_random(held.array, seed);
    return held;
  }

  void compare(const Whole& d, const Whole& c, const Whole& bias, const Whole& auxiliary) {
    const Epilogue e = options_.epilogue;
    const Whole a = Whole::random(a_.array, 1);
    const Whole b = Whole::random(b_.array, 2);
    const Product product{&a, &b, options_.beta != 0.0 ? &c : nullptr, options_, k_};
    const Whole written = writes_auxiliary(e) ? Whole(auxiliary_.array) : Whole();
    std::vector<long double> rows(static_cast<std::size_t>(m_), 0);
    for (std::int64_t i = 0; i < m_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) {
        long double value = product.value(0, i, j).real();
        if (has_bias(e)) value += bias[i].real();
        const long double expected = applied(e, value, auxiliary.at(0, i, j).real());
        const bool gelu =
            one_of(e, {Epilogue::gelu, Epilogue::gelu_aux, Epilogue::gelu_bias, Epilogue::gelu_bias_aux});
        expect_near(d.at(0, i, j), expected, 1, gelu ? value : 0);
        if (writes_auxiliary(e)) expect_near(written.at(0, i, j), value, 1);
        rows[static_cast<std::size_t>(i)] += expected;
      }
    }
    if (has_gradient(e)) compare_gradient(Whole(gradient_.array), a, b, rows);
  }

  void compare_gradient(const Whole& gradient, const Whole& a, const Whole& b,
                        const std::vector<long double>& rows) {
    const Epilogue e = options_.epilogue;
    const bool of_b = e == Epilogue::bias_gradient_b;
    for (std::int64_t i = 0; i < (of_b ? n_ : m_); ++i) {
      long double expected = rows[of_b ? 0 : static_cast<std::size_t>(i)];
      if (of_b || e == Epilogue::bias_gradient_a) {
        expected = 0;
        for (std::int64_t l = 0; l < k_; ++l) {
          expected += of_b ? b.at(0, l, i).real() : through(options_.op_a, a, 0, i, l).real();
        }
      }
      expect_near(gradient[i], expected, n_ + k_);
    }
  }

  // Terms of a sum may be rounded before they are added. Of two numbers the larger one is rounded.
  void expect_near(Wide value, long double expected, std::int64_t terms, long double other = 0) const {
    const bool half = dtype_ == Dtype::f16 || dtype_ == Dtype::bf16;
    const long double summed = rounding(half ? Dtype::f32 : dtype_);
    const auto count = static_cast<long double>(terms);
    const long double of_terms = terms > 1 ? 2 * count * rounding(dtype_) : 0;
    const long double tolerance =
        2 * rounding(dtype_) * (std::max(std::abs(expected), std::abs(other)) + 1e-3L) + of_terms +
        60 * static_cast<long double>(k_ + 4) * count * summed + 1e-10L;
    EXPECT_LE(std::abs(value - Wide(expected)), tolerance)
        << "epilogue " << static_cast<int>(options_.epilogue) << " " << name(dtype_) << " D "
        << (in_place_ ? c_ : d_).array.layout().to_string() << " A " << a_.array.layout().to_string() << " B "
        << b_.array.layout().to_string() << " gradient " << gradient_.array.layout().to_string()
        << (in_place_ ? " in place" : "");
  }

  Context& context_;
  RandomLayouts& random_;
  Dtype dtype_;
  MatmulOptions options_;
  std::int64_t m_ = 1, n_ = 1, k_ = 1;
  Held a_, b_, c_, d_, bias_, auxiliary_, gradient_;
  bool in_place_ = false;
};

RANK_TEST(MatmulEpilogue, EveryOneOnRandomLayouts) {
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()) + 2);
  const int rounds = full_product() ? 60 : 1;
  for (int round = 0; round < rounds; ++round) {
    for (const Epilogue epilogue : epilogues) {
      const std::array<Dtype, 4> reals{Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16};
      const Dtype dtype = reals[static_cast<std::size_t>(random.number(0, 3))];
      EpilogueCase(context, random, epilogue, dtype).run();
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// Of op(A) and op(B), as it is multiplied.
RANK_TEST(MatmulEpilogue, BiasGradientsOfConjugatesAreConjugated) {
  constexpr std::int64_t m = 7, n = 5, k = 33;
  for (const Dtype dtype : {Dtype::c64, Dtype::c128}) {
    for (const Op op : {Op::none, Op::conjugate, Op::transpose, Op::conjugate_transpose}) {
      for (const bool of_a : {true, false}) {
        MatmulOptions options;
        (of_a ? options.op_a : options.op_b) = op;
        options.epilogue = of_a ? Epilogue::bias_gradient_a : Epilogue::bias_gradient_b;
        Array a = empty(context, stored_shape({}, m, k, options.op_a), Slab(1), dtype);
        Array b = empty(context, stored_shape({}, k, n, options.op_b), Slab(0), dtype);
        Array d = empty(context, {m, n}, Slab(0), dtype);
        Array gradient = empty(context, {of_a ? m : n}, Slab(0), dtype);
        fill_random(a, 1);
        fill_random(b, 2);
        matmul_into(a, b, nullptr, d, options, {.gradient = &gradient});
        const Whole factor(of_a ? a : b), sums(gradient);
        for (std::int64_t i = 0; i < (of_a ? m : n); ++i) {
          Wide expected = 0;
          for (std::int64_t l = 0; l < k; ++l)
            expected += of_a ? through(op, factor, 0, i, l) : through(op, factor, 0, l, i);
          EXPECT_LE(std::abs(sums[i] - expected), 4 * k * rounding(dtype))
              << i << " op " << static_cast<int>(op);
        }
      }
    }
  }
}

RANK_TEST(MatmulEpilogue, AllReduceGivesTheWholeToEveryRank) {
  Array a = empty(context, {9, 40}, Slab(1), Dtype::f64);
  Array b = empty(context, {40, 7}, Slab(0), Dtype::f64);
  fill_random(a, 1);
  fill_random(b, 2);
  MatmulOptions options{.epilogue = Epilogue::all_reduce};
  const Array d = matmul(a, b, options);
  EXPECT_EQ(d.local_shape(), Shape({9, 7}));
  const Whole whole_a(a), whole_b(b);
  const Product product{&whole_a, &whole_b, nullptr, options, 40};
  each_element(d, [&](std::int64_t number, auto& element) {
    EXPECT_LE(std::abs(widened(element) - product.value(0, number / 7, number % 7)), 1e-13L);
  });
}

}  // namespace
}  // namespace partita::testing
