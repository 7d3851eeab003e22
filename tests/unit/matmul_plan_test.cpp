// Plans of all ranks of random multiplies, run on numbers.
#include <gtest/gtest.h>

#include <partita/error.hpp>
#include <partita/matmul.hpp>

#include "unit/matmul_case.hpp"

namespace partita {
namespace {

using multiplication::EpilogueParts;
using multiplication::op_space;
using multiplication::parts_of;
using testing::contribution_of;
using testing::MatmulCase;
using testing::NumericInterpreter;
using testing::RandomLayouts;
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
Plan with_one_memory(Plan plan, bool in_place) {
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
Number true_value(NumericInterpreter& machine, int buffer, int rank, const Index& at) {
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

void expect_array(NumericInterpreter& machine, int buffer, int ranks, const std::string& what,
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

void run(const MatmulCase& test, std::uint64_t seed) {
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

std::int64_t scratch_bytes(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.kind != BufferKind::operand) bytes += buffer.bytes;
  }
  return bytes;
}

std::int64_t most_scratch(const MatmulCase& test) {
  std::int64_t most = 0;
  for (int rank = 0; rank < test.topology.ranks(); ++rank) {
    most = std::max(most, scratch_bytes(test.plan(rank)));
  }
  return most;
}

TEST(MatmulPlan, MultipliesWhateverTheDistributionsAre) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const MatmulCase test = RandomMatmul(seed).make();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    run(test, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(MatmulPlan, KeepsToTheMemoryLimitOrSaysWhatWouldDo) {
  int kept = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    MatmulCase test = RandomMatmul(7000 + seed).make();
    const std::int64_t unlimited = most_scratch(test);
    if (unlimited < 2) continue;
    RandomLayouts random(seed);
    test.options.memory_limit = unlimited * random.number(20, 100) / 100;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    try {
      ASSERT_LE(most_scratch(test), test.options.memory_limit);
    } catch (const ArgumentError& error) {
      ASSERT_NE(std::string(error.what()).find("memory"), std::string::npos) << error.what();
      ++refused;
      continue;
    }
    ++kept;
    run(test, seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(kept, 5);
  EXPECT_GT(refused, 20);
}

/// The bytes that an error says would do; 0: it says nothing.
std::int64_t bytes_that_would_do(const std::string& text) {
  const std::size_t place = text.find("; ");
  return place == std::string::npos ? 0 : std::atoll(text.c_str() + place + 2);
}

// Operands that fit no method: what is redistributed before and after the multiply counts, too.
TEST(MatmulPlan, TheLimitHoldsForAllOfThePlan) {
  int kept = 0, redistributed = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    MatmulCase test = RandomMatmul(20000 + seed).make();
    test.options.method = MatmulMethod::automatic;
    RandomLayouts random(seed);
    test.options.memory_limit = random.number(1, 20000);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    for (int attempt = 0; attempt < 3; ++attempt) {
      try {
        ASSERT_LE(most_scratch(test), test.options.memory_limit);
        ++kept;
        redistributed += test.plan(0).reason.find("redistributed") != std::string::npos ? 1 : 0;
        break;
      } catch (const ArgumentError& error) {
        const std::int64_t enough = bytes_that_would_do(error.what());
        ASSERT_GT(enough, test.options.memory_limit) << error.what();
        ASSERT_LT(attempt, 2) << error.what();
        test.options.memory_limit = enough;
      }
    }
  }
  EXPECT_GT(kept, 1000);
  EXPECT_GT(redistributed, 200);
}

MatmulCase square(std::int64_t extent, const Distribution& distribution, const Topology& topology) {
  MatmulCase test;
  test.m = test.n = test.k = extent;
  test.topology = topology;
  const Layout layout(distribution, {extent, extent}, topology.ranks());
  const Operand operand = Operand::of(layout, Dtype::f64, Order::row_major, Residency::heap);
  test.operands = {operand, operand, {}, operand, {}, {}, {}};
  return test;
}

TEST(MatmulPlan, NothingIsCopiedThatTheLocalMultiplyCanReadWhereItLies) {
  for (const char* distribution : {"slab:0", "slab:1", "block-noncyclic:2x2", "block-cyclic:2x2:3x5"}) {
    const MatmulCase test = square(37, Distribution::parse(distribution), Topology::regular(4));
    for (int rank = 0; rank < 4; ++rank) {
      const Plan plan = test.plan(rank);
      EXPECT_EQ(scratch_bytes(plan), 0) << distribution;
      for (const Step& step : plan.steps) EXPECT_NE(step.kind, StepKind::copy) << distribution;
    }
    run(test, 1);
  }
}

TEST(MatmulPlan, TheOwnPieceComesFirstWhereOneOperandMoves) {
  MatmulCase test = square(16, Slab(0), Topology::regular(4));
  test.options.method = MatmulMethod::all_gather;
  const Plan plan = test.plan(2);
  std::vector<int> owners;
  for (const Work& work : plan.works) owners.push_back(std::get<Multiply>(work).b.place.rank);
  EXPECT_EQ(owners, (std::vector<int>{2, 3, 0, 1}));
}

std::vector<std::int64_t> first_rows(const Plan& plan) {
  std::vector<std::int64_t> rows;
  for (const Work& work : plan.works) rows.push_back(std::get<Multiply>(work).to.region.sets[0].front());
  return rows;
}

MatmulCase cut_along_k(std::int64_t extent) {
  MatmulCase test = square(extent, Slab(0), Topology::regular(4));
  test.operands.a.layout = Layout(Slab(1), {extent, extent}, 4);
  test.options.method = MatmulMethod::reduce_scatter;
  return test;
}

TEST(MatmulPlan, TheOwnPieceComesLastWhereSumsMove) {
  EXPECT_EQ(first_rows(cut_along_k(4096).plan(1)), (std::vector<std::int64_t>{2048, 3072, 0, 1024}));
}

TEST(MatmulPlan, ThinPiecesAreMadeByOneMultiply) {
  const MatmulCase test = cut_along_k(16);
  EXPECT_EQ(first_rows(test.plan(1)), (std::vector<std::int64_t>{0}));
  for (std::uint64_t seed = 0; seed < 20; ++seed) run(test, seed);
}

TEST(MatmulPlan, ThinPartsOfManyRanksAreMadeSquareFirst) {
  MatmulCase test = square(216, Slab(0), Topology::regular(216, 36));
  test.options.method = MatmulMethod::communication_avoiding;
  const Plan plan = test.plan(5);
  EXPECT_NE(plan.reason.find("a is redistributed"), std::string::npos) << plan.method << plan.reason;
  EXPECT_LT(plan.works.size(), 400u);
}

// Turns short enough that messages of several are under way.
TEST(MatmulPlan, MessagesAreCutIntoTurnsThatFitTheMemoryLimit) {
  for (const char* distribution : {"slab:0", "slab:1", "block-noncyclic:2x2", "block-cyclic:2x2:3x5"}) {
    MatmulCase test = square(20, Distribution::parse(distribution), Topology::regular(4, 1));
    test.k = 300;
    test.operands.a.layout = Layout(Distribution::parse(distribution), {20, 300}, 4);
    test.operands.b.layout = Layout(Distribution::parse(distribution), {300, 20}, 4);
    test.options.method = MatmulMethod::summa_c;
    test.options.memory_limit = 64000;
    SCOPED_TRACE(test.to_string());
    EXPECT_LE(most_scratch(test), 64000);
    for (std::uint64_t seed = 0; seed < 2; ++seed) run(test, seed);
  }
}

// What a turn needs of many owners is brought together, for one multiply.
TEST(MatmulPlan, WhatManyOwnersHoldIsGatheredIntoPanelsWithinAMemoryLimit) {
  struct Case {
    const char *a, *b, *d;
    int ranks_per_node;
  };
  std::uint64_t seed = 0;
  for (const auto& [a, b, d, ranks_per_node] :
       {Case{"slab:0", "slab:0", "slab:0", 8}, Case{"slab:1", "slab:1", "slab:1", 1},
        Case{"slab:0", "slab:0", "block-noncyclic:8x8", 5}}) {
    MatmulCase test = square(64, Slab(0), Topology::regular(64, ranks_per_node));
    test.k = 61;
    test.operands.a.layout = Layout(Distribution::parse(a), {64, 61}, 64);
    test.operands.b.layout = Layout(Distribution::parse(b), {61, 64}, 64);
    test.operands.d.layout = Layout(Distribution::parse(d), {64, 64}, 64);
    test.options.method = MatmulMethod::communication_avoiding;
    test.options.memory_limit = 30000;
    SCOPED_TRACE(test.to_string());
    const Plan plan = test.plan(37);
    EXPECT_LT(plan.works.size(), 20u) << plan.method;
    EXPECT_LE(scratch_bytes(plan), test.options.memory_limit);
    run(test, ++seed);
    if (HasFatalFailure()) return;
  }
}

TEST(MatmulPlan, IsQuicklyMadeForOneRankOfManyThousand) {
  for (const char* distribution : {"block-noncyclic:64x64", "block-cyclic:64x64:128x128", "slab:0"}) {
    const MatmulCase test = square(131072, Distribution::parse(distribution), Topology::regular(4096, 64));
    const Plan plan = test.plan(1234);
    EXPECT_LT(plan.steps.size(), 20000u) << distribution;
    EXPECT_LT(plan.works.size(), 8000u) << distribution;
  }
}

TEST(MatmulPlan, IsOneOperationOnAllRanks) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const MatmulCase test = RandomMatmul(seed).make();
    for (int rank = 1; rank < test.topology.ranks(); ++rank) {
      ASSERT_EQ(test.plan(rank).hash(), test.plan(0).hash()) << test.to_string();
    }
  }
}

class MatmulRefusal : public ::testing::Test {
 protected:
  void refuses(const std::string& text) {
    try {
      (void)test.plan(0);
      ADD_FAILURE() << "not refused: " << text;
    } catch (const ArgumentError& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }
  Operand vector(std::int64_t length, Dtype dtype = Dtype::f64) {
    return Operand::of(Layout(Slab(0), {length}, 2), dtype);
  }
  Operand matrix(std::int64_t rows, std::int64_t columns, Dtype dtype = Dtype::f64, int ranks = 2) {
    return Operand::of(Layout(Slab(0), {rows, columns}, ranks), dtype);
  }
  MatmulCase test = square(8, Slab(0), Topology::regular(2));
};

TEST_F(MatmulRefusal, ShapesThatDoNotMultiply) {
  test.operands.a = matrix(8, 7);
  refuses("columns of op(A)");
  test.operands.a = matrix(7, 8);
  refuses("rows of op(A)");
  test.operands.a = vector(8);
  refuses("at least two dimensions");
  test.operands.a = Operand::of(Layout(Slab(0), {2, 8, 8}, 2), Dtype::f64);
  refuses("leading dimensions");
}

TEST_F(MatmulRefusal, DtypesThatAreNotSupportedTogether) {
  test.operands.b = matrix(8, 8, Dtype::f32);
  refuses("supported are f32");
  test.operands.a = test.operands.b = matrix(8, 8, Dtype::i32);
  refuses("matrices of i32");
  test.operands.a = test.operands.b = matrix(8, 8, Dtype::bf16);
  refuses("into one of f64");
  test.operands.a = test.operands.b = matrix(8, 8);
  test.options.compute = Dtype::f32;
  refuses("compute in f32");
}

TEST_F(MatmulRefusal, LayoutsOfAnotherGroup) {
  test.operands.a = matrix(8, 8, Dtype::f64, 3);
  refuses("over the 2 ranks");
}

TEST_F(MatmulRefusal, ArraysThatDoNotSuitTheEpilogue) {
  test.operands.bias = vector(8);
  refuses("has no bias");
  test.options.epilogue = Epilogue::bias;
  test.operands.bias = vector(7);
  refuses("bias has shape");
  test.operands.bias = std::nullopt;
  refuses("needs a bias");
  test.options.epilogue = Epilogue::all_reduce;
  refuses("all_reduce");
}

TEST_F(MatmulRefusal, ActivationsOfComplexNumbers) {
  test.operands.a = test.operands.b = test.operands.d = matrix(8, 8, Dtype::c128);
  test.options.epilogue = Epilogue::relu;
  refuses("not defined for c128");
}

TEST_F(MatmulRefusal, ALimitTooSmallForAnyMethod) {
  test.topology = Topology::regular(2, 1);
  test.options.memory_limit = 8;
  refuses("memory");
}

}  // namespace
}  // namespace partita
