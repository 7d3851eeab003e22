// Ranks that execute different things: in any case every rank is notified, long before the deadline.
#include <partita/functions.hpp>

#include "device/run_ahead.hpp"
#include "runtime/checks/announcement.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/models/collectives_model.hpp"
#include "support/on_ranks.hpp"
#include "support/withdrawal.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

using Call = std::function<void()>;

/// What rank 0 executes where the others execute something else. Every rank may call both.
struct Calls {
  Call one, other;
};

struct Mismatch {
  const char* name;
  bool on_devices;                         ///< devices do it, too
  std::function<Calls(Context&)> prepare;  ///< collective
  const char* said = "";                   ///< by the error, of both
};

std::ostream& operator<<(std::ostream& out, const Mismatch& mismatch) {
  return out << mismatch.name;
}

// --- what differs

constexpr std::int64_t little = 5;
constexpr std::int64_t much = 300'001;  // in doubles more than packets are for

std::shared_ptr<Block> block(Context& context, const Shape& shape, Dtype dtype = Dtype::f64) {
  return std::make_shared<Block>(context, dtype, shape, usual_memory(context));
}

Calls operations(Context& context, std::int64_t elements) {
  const auto view = block(context, {elements});
  return {[=, &context] { all_reduce(context, view->view(), view->view()); },
          [=, &context] { broadcast(context, view->view()); }};
}

Calls reductions(Context& context, std::int64_t elements) {
  const auto view = block(context, {elements});
  const auto call = [=, &context](Reduction reduction) {
    return [=, &context] { all_reduce(context, view->view(), view->view(), {.reduction = reduction}); };
  };
  return {call(Reduction::sum), call(Reduction::max)};
}

Calls dtypes(Context& context) {
  const auto floats = block(context, {little}, Dtype::f32), integers = block(context, {little}, Dtype::i32);
  return {[=, &context] { broadcast(context, floats->view()); },
          [=, &context] { broadcast(context, integers->view()); }};
}

Calls roots_of_broadcast(Context& context, std::int64_t elements) {
  const auto view = block(context, {elements});
  return {[=, &context] { broadcast(context, view->view(), 0); },
          [=, &context] { broadcast(context, view->view(), 1); }};
}

Calls roots_of_gather(Context& context) {
  const auto part = block(context, {little}), whole = block(context, {little * context.size()});
  return {[=, &context] { gather(context, part->view(), whole->view(), 0); },
          [=, &context] { gather(context, part->view(), whole->view(), 1); }};
}

Calls scans(Context& context, const ReduceOptions& options, Scan kind) {
  const auto from = block(context, {little}), to = block(context, {little});
  return {[=, &context] { scan(context, from->view(), to->view()); },
          [=, &context] { scan(context, from->view(), to->view(), options, kind); }};
}

Calls counts(Context& context) {
  const int ranks = context.size();
  std::vector<std::int64_t> rising(static_cast<std::size_t>(ranks));
  std::iota(rising.begin(), rising.end(), 1);
  const std::vector<std::int64_t> falling(rising.rbegin(), rising.rend());
  const auto whole = block(context, {ranks * (ranks + 1) / 2});
  const auto call = [&](const std::vector<std::int64_t>& all) {
    const auto part = block(context, {all[static_cast<std::size_t>(context.rank())]});
    return [=, &context] { all_gather_v(context, part->view(), whole->view(), all); };
  };
  return {call(rising), call(falling)};
}

Calls halos(Context& context) {
  const auto array = std::make_shared<Array>(zeros(context, {24, 6}, Slab(0), Dtype::f32));
  const HaloOptions open{.lower = {1, 0}}, closed{.lower = {1, 0}, .periodic = {true, false}};
  const auto extended = block(context, halo_shape(array->layout(), context.rank(), open), Dtype::f32);
  return {[=] { halo_exchange(*array, extended->view(), open); },
          [=] { halo_exchange(*array, extended->view(), closed); }};
}

struct Square {
  explicit Square(Context& context, Dtype dtype = Dtype::f64)
      : rows(zeros(context, {24, 24}, Slab(0), dtype)),
        columns(zeros(context, {24, 24}, Slab(1), dtype)),
        result(zeros(context, {24, 24}, Slab(0), dtype)) {}
  Array rows, columns, result;
};

Calls directions(Context& context) {
  const auto square = std::make_shared<Square>(context);
  return {[=] { redistribute(square->rows, square->columns); },
          [=] { redistribute(square->columns, square->rows); }};
}

