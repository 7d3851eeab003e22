// Plans of all ranks of random multiplies, run on numbers.
#pragma once

#include "plan/moves.hpp"
#include "support/models/indices.hpp"
#include "support/models/matmul_case.hpp"
#include "support/test.hpp"

namespace partita::testing::matmul_numbers {

using multiplication::EpilogueParts;
using multiplication::op_space;
using multiplication::parts_of;
using Number = OperandNumbers::Number;

enum Array : int { in_a, in_b, in_c, in_bias, in_auxiliary, in_scale_a, in_scale_b, in_scale_d };

class RandomMatmul {
 public:
  explicit RandomMatmul(std::uint64_t seed) : random_(seed) {}

  MatmulCase make(int least_ranks = 1, int most_ranks = 6) {
    MatmulCase test;
    const int ranks = random_.number(least_ranks, most_ranks);
    test.topology = topology(ranks);
    if (random_.maybe(0.3)) test.batch = {random_.number(1, 3)};
    for (std::int64_t* extent : {&test.m, &test.n, &test.k}) {
      *extent = random_.maybe(0.05) ? 0 : random_.number(1, random_.maybe(0.2) ? 1 : 11);
    }
    test.options.op_a = static_cast<Op>(random_.number(0, 3));
    test.options.op_b = static_cast<Op>(random_.number(0, 3));
    test.options.method = static_cast<MatmulMethod>(random_.number(0, 8));
    if (test.options.method == MatmulMethod::local) test.options.method = MatmulMethod::automatic;
    const auto dtypes = {Dtype::f64, Dtype::c128, Dtype::bf16, Dtype::f32, Dtype::i8, Dtype::f8e4m3};
    const Dtype dtype = *(dtypes.begin() + random_.number(0, 5));
    add_operands(test, ranks, dtype, result(dtype));
    add_epilogue(test, ranks);
    if (is_float8(dtype)) add_scales(test, ranks);
    test.parameters.alpha = random_.number(-1, 3);
    test.options.alpha = test.parameters.alpha;  // 0: another plan
    test.parameters.beta = test.operands.c ? random_.number(-1, 2) : 0;
    return test;
  }

 private:
  Topology topology(int ranks) {
    if (random_.maybe()) return Topology::regular(ranks, random_.number(0, ranks));
    std::vector<int> nodes;
    int used = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      nodes.push_back(random_.number(0, std::min(used, 2)));
      used = std::max(used, nodes.back() + 1);
    }
    return Topology::of(nodes);
  }

  Dtype result(Dtype factors) {
    if (factors == Dtype::i8) return Dtype::i32;
    if (factors == Dtype::bf16 && random_.maybe()) return Dtype::f32;
    if (factors != Dtype::f8e4m3) return factors;
    const auto results = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2};
    return *(results.begin() + random_.number(0, 4));
  }

  Layout layout(const Shape& shape, int ranks, Dtype dtype) {
    for (;;) {
      Layout drawn = random_.layout(shape, ranks);
      if (!drawn.partial() || is_defined(Reduction::sum, dtype)) return drawn;
    }
  }

  Operand operand(const Shape& shape, int ranks, Dtype dtype) {
    Operand result = Operand::of(layout(shape, ranks, dtype), dtype,
                                 random_.maybe() ? Order::row_major : Order::column_major,
                                 random_.maybe() ? Residency::heap : Residency::ordinary);
    if (random_.maybe(0.2)) result.dense = false;
    return result;
  }

  Shape with_batch(const Shape& batch, std::int64_t rows, std::int64_t columns, Op op) {
    Shape shape = batch;
    if (multiplication::transposes(op)) std::swap(rows, columns);
    shape.push_back(rows);
    shape.push_back(columns);
    return shape;
  }

  void add_operands(MatmulCase& test, int ranks, Dtype dtype, Dtype result) {
    const Shape none;
    const Shape& batch = test.batch;
    test.operands.a = operand(
        with_batch(random_.maybe(0.7) ? batch : none, test.m, test.k, test.options.op_a), ranks, dtype);
    test.operands.b =
        operand(with_batch(random_.maybe(0.7) ? batch : none, test.k, test.n, test.options.op_b), ranks,
                is_float8(dtype) && random_.maybe() ? Dtype::f8e5m2 : dtype);
    const Shape of_d = with_batch(batch, test.m, test.n, Op::none);
    test.operands.d = operand(of_d, ranks, result);
    const int c = random_.number(0, 3);
    if (c == 0) return;
    test.operands.c = c == 1 ? operand(of_d, ranks, result) : test.operands.d;
    test.in_place = c == 3;
  }

  void add_epilogue(MatmulCase& test, int ranks) {
    if (random_.maybe(0.4)) return;
    test.options.epilogue = static_cast<Epilogue>(random_.number(0, 17));
    const EpilogueParts parts = parts_of(test.options.epilogue);
    const Dtype result = test.operands.d.dtype;
    const bool of_integers = is_integer(result) && test.options.epilogue != Epilogue::all_reduce;
    if (of_integers || (is_complex(result) && parts.activation != Activation::identity)) {
      test.options.epilogue = Epilogue::none;
      return;
    }
    if (parts.everywhere) {
      test.operands.d.layout = Layout(Replicated(), test.operands.d.layout.shape(), ranks);
      if (test.in_place) test.operands.c = test.operands.d;
    }
    if (parts.bias) test.operands.epilogue.bias = operand({test.m}, ranks, result);
    if (parts.auxiliary)
      test.operands.epilogue.auxiliary = operand(test.operands.d.layout.shape(), ranks, result);
    if (parts.gradient)
      test.operands.epilogue.gradient = operand({parts.gradient_of_b ? test.n : test.m}, ranks, result);
  }

  // On every rank, or the sum of what the ranks hold.
  Operand scalar(int ranks) {
    const std::string partial = "mesh:r=" + std::to_string(ranks) + ":;partial=sum:r";
    const Layout layout(random_.maybe() ? Replicated() : Distribution::parse(partial), {}, ranks);
    return Operand::of(layout, Dtype::f32, Order::row_major,
                       random_.maybe() ? Residency::heap : Residency::ordinary);
  }

  void add_scales(MatmulCase& test, int ranks) {
    const auto factor = [&](std::int64_t extent) {
      return random_.maybe() ? scalar(ranks) : operand({extent}, ranks, Dtype::f32);
    };
    MatmulOperands& operands = test.operands;
    if (random_.maybe()) operands.epilogue.scale_a = factor(test.m);
    if (random_.maybe()) operands.epilogue.scale_b = factor(test.n);
    if (is_float8(operands.d.dtype) && random_.maybe()) operands.epilogue.scale_d = scalar(ranks);
    if (random_.maybe()) operands.epilogue.amax_d = scalar(ranks);
  }

  RandomLayouts random_;
};

