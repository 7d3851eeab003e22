// Plans of all ranks of random multiplies, run on numbers.
#pragma once

#include <gtest/gtest.h>

#include <partita/matmul.hpp>

#include "unit/matmul_case.hpp"

namespace partita::testing::matmul_numbers {

using multiplication::EpilogueParts;
using multiplication::op_space;
using multiplication::parts_of;
using Number = NumericInterpreter::Number;

enum Array : int { in_a, in_b, in_c, in_bias, in_auxiliary };

class RandomMatmul {
 public:
  explicit RandomMatmul(std::uint64_t seed) : random_(seed) {}

  MatmulCase make() {
    MatmulCase test;
    const int ranks = random_.number(1, 6);
    test.topology = topology(ranks);
    if (random_.maybe(0.3)) test.batch = {random_.number(1, 3)};
    for (std::int64_t* extent : {&test.m, &test.n, &test.k}) {
      *extent = random_.maybe(0.05) ? 0 : random_.number(1, random_.maybe(0.2) ? 1 : 11);
    }
    test.options.op_a = static_cast<Op>(random_.number(0, 3));
    test.options.op_b = static_cast<Op>(random_.number(0, 3));
    test.options.method = static_cast<MatmulMethod>(random_.number(0, 8));
    if (test.options.method == MatmulMethod::local) test.options.method = MatmulMethod::automatic;
    const auto dtypes = {Dtype::f64, Dtype::c128, Dtype::bf16, Dtype::f32};
    const Dtype dtype = *(dtypes.begin() + random_.number(0, 3));
    const Dtype result = dtype == Dtype::bf16 && random_.maybe() ? Dtype::f32 : dtype;
    add_operands(test, ranks, dtype, result);
    add_epilogue(test, ranks);
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

  Operand operand(const Shape& shape, int ranks, Dtype dtype) {
    Operand result = Operand::of(random_.layout(shape, ranks), dtype,
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
    test.operands.b = operand(
        with_batch(random_.maybe(0.7) ? batch : none, test.k, test.n, test.options.op_b), ranks, dtype);
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
    if (is_complex(result) && parts.activation != Activation::identity) {
      test.options.epilogue = Epilogue::none;
      return;
    }
    if (parts.everywhere) {
      test.operands.d.layout = Layout(Replicated(), test.operands.d.layout.shape(), ranks);
      if (test.in_place) test.operands.c = test.operands.d;
    }
    if (parts.bias) test.operands.bias = operand({test.m}, ranks, result);
    if (parts.auxiliary) test.operands.auxiliary = operand(test.operands.d.layout.shape(), ranks, result);
    if (parts.gradient)
      test.operands.gradient = operand({parts.gradient_of_b ? test.n : test.m}, ranks, result);
  }

  RandomLayouts random_;
};

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
    result *= test_.parameters.alpha;
    if (test_.operands.c && test_.parameters.beta != Number(0)) {
      result += test_.parameters.beta * whole(in_c, test_.operands.c->layout, at);
    }
    if (parts_.bias) result += whole(in_bias, test_.operands.bias->layout, {row(at)});
    return result;
  }
  Number d(const Index& at) const {
    const Number x = sum(at);
    if (parts_.activation == Activation::identity) return x;
    double auxiliary = 0;
    if (parts_.auxiliary && !parts_.writes_auxiliary) {
      auxiliary = whole(in_auxiliary, test_.operands.auxiliary->layout, at).real();
    }
    return NumericInterpreter::activate(parts_.activation, x.real(), auxiliary);
  }

