// Multiplies of small whole numbers, which are exact however they are summed.
#include <complex>
#include <functional>
#include <optional>
#include <partita/matmul.hpp>

#include "stress/turn.hpp"
#include "support/models/any_memory.hpp"
#include "support/models/array_model.hpp"

namespace partita::testing {
namespace {

using Number = std::complex<double>;

bool transposing(Op op) {
  return op == Op::transpose || op == Op::conjugate_transpose;
}

/// A real or complex whole number at [number], as `write_known` writes it.
Number given_value(std::int64_t number, int contributions, bool complex, int round) {
  const auto value = joined_value<double>(number, contributions, Reduction::sum, round);
  return complex ? Number(value, -value) : Number(value);
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
    const Number value = given_value(number, contributions, complex, round);
    const bool conjugated = op == Op::conjugate || op == Op::conjugate_transpose;
    return conjugated ? std::conj(value) : value;
  }
};

/// F: those that whole numbers leave exact.
struct Epilogues {
  bool bias = false, relu = false, derivative = false, auxiliary = false;

  explicit Epilogues(Epilogue epilogue)
      : bias(epilogue == Epilogue::bias || epilogue == Epilogue::relu_bias),
        relu(epilogue == Epilogue::relu || epilogue == Epilogue::relu_bias || epilogue == Epilogue::relu_aux),
        derivative(epilogue == Epilogue::drelu),
        auxiliary(epilogue == Epilogue::relu_aux || derivative) {}
};

struct Product {
  explicit Product(Turn& of) : turn(of) {}

  Turn& turn;
  Dtype dtype = Dtype::f64;
  Factor a, b;
  MatmulOptions options;
  bool in_place = false;
  Wrapped first, second, third, result, bias, auxiliary;

  bool has_c() const { return options.beta != Number(0); }
  Array* c() { return !has_c() ? nullptr : in_place ? &result.array : &third.array; }
  EpilogueArrays arrays() {
    const Epilogues has(options.epilogue);
    return {has.bias ? &bias.array : nullptr, has.auxiliary ? &auxiliary.array : nullptr, nullptr};
  }
  /// Where there is an array: of the turn's numbers; negative ones in the auxiliary.
  void write(int round) {
    const Epilogues has(options.epilogue);
    write_known(first.array, round);
    write_known(second.array, round);
    write_constant(result.array, 1);
    if (has_c()) write_known(*c(), round);
    if (has.bias) write_known(bias.array, round);
    if (has.auxiliary) {
      write_values(auxiliary.array, [&](std::int64_t number) { return known_value(number, 0, round) - 11; });
    }
  }
  void overwrite() {
    write_constant(first.array, 2);
    write_constant(second.array, 3);
    if (has_c() && !in_place) write_constant(third.array, 4);
    if (Epilogues(options.epilogue).bias) write_constant(bias.array, 5);
  }

  /// Before the activation.
  Number sum_at(std::int64_t number, int round) const {
    const std::int64_t i = number / b.columns, j = number % b.columns;
    Number sum = 0;
    for (std::int64_t k = 0; k < a.columns; ++k) sum += a(i, k, round) * b(k, j, round);
    sum *= options.alpha;
    if (has_c()) sum += options.beta * given_value(number, 1, a.complex, round);
    if (Epilogues(options.epilogue).bias) sum += given_value(i, 1, a.complex, round);
    return sum;
  }
  void expect_values(const Array& array, int round, const std::function<Number(std::int64_t)>& value,
                     const char* what) const {
    std::int64_t wrong = 0;
    each_element(array, [&](std::int64_t number, auto& element) {
      using T = std::decay_t<decltype(element)>;
      const Number wanted = value(number);
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        wrong += element != static_cast<T>(wanted.real());
      } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                           std::is_same_v<T, std::complex<double>>) {
        wrong += element != T(wanted);
      }
    });
    turn.expect(wrong == 0, fmt::format("{} elements of {} of round {} are wrong", wrong, what, round));
  }
  void expect_right(int round) const {
    const Epilogues has(options.epilogue);
    expect_values(
        result.array, round,
        [&](std::int64_t number) {
          const Number sum = sum_at(number, round);
          if (has.relu) return Number(std::max(0.0, sum.real()));
          if (has.derivative && known_value(number, 0, round) <= 11) return Number(0);
          return sum;
        },
        "D");
    if (options.epilogue != Epilogue::relu_aux) return;
    expect_values(
        auxiliary.array, round, [&](std::int64_t number) { return sum_at(number, round); }, "the auxiliary");
  }
};