Calls axes(Context& context) {
  const auto square = std::make_shared<Square>(context);
  return {[=] { redistribute(square->rows, square->columns); },
          [=] {
            redistribute(square->rows, square->columns, {.axes = {1, 0}});
          }};
}

// Peers reach arrays by their place on the heap.
Calls arrays(Context& context) {
  const auto square = std::make_shared<Square>(context);
  return {[=] { redistribute(square->rows, square->columns); },
          [=] { redistribute(square->result, square->columns); }};
}

Calls arrays_in_ordinary_memory(Context& context) {
  const auto make = [&](int axis) {
    return std::make_shared<Array>(
        zeros(context, {24, 24}, Slab(axis), Dtype::f64, {.residency = Residency::ordinary}));
  };
  const auto one = make(0), other = make(0), to = make(1);
  return {[=] { redistribute(*one, *to); }, [=] { redistribute(*other, *to); }};
}

// Their sums would be added: a number that belongs to none.
Calls arrays_of_reductions(Context& context) {
  const auto square = std::make_shared<Square>(context);
  return {[=] { reduce(square->rows, ArrayReduction::sum); },
          [=] { reduce(square->result, ArrayReduction::sum); }};
}

Calls arrays_of_reductions_over_axes(Context& context) {
  const auto square = std::make_shared<Square>(context);
  const auto sums = std::make_shared<std::vector<Array>>();  // the places of the results stay different
  const auto call = [=](const Array& array) {
    return [=] { sums->push_back(reduce(array, ArrayReduction::sum, std::vector<int>{0})); };
  };
  return {call(square->rows), call(square->result)};
}

Calls arrays_made_alone(Context& context) {
  const auto square = std::make_shared<Square>(context);
  const auto call = [](const Array& array) {
    Array twice = empty_beside(array, array.layout(), array.dtype());
    add(array, array, twice);
    return [=] { reduce(twice, ArrayReduction::sum); };
  };
  return {call(square->rows), call(square->result)};
}

Calls arrays_of_inner_products(Context& context) {
  const auto square = std::make_shared<Square>(context);
  return {[=] { inner_product(square->rows, square->result, false); },
          [=] { inner_product(square->result, square->rows, false); }};
}

Calls fft_directions(Context& context) {
  const auto square = std::make_shared<Square>(context, Dtype::c128);
  FftOptions options{.norm = Norm::ortho};
  const auto plan = std::make_shared<FFT>(context, square->rows.operand(), square->rows.operand(), options);
  return {[=] { plan->execute(square->rows, square->result); },
          [=] { plan->inverse(square->rows, square->result); }};
}

Calls ffts(Context& context, Dtype dtype, const FftOptions& one, const FftOptions& other) {
  const auto square = std::make_shared<Square>(context, dtype);
  const auto call = [&](const FftOptions& options) {
    const auto plan = std::make_shared<FFT>(context, square->rows.operand(), square->rows.operand(), options);
    return [=] { plan->execute(square->rows, square->result); };
  };
  return {call(one), call(other)};
}

FftOptions of_kind(FftKind kind) {
  return {.kind = kind};
}

FftOptions along(int axis) {
  return {.axes = {axis}};
}

FftOptions with_norm(Norm norm) {
  return {.norm = norm};
}

Calls products(Context& context, const MatmulOptions& one, const MatmulOptions& other) {
  const auto square = std::make_shared<Square>(context);
  const auto call = [=](const MatmulOptions& options) {
    return [=] { matmul_into(square->rows, square->columns, nullptr, square->result, options); };
  };
  return {call(one), call(other)};
}

Calls shapes_of_products(Context& context) {
  const auto square = std::make_shared<Square>(context);
  const auto wider = std::make_shared<Array>(zeros(context, {24, 26}, Slab(1), Dtype::f64));
  const auto result = std::make_shared<Array>(zeros(context, {24, 26}, Slab(0), Dtype::f64));
  return {[=] { matmul_into(square->rows, square->columns, nullptr, square->result); },
          [=] { matmul_into(square->rows, *wider, nullptr, *result); }};
}

Calls solves(Context& context) {
  const auto square = std::make_shared<Square>(context);
  const auto lu = std::make_shared<Lu>(eye(context, 24, 24, Slab(0), Dtype::f64), FactorOptions{.block = 3});
  const auto call = [=](Op op) {
    return [=] { lu->solve_into(square->columns, square->result, {.op = op}); };
  };
  return {call(Op::none), call(Op::transpose)};
}

MatmulOptions with_epilogue(Epilogue epilogue) {
  return {.epilogue = epilogue};
}

MatmulOptions with_op(Op op) {
  return {.op_a = op};
}