inline double activate(Activation activation, double x, double auxiliary) {
  const double root = std::sqrt(2 / std::acos(-1.0));
  switch (activation) {
    case Activation::identity:
      return x;
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu:
      return x / 2 * (1 + std::tanh(root * (x + 0.044715 * x * x * x)));
    case Activation::drelu:
      return auxiliary > 0 ? x : 0;
    case Activation::dgelu: {
      const double y = auxiliary;
      const double t = std::tanh(root * (y + 0.044715 * y * y * y));
      return x * (0.5 * (1 + t) + y / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * y * y));
    }
  }
  return x;
}

/// The result by definition.
class Reference {
 public:
  explicit Reference(const MatmulCase& test)
      : test_(test),
        parts_(parts_of(test.options.epilogue)),
        a_(op_space(test.operands.a, test.options.op_a).layout),
        b_(op_space(test.operands.b, test.options.op_b).layout) {}

  Number a(const Index& at, std::int64_t l) const { return element(in_a, a_, batch_of(at, a_), row(at), l); }
  Number b(const Index& at, std::int64_t l) const {
    return element(in_b, b_, batch_of(at, b_), l, column(at));
  }

  /// Before the activation.
  Number sum(const Index& at) const {
    Number result = 0;
    for (std::int64_t l = 0; l < test_.k; ++l) {
      const Number x = a(at, l);
      const Number y = b(at, l);
      result += (multiplication::conjugates(test_.options.op_a) ? std::conj(x) : x) *
                (multiplication::conjugates(test_.options.op_b) ? std::conj(y) : y);
    }
    result *= test_.parameters.alpha * scale(in_scale_a, test_.operands.epilogue.scale_a, row(at)) *
              scale(in_scale_b, test_.operands.epilogue.scale_b, column(at));
    if (test_.operands.c && test_.parameters.beta != Number(0)) {
      result += test_.parameters.beta * whole(in_c, test_.operands.c->layout, at);
    }
    if (parts_.bias) result += whole(in_bias, test_.operands.epilogue.bias->layout, {row(at)});
    return result;
  }
  Number d(const Index& at) const {
    return before_scale(at) * scale(in_scale_d, test_.operands.epilogue.scale_d, 0);
  }
  double amax() const {
    double largest = 0;
    Region all;
    for (const std::int64_t extent : test_.operands.d.layout.shape())
      all.sets.push_back(IndexSet::range(0, extent));
    if (!all.empty())
      for_each_index(all, [&](const Index& at) { largest = std::max(largest, std::abs(before_scale(at))); });
    return largest;
  }
  Number before_scale(const Index& at) const {
    const Number x = sum(at);
    if (parts_.activation == Activation::identity) return x;
    double auxiliary = 0;
    if (parts_.auxiliary && !parts_.writes_auxiliary) {
      auxiliary = whole(in_auxiliary, test_.operands.epilogue.auxiliary->layout, at).real();
    }
    return activate(parts_.activation, x.real(), auxiliary);
  }

