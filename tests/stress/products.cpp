// Multiplies of small whole numbers, which are exact however they are summed.
#include <complex>
#include <optional>
#include <partita/matmul.hpp>

#include "ranks/any_memory.hpp"
#include "ranks/array_model.hpp"
#include "stress/turn.hpp"

namespace partita::testing {
namespace {

using Number = std::complex<double>;

bool transposing(Op op) {
  return op == Op::transpose || op == Op::conjugate_transpose;
}

/// [rows, columns], or the reverse, as op(X) wants it; with what `write_known` writes.
struct Factor {
  Op op = Op::none;
  std::int64_t rows = 1, columns = 1;
  int contributions = 1;
  bool complex = false;

  Shape shape() const { return transposing(op) ? Shape{columns, rows} : Shape{rows, columns}; }
  Number operator()(std::int64_t i, std::int64_t j, int round) const {
    const std::int64_t number = transposing(op) ? j * rows + i : i * columns + j;
    const auto value = joined_value<double>(number, contributions, Reduction::sum, round);
    const bool conjugated = op == Op::conjugate || op == Op::conjugate_transpose;
    return complex ? Number(value, conjugated ? value : -value) : Number(value);
  }
};

struct Product {
  Turn& turn;
  Dtype dtype = Dtype::f64;
  Factor a, b;
  MatmulOptions options;
  Wrapped first, second, result;

  void expect_right(int round) const {
    const std::int64_t n = b.columns;
    std::int64_t wrong = 0;
    each_element(result.array, [&](std::int64_t number, auto& element) {
      using T = std::decay_t<decltype(element)>;
      Number sum = 0;
      for (std::int64_t k = 0; k < a.columns; ++k) sum += a(number / n, k, round) * b(k, number % n, round);
      sum *= options.alpha;
      if (options.epilogue == Epilogue::relu) sum = std::max(0.0, sum.real());
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        wrong += element != static_cast<T>(sum.real());
      } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                           std::is_same_v<T, std::complex<double>>) {
        wrong += element != T(sum);
      }
    });
    turn.expect(wrong == 0, fmt::format("{} elements of round {} are wrong", wrong, round));
  }
};

Product random_product(Turn& turn) {
  RandomLayouts& random = turn.random;
  Product product{
      turn, turn.pick(std::array{Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}), {}, {}, {}, {}, {}, {}};
  const std::array extents{1, 2, 3, 5, 17, 24, 33};
  const std::int64_t m = turn.pick(extents), n = turn.pick(extents),
                     k = random.maybe(0.05) ? 0 : turn.pick(extents);
  product.options.op_a = static_cast<Op>(random.number(0, 3));
  product.options.op_b = static_cast<Op>(random.number(0, 3));
  product.options.alpha = turn.pick(std::array{1.0, -2.0});
  const bool complex = is_complex(product.dtype);
  product.a = {product.options.op_a, m, k, 1, complex};
  product.b = {product.options.op_b, k, n, 1, complex};
  if (!complex && random.maybe(0.2)) product.options.epilogue = Epilogue::relu;
  if (random.maybe(0.4)) product.options.method = static_cast<MatmulMethod>(random.number(1, 8));
  const int ranks = turn.context.size();
  const auto make = [&](const Layout& layout) {
    return make_array(turn.context, layout, product.dtype, random.number(0, 4), MemorySpace::host);
  };
  product.first = make(random.layout(product.a.shape(), ranks));
  product.second = make(random.layout(product.b.shape(), ranks));
  std::optional<Layout> whole;
  do {
    whole.emplace(random.layout({m, n}, ranks));
  } while (whole->partial());
  product.result = make(*whole);
  product.a.contributions = contribution_count(product.first.array.layout());
  product.b.contributions = contribution_count(product.second.array.layout());
  turn.call =
      fmt::format("matmul {} ops {}{} alpha {} epilogue {} method {}: {} x {} -> {}", name(product.dtype),
                  static_cast<int>(product.options.op_a), static_cast<int>(product.options.op_b),
                  product.options.alpha.real(), static_cast<int>(product.options.epilogue),
                  static_cast<int>(product.options.method), product.first.array.layout().to_string(),
                  product.second.array.layout().to_string(), whole->to_string());
  return product;
}

}  // namespace

After products(Turn& turn) {
  Product product = random_product(turn);
  const int rounds = turn.random.number(1, 3);
  const bool planned = turn.random.maybe();
  Array& a = product.first.array;
  Array& b = product.second.array;
  Array& d = product.result.array;
  try {
    std::optional<Matmul> plan;
    if (planned) {
      plan.emplace(turn.context, MatmulOperands{a.operand(), b.operand(), {}, d.operand(), {}, {}, {}},
                   product.options);
    }
    for (int round = 0; round < rounds; ++round) {
      write_known(a, round);
      write_known(b, round);
      write_constant(d, 1);
      turn.delay();
      if (plan) {
        plan->reset(a, b, nullptr, d);
        plan->execute();
      } else {
        matmul_into(a, b, nullptr, d, product.options);
      }
      write_constant(a, 2);
      write_constant(b, 3);
      turn.delay();
      product.expect_right(round);
    }
  } catch (const ArgumentError&) {  // a method that does not suit the operands
    if (product.options.method == MatmulMethod::automatic) throw;
  }
  return After::goes_on;
}

}  // namespace partita::testing