MatmulOptions with_alpha(double alpha) {
  return {.alpha = alpha};
}

MatmulOptions with_compute(ComputeType compute) {
  return {.compute = compute};
}

const Mismatch mismatches[] = {
    {"Operation", true, [](Context& c) { return operations(c, little); },
     "the ranks called different operations: all_reduce on rank 0; broadcast on rank"},
    {"OperationOfMuch", true, [](Context& c) { return operations(c, much); }},
    {"Reduction", true, [](Context& c) { return reductions(c, little); },
     "all_reduce: the ranks disagree on reduction: sum on rank 0; max on rank"},
    {"ReductionOfMuch", true, [](Context& c) { return reductions(c, much); }},
    {"Dtype", true, dtypes, "broadcast: the ranks disagree on dtype: f32 on rank 0; i32 on rank"},
    {"Root", true, [](Context& c) { return roots_of_broadcast(c, little); },
     "broadcast: the ranks disagree on root: 0 on rank 0; 1 on rank"},
    {"RootOfMuch", true, [](Context& c) { return roots_of_broadcast(c, much); }},
    {"RootOfGather", true, roots_of_gather},
    {"ReductionOfScan", true,
     [](Context& c) { return scans(c, {.reduction = Reduction::max}, Scan::inclusive); }},
    {"KindOfScan", true, [](Context& c) { return scans(c, {}, Scan::exclusive); }},
    {"Counts", true, counts},
    {"Halo", true, halos},
    {"Direction", true, directions},
    {"Axes", true, axes},
    {"Arrays", true, arrays, "redistribute: the ranks disagree on the operands: array "},
    {"ArraysInOrdinaryMemory", true, arrays_in_ordinary_memory,
     "redistribute: the ranks disagree on the operands: array "},
    {"ArraysOfReductions", true, arrays_of_reductions, "sum: the ranks disagree on the operands: array "},
    {"ArraysOfReductionsOverAxes", true, arrays_of_reductions_over_axes,
     "the ranks disagree on the operands: array "},
    {"ArraysMadeAlone", true, arrays_made_alone,
     "sum: the ranks disagree on the operands: a result of array "},
    {"ArraysOfInnerProducts", true, arrays_of_inner_products,
     "dot: the ranks disagree on the operands: array "},
    {"DirectionOfTransform", false, fft_directions},
    {"KindOfTransform", false,
     [](Context& c) { return ffts(c, Dtype::f64, of_kind(FftKind::dct2), of_kind(FftKind::dct3)); }},
    {"AxisOfTransform", false, [](Context& c) { return ffts(c, Dtype::c128, along(0), along(1)); }},
    {"NormOfTransform", false,
     [](Context& c) { return ffts(c, Dtype::c128, with_norm(Norm::ortho), with_norm(Norm::forward)); }},
    {"Epilogue", true,
     [](Context& c) { return products(c, with_epilogue(Epilogue::relu), with_epilogue(Epilogue::gelu)); }},
    {"Op", true, [](Context& c) { return products(c, with_op(Op::none), with_op(Op::transpose)); }},
    {"ComputeType", true,
     [](Context& c) {
       return products(c, with_compute(ComputeType::automatic), with_compute(ComputeType::f64));
     }},
    {"Factor", true, [](Context& c) { return products(c, with_alpha(2), with_alpha(3)); },
     "matmul: the ranks disagree on factors: alpha 2+0i"},
    {"ShapeOfProduct", true, shapes_of_products},
    {"OpOfSolve", true, solves, "solve: the ranks disagree on passes: "},
};

// --- how it is executed

/// Of the test only if the context never fails: a notification by the deadline is too late.
constexpr auto soon = 10s;

ContextOptions patient() {
  return {.device = test_device(), .deadline = 90s};
}

/// Between nodes of devices a library may transfer the messages: there each rank has its own words.
bool may_disagree() {
  return ranks().count > 1 && (ranks().per_node == 0 || !has_devices());
}

bool suits(const Mismatch& mismatch) {
  return may_disagree() && (mismatch.on_devices || !has_devices());
}

/// The context's plans are made, and the ranks agree.
Calls executed_before(Context& context, const Mismatch& mismatch) {
  Calls calls = mismatch.prepare(context);
  for (int i = 0; i < 2; ++i) {
    calls.one();
    calls.other();
  }
  context.synchronize();
  context.barrier();
  return calls;
}