  std::vector<Number> gradient() const {
    const Layout& of = parts_.gradient_of_a ? a_ : parts_.gradient_of_b ? b_ : test_.operands.d.layout;
    std::vector<Number> result(static_cast<std::size_t>(test_.operands.epilogue.gradient->layout.shape()[0]));
    Region all;
    for (const std::int64_t extent : of.shape()) all.sets.push_back(IndexSet::range(0, extent));
    const Op op = parts_.gradient_of_b ? test_.options.op_b : test_.options.op_a;
    const auto factor = [&](int array, const Layout& layout, const Index& at) {
      const Number value = whole(array, layout, at);
      return multiplication::conjugates(op) ? std::conj(value) : value;
    };
    for_each_index(all, [&](const Index& at) {
      const std::int64_t i = at[at.size() - (parts_.gradient_of_b ? 1 : 2)];
      result[static_cast<std::size_t>(i)] += parts_.gradient_of_a   ? factor(in_a, a_, at)
                                             : parts_.gradient_of_b ? factor(in_b, b_, at)
                                                                    : before_scale(at);
    });
    return result;
  }

 private:
  static std::int64_t row(const Index& at) { return at[at.size() - 2]; }
  static std::int64_t column(const Index& at) { return at[at.size() - 1]; }
  static Index batch_of(const Index& at, const Layout& layout) {
    Index result;
    for (int i = 0; i < layout.dimensions() - 2; ++i) result.push_back(at[i]);
    return result;
  }
  Number scale(int array, const std::optional<Operand>& operand, std::int64_t i) const {
    if (!operand) return 1;
    return whole(array, operand->layout, operand->layout.dimensions() == 0 ? Index{} : Index{i});
  }
  Number element(int array, const Layout& layout, Index at, std::int64_t i, std::int64_t j) const {
    at.push_back(i);
    at.push_back(j);
    return whole(array, layout, at);
  }
  Number whole(int array, const Layout& layout, const Index& at) const {
    const int contributions = contribution_of(layout, at, -1).second;
    Number result = 0;
    for (int c = 0; c < contributions; ++c) result += test_.value(array, at, c);
    return result;
  }

  const MatmulCase& test_;
  EpilogueParts parts_;
  Layout a_;
  Layout b_;
};

/// All ranks' plans, carried out in one process. What was never written is NaN, and must not show in D.
inline Verdict verdict_of(const MatmulCase& test, const Planner& planner, std::uint64_t seed,
                          int schedules = 4) {
  const Reference reference(test);
  const EpilogueParts parts = parts_of(test.options.epilogue);
  const bool product = test.parameters.alpha != Number(0);
  const bool reads_c = test.operands.c && test.parameters.beta != Number(0);
  const auto from = [&test](int array) {
    return [&test, array](const Index& at, int contribution) { return test.value(array, at, contribution); };
  };
  std::vector<OperandNumbers> operands;
  if (product || parts.gradient_of_a) operands.push_back({0, from(in_a)});
  if (product || parts.gradient_of_b) operands.push_back({1, from(in_b)});
  int buffer = test.operands.c ? 3 : 2;
  OperandNumbers d{buffer++, {}, [&](const Index& at) { return reference.d(at); }, test.in_place ? 2 : -1};
  if (reads_c && test.in_place) d.given = from(in_c);
  if (reads_c && !test.in_place) operands.push_back({2, from(in_c)});
  operands.push_back(d);
  if (parts.bias) operands.push_back({buffer++, from(in_bias)});
  if (parts.writes_auxiliary) {
    operands.push_back({buffer++, {}, [&](const Index& at) { return reference.sum(at); }});
  } else if (parts.auxiliary) {
    operands.push_back({buffer++, from(in_auxiliary)});
  }
  const std::vector<Number> gradient = parts.gradient ? reference.gradient() : std::vector<Number>();
  if (parts.gradient) {
    operands.push_back(
        {buffer++, {}, [&](const Index& at) { return gradient[static_cast<std::size_t>(at[0])]; }});
  }
  const auto scales = {std::pair(&test.operands.epilogue.scale_a, in_scale_a),
                       std::pair(&test.operands.epilogue.scale_b, in_scale_b),
                       std::pair(&test.operands.epilogue.scale_d, in_scale_d)};
  for (const auto& [scale, array] : scales) {
    if (*scale) operands.push_back({buffer++, from(array)});
  }
  if (test.operands.epilogue.amax_d)
    operands.push_back({buffer++, {}, [&](const Index&) { return Number(reference.amax()); }});
  return verify_numbers(planner, operands, test.parameters, schedules, seed);
}

inline void run(const MatmulCase& test, std::uint64_t seed) {
  const Verdict verdict = verdict_of(
      test, [&](int rank) { return test.plan(rank); }, seed);
  ASSERT_TRUE(verdict.ok()) << verdict.faults.front();
}

inline std::int64_t most_scratch(const MatmulCase& test) {
  std::int64_t most = 0;
  for (int rank = 0; rank < test.topology.ranks(); ++rank) {
    most = std::max(most, planning::scratch_bytes(test.plan(rank)));
  }
  return most;
}

}  // namespace partita::testing::matmul_numbers