  std::vector<Number> gradient() const {
    const Layout& of = parts_.gradient_of_a ? a_ : parts_.gradient_of_b ? b_ : test_.operands.d.layout;
    std::vector<Number> result(static_cast<std::size_t>(test_.operands.gradient->layout.shape()[0]));
    Region all;
    for (const std::int64_t extent : of.shape()) all.sets.push_back(IndexSet::range(0, extent));
    NumericInterpreter::for_each(all, [&](const Index& at) {
      const std::int64_t i = at[at.size() - (parts_.gradient_of_b ? 1 : 2)];
      result[static_cast<std::size_t>(i)] += parts_.gradient_of_a   ? whole(in_a, a_, at)
                                             : parts_.gradient_of_b ? whole(in_b, b_, at)
                                                                    : d(at);
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

/// Writes what the caller gives, as each rank enters its plan, and spoils it where the rank leaves.
class Caller {
 public:
  Caller(const MatmulCase& test, NumericInterpreter& machine)
      : test_(test), machine_(machine), parts_(parts_of(test.options.epilogue)) {}

  void begin(int rank) {
    // What was never written is NaN, and must not show in D.
    const bool product = test_.parameters.alpha != Number(0);
    if (product || parts_.gradient_of_a) write(0, in_a, rank);
    if (product || parts_.gradient_of_b) write(1, in_b, rank);
    if (test_.operands.c && test_.parameters.beta != Number(0)) write(2, in_c, rank);
    if (test_.in_place) machine_.memory(d(), rank) = machine_.memory(2, rank);
    int buffer = d() + 1;
    if (parts_.bias) write(buffer++, in_bias, rank);
    if (parts_.auxiliary && !parts_.writes_auxiliary) write(buffer, in_auxiliary, rank);
  }
  void end(int rank) {
    std::vector<int> given{0, 1};
    if (test_.operands.c) given.push_back(2);
    if (parts_.bias) given.push_back(d() + 1);
    for (const int buffer : given) {
      for (Number& element : machine_.memory(buffer, rank)) element = NumericInterpreter::poison();
    }
  }
  int d() const { return test_.operands.c ? 3 : 2; }
  int auxiliary() const { return d() + (parts_.bias ? 2 : 1); }
  int gradient() const { return d() + 1 + (parts_.bias ? 1 : 0) + (parts_.auxiliary ? 1 : 0); }

 private:
  void write(int buffer, int array, int rank) {
    const Layout& layout = machine_.plan(rank).buffers[static_cast<std::size_t>(buffer)].operand->layout;
    machine_.write(buffer, rank, [&](const Index& at) {
      return test_.value(array, at, contribution_of(layout, at, rank).first);
    });
  }

  const MatmulCase& test_;
  NumericInterpreter& machine_;
  EpilogueParts parts_;
};

// The interpreter keeps c and d apart; in place they are one.
inline Plan with_one_memory(Plan plan, bool in_place) {
  if (!in_place) return plan;
  for (Work& work : plan.works) {
    if (auto* epilogue = std::get_if<ApplyEpilogue>(&work)) {
      if (epilogue->has_c && epilogue->c.place.buffer == 2) epilogue->c.place.buffer = 3;
    }
  }
  for (Step& step : plan.steps) {
    if (step.kind == StepKind::copy && step.from.buffer == 2) step.from.buffer = 3;
  }
  return plan;
}

// What the rank holds, or, of an array of contributions, their sum.
inline Number true_value(NumericInterpreter& machine, int buffer, int rank, const Index& at) {
  const Layout& layout = machine.plan(rank).buffers[static_cast<std::size_t>(buffer)].operand->layout;
  Number result = machine.read(buffer, rank, at);
  const int own = contribution_of(layout, at, rank).first;
  Region one;
  for (const std::int64_t i : at) one.sets.push_back(IndexSet::range(i, i + 1));
  const auto contributions = layout.cells(one).at(0).contributions;
  for (std::size_t c = 0; c < contributions.size(); ++c) {
    if (static_cast<int>(c) != own) result += machine.read(buffer, contributions[c].front(), at);
  }
  return result;
}

inline void expect_array(NumericInterpreter& machine, int buffer, int ranks, const std::string& what,
                         const std::function<Number(const Index&)>& wanted) {
  for (int rank = 0; rank < ranks; ++rank) {
    const Layout& layout = machine.plan(rank).buffers[static_cast<std::size_t>(buffer)].operand->layout;
    NumericInterpreter::for_each(layout.region(rank), [&](const Index& at) {
      const Number expected = wanted(at);
      const Number found = true_value(machine, buffer, rank, at);
      ASSERT_LE(std::abs(found - expected), 1e-9 * (1 + std::abs(expected)))
          << what << " at " << to_string(at) << " of rank " << rank << ": " << found << ", not " << expected;
    });
    if (::testing::Test::HasFatalFailure()) return;
  }
}

inline void run(const MatmulCase& test, std::uint64_t seed) {
  const int ranks = test.topology.ranks();
  NumericInterpreter machine([&](int rank) { return with_one_memory(test.plan(rank), test.in_place); }, ranks,
                             seed, test.parameters);
  Caller caller(test, machine);
  const std::string fault =
      machine.run([&](int rank) { caller.begin(rank); }, [&](int rank) { caller.end(rank); });
  ASSERT_EQ(fault, "");
  const Reference reference(test);
  expect_array(machine, caller.d(), ranks, "D", [&](const Index& at) { return reference.d(at); });
  const EpilogueParts parts = parts_of(test.options.epilogue);
  if (parts.writes_auxiliary) {
    expect_array(machine, caller.auxiliary(), ranks, "auxiliary",
                 [&](const Index& at) { return reference.sum(at); });
  }
  if (!parts.gradient) return;
  const std::vector<Number> gradient = reference.gradient();
  expect_array(machine, caller.gradient(), ranks, "gradient",
               [&](const Index& at) { return gradient[static_cast<std::size_t>(at[0])]; });
}

inline std::int64_t scratch_bytes(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.kind != BufferKind::operand) bytes += buffer.bytes;
  }
  return bytes;
}

inline std::int64_t most_scratch(const MatmulCase& test) {
  std::int64_t most = 0;
  for (int rank = 0; rank < test.topology.ranks(); ++rank) {
    most = std::max(most, scratch_bytes(test.plan(rank)));
  }
  return most;
}

}  // namespace partita::testing::matmul_numbers