/// In the call itself, or where the ranks meet next: by the same words on all ranks. `may_be_done`: a rank
/// may have done its call before.
void expect_told(Context& context, const Call& call, const std::string& said = "", bool may_be_done = false) {
  const auto start = std::chrono::steady_clock::now();
  const std::string text = caught<DisagreementError>([&] {
    call();
    context.synchronize();
    context.barrier();
  });
  EXPECT_TRUE(contains(text, "the ranks") && contains(text, said)) << text;
  EXPECT_LT(std::chrono::steady_clock::now() - start, soon);
  if (context.state()->topology().node_count() == 1 || !has_devices())
    expect_same_text_on_all(context.rank(), text);
  expect_goes_on_where_it_can(context, may_be_done);
}

/// A rank needs nothing of those that are in the other call: all is local, or the root's is all.
bool may_be_done(const Mismatch& mismatch) {
  const std::string_view name = mismatch.name;
  return name == "Axes" || name == "AxisOfTransform" || (ranks().count > 2 && name.starts_with("Root"));
}

class Disagreement : public ::testing::TestWithParam<Mismatch> {
 protected:
  void SetUp() override {
    if (!suits(GetParam())) GTEST_SKIP() << "not here";
    if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  }
};

/// Large views of the host are looked for on the heap in every call, by all ranks, who see there that they
/// are in different calls: before anything is executed, so the context can still be used.
bool is_seen_before(const Mismatch& mismatch) {
  return !has_devices() && std::string_view(mismatch.name) == "OperationOfMuch";
}

TEST_P(Disagreement, IsToldByACachedCall) {
  on_ranks(
      [](Context& context) {
        const Calls calls = executed_before(context, GetParam());
        const Call& mine = context.rank() == 0 ? calls.one : calls.other;
        if (!is_seen_before(GetParam()))
          return expect_told(context, mine, GetParam().said, may_be_done(GetParam()));
        EXPECT_TRUE(contains(caught<DisagreementError>(mine), "the ranks called different operations"));
        EXPECT_FALSE(context.failed());
        calls.one();
      },
      patient());
}

INSTANTIATE_TEST_SUITE_P(Of, Disagreement, ::testing::ValuesIn(mismatches),
                         [](const auto& test) { return std::string(test.param.name); });

const Mismatch& mismatch_of(const std::string& name) {
  return *std::ranges::find_if(mismatches, [&](const Mismatch& one) { return one.name == name; });
}

// When the plan is made nothing has been executed yet, and the context can still be used.
RANK_TEST_WITH(DisagreementOf, PlansThatAreMade, patient()) {
  if (ranks().count == 1) return;
  for (const Mismatch& mismatch : mismatches) {
    if (!mismatch.on_devices && has_devices()) continue;
    const std::string name = mismatch.name;
    if (name.starts_with("Arrays") || name.starts_with("Direction")) continue;  // plans that both have
    if (name.ends_with("OfTransform")) continue;  // objects, which are made alike
    const Calls calls = mismatch.prepare(context);
    const std::string text =
        caught<DisagreementError>([&] { context.rank() == 0 ? calls.one() : calls.other(); });
    EXPECT_TRUE(contains(text, "disagree") || contains(text, "different operations")) << text;
    EXPECT_FALSE(context.failed()) << name;
  }
}