Product random_product(Turn& turn) {
  RandomLayouts& random = turn.random;
  Product product(turn);
  product.dtype = turn.pick(std::array{Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128});
  const std::array extents{1, 2, 3, 5, 17, 24, 33};
  const std::int64_t m = turn.pick(extents), n = turn.pick(extents),
                     k = random.maybe(0.05) ? 0 : turn.pick(extents);
  MatmulOptions& options = product.options;
  options.op_a = static_cast<Op>(random.number(0, 3));
  options.op_b = static_cast<Op>(random.number(0, 3));
  options.alpha = turn.pick(std::array{1.0, -2.0});
  if (random.maybe(0.4)) options.beta = turn.pick(std::array{1.0, -3.0});
  product.in_place = random.maybe();
  const bool complex = is_complex(product.dtype);
  product.a = {options.op_a, m, k, 1, complex};
  product.b = {options.op_b, k, n, 1, complex};
  if (!complex && random.maybe(0.4)) {
    options.epilogue = turn.pick(
        std::array{Epilogue::relu, Epilogue::bias, Epilogue::relu_bias, Epilogue::relu_aux, Epilogue::drelu});
  }
  if (random.maybe(0.4)) options.method = static_cast<MatmulMethod>(random.number(1, 8));
  const int ranks = turn.context.size();
  const bool on_device = turn.on_device() && random.maybe(0.7);
  const auto make = [&](const Layout& layout) {
    const int kind = on_device ? turn.pick(std::array{0, 1, 2, 4}) : random.number(0, 4);
    return make_array(turn.context, layout, product.dtype, kind,
                      on_device ? MemorySpace::device : MemorySpace::host);
  };
  product.first = make(random.layout(product.a.shape(), ranks));
  product.second = make(random.layout(product.b.shape(), ranks));
  const Epilogues has(options.epilogue);
  const Layout whole = whole_layout(random, {m, n}, ranks);
  product.result = make(whole);
  if (product.has_c() && !product.in_place) product.third = make(whole_layout(random, {m, n}, ranks));
  if (has.bias) product.bias = make(whole_layout(random, {m}, ranks));
  if (has.auxiliary) product.auxiliary = make(whole_layout(random, {m, n}, ranks));
  product.a.contributions = contribution_count(product.first.array.layout());
  product.b.contributions = contribution_count(product.second.array.layout());
  turn.call = fmt::format("matmul {} ops {}{} alpha {} beta {}{} epilogue {} method {}{}: {} x {} -> {}",
                          name(product.dtype), static_cast<int>(options.op_a), static_cast<int>(options.op_b),
                          options.alpha.real(), options.beta.real(), product.in_place ? " in place" : "",
                          static_cast<int>(options.epilogue), static_cast<int>(options.method),
                          on_device ? " on the device" : "", product.first.array.layout().to_string(),
                          product.second.array.layout().to_string(), whole.to_string());
  return product;
}

std::optional<Operand> operand_of(const Array* array) {
  return array == nullptr ? std::nullopt : std::optional<Operand>(array->operand());
}

}  // namespace

After products(Turn& turn) {
  Product product = random_product(turn);
  const int rounds = turn.random.number(1, 3);
  const bool planned = turn.random.maybe();
  Array& a = product.first.array;
  Array& b = product.second.array;
  Array& d = product.result.array;
  const EpilogueArrays arrays = product.arrays();
  Array* const c = product.c();
  try {
    std::optional<Matmul> plan;
    if (planned) {
      plan.emplace(
          turn.context,
          MatmulOperands{a.operand(),
                         b.operand(),
                         operand_of(c),
                         d.operand(),
                         {.bias = operand_of(arrays.bias), .auxiliary = operand_of(arrays.auxiliary)}},
          product.options, c == &d);
    }
    for (int round = 0; round < rounds; ++round) {
      product.write(round);
      turn.delay();
      if (plan) {
        plan->reset(a, b, c, d, arrays);
        plan->execute();
      } else {
        matmul_into(a, b, c, d, product.options, arrays);
      }
      product.overwrite();
      turn.delay();
      product.expect_right(round);
    }
  } catch (const ArgumentError&) {  // a method that does not suit the operands
    if (product.options.method == MatmulMethod::automatic) throw;
  }
  return After::goes_on;
}

}  // namespace partita::testing