/// Nobody waits in a call: the watchdog sees it, and the next call says it.
void expect_seen_by_the_watchdog(const std::string& name) {
  on_ranks(
      [&](Context& context) {
        const Calls calls = executed_before(context, mismatch_of(name));
        context.rank() == 0 ? calls.one() : calls.other();
        const auto end = std::chrono::steady_clock::now() + soon;
        while (!context.failed() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
        EXPECT_TRUE(context.failed()) << name;
        EXPECT_ERROR(DisagreementError, context.synchronize(), "the ranks");
        EXPECT_ERROR(FailedContextError, context.synchronize());
      },
      patient());
}

TEST(DisagreementOf, StreamsThatNobodyWaitsFor) {
  NEEDS_DEVICES();
  if (ranks().count == 1 || ranks().per_node != 0) return;
  if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  expect_seen_by_the_watchdog("Reduction");        // packets
  expect_seen_by_the_watchdog("ReductionOfScan");  // flags
}

// A rank that is far ahead by then.
RANK_TEST_WITH(DisagreementOf, ExecutionsLongAgo, patient()) {
  if (!may_disagree()) return;
  if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  const Calls calls = executed_before(context, mismatch_of("ReductionOfScan"));
  expect_told(context, [&] {
    context.rank() == 0 ? calls.one() : calls.other();
    if (context.rank() != 1) {
      for (int i = 0; i < 100; ++i) calls.one();
    }
  });
}

// Between nodes: the sender may be the only one to see it, and all are notified alike.
TEST(DisagreementOf, SizesOfMessages) {
  if (ranks().count == 1) return;
  ContextOptions options = patient();
  options.ranks_per_node = 1;
  on_ranks(
      [](Context& context) {
        const auto few = block(context, {little}), more = block(context, {little + 2});
        for (int i = 0; i < 2; ++i) {
          broadcast(context, few->view());
          broadcast(context, more->view());
        }
        context.synchronize();
        context.barrier();
        expect_told(context, [&] { broadcast(context, (context.rank() == 0 ? few : more)->view()); });
      },
      options);
}

// The device would block the program inside of a launch, where no thread monitors peers.
RANK_TEST_WITH(DisagreementOf, AHostFarAheadOfItsDevice, patient()) {
  NEEDS_DEVICES();
  if (ranks().count == 1 || ranks().per_node != 0) return;
  const Calls calls = mismatch_of("ReductionOfScan").prepare(context);
  calls.one();
  context.synchronize();
  constexpr int many = 3 * static_cast<int>(devices::RunAhead::most);
  const runtime::ExecutionHistory& of_first = context.state()->board->executions(0);
  const std::uint64_t before = of_first.number();
  context.barrier();
  if (context.rank() != 0) {  // until the first rank comes no further
    for (std::uint64_t seen = before + 1; seen == before || seen != of_first.number();) {
      seen = of_first.number();
      std::this_thread::sleep_for(100ms);
    }
    EXPECT_GT(of_first.number(), before);
    EXPECT_LE(of_first.number(), before + devices::RunAhead::most);
  }
  for (int i = 0; i < many; ++i) calls.one();
  context.synchronize();
}

TEST(DisagreementOf, CallsOfAVendorsLibrary) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (ranks().count == 1 || ranks().per_node != 0) return;
  const FakeLibraryGiven library(FakeLibrary::moves_nothing);
  for (const char* name : {"ReductionOfMuch", "RootOfMuch", "OperationOfMuch"}) {
    on_ranks(
        [&](Context& context) {
          const Calls calls = executed_before(context, mismatch_of(name));
          EXPECT_NE(context.state()->device_group(), nullptr);
          expect_told(context, context.rank() == 0 ? calls.one : calls.other);
        },
        patient());
  }
}

// Captured executions are compared with captured ones; how often graphs are launched is unknown.
RANK_TEST_WITH(DisagreementOf, CapturedExecutions, patient()) {
  if (ranks().count == 1 || ranks().per_node != 0) return;
  runtime::announce(*context.state(), 1, "all_reduce", true);
  context.barrier();
  const auto capture = [&] {
    runtime::announce(*context.state(), context.rank() == 0 ? 2 : 3, "all_reduce", true);
  };
  expect_told(context, capture, "", true);
}

// What one rank calls again, another one calls for the first time.
RANK_TEST_WITH(DisagreementOf, ACallThatOneRankHasMadeBefore, patient()) {
  if (!may_disagree()) return;
  const auto view = block(context, {little});
  const auto call = [&](Reduction reduction) {
    all_reduce(context, view->view(), view->view(), {.reduction = reduction});
  };
  call(Reduction::sum);
  context.synchronize();
  expect_told(
      context, [&] { call(context.rank() == 0 ? Reduction::sum : Reduction::max); },
      "all_reduce: the ranks disagree on reduction: sum on rank 0; max on rank");
}

// One call too many, which the next one of the others would take for its own.
RANK_TEST_WITH(DisagreementOf, OneReductionTooMany, patient()) {
  if (!may_disagree()) return;
  if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  const Array a = zeros(context, {6, 4}, Slab(0), Dtype::f64);
  const Array b = zeros(context, {6, 4}, Slab(0), Dtype::f64);
  const auto sum = [](const Array& array) { return reduce(array, ArrayReduction::sum); };
  sum(a);
  sum(b);
  expect_told(
      context,
      [&] {
        if (context.rank() == 0) sum(a);
        sum(b);
      },
      "sum: the ranks disagree on the operands: array ");
}

// A rank that has executed less than the others when all meet.
RANK_TEST_WITH(DisagreementOf, NumbersOfExecutions, patient()) {
  if (ranks().count == 1) return;
  if (context.rank() == 0) runtime::announce(*context.state(), 1, "scan");
  EXPECT_ERROR(DisagreementError, context.barrier(),
               "barrier: the ranks disagree on the previous executions: 1 and 0 captured, "
               "the latest scan");
  EXPECT_TRUE(context.failed());
}

}  // namespace
}  // namespace partita::testing
