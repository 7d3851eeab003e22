// What a call returns where one rank has called something else, and all is cached: the numbers of this call,
// or an error; never numbers that belong partly to another call. In a node and between nodes, where numbers
// reach a rank through others that have called the same as it.
#include <partita/call_names.hpp>
#include <partita/functions.hpp>
#include <partita/nan_reductions.hpp>
#include <partita/refusal.hpp>

#include "support/fakes/fake_device.hpp"
#include "support/models/collectives_model.hpp"
#include "support/on_ranks.hpp"
#include "support/withdrawal.hpp"

namespace partita::testing::returned_numbers {
namespace {

using namespace std::chrono_literals;

using Numbers = std::vector<double>;

/// A blocking call in two variants, which all ranks choose alike where they do the same, and what it has left
/// on this rank.
using Call = std::function<Numbers(bool other)>;

/// Where it is tested: on devices ways depend on the size.
enum Where : std::uint8_t { on_hosts = 1, on_devices = 2, anywhere = 3 };

struct Called {
  const char* name;
  Where where;
  std::function<Call(Context&)> prepare;  ///< collective
};

std::ostream& operator<<(std::ostream& out, const Called& called) {
  return out << called.name;
}

/// Past the library, whose calls compare, too.
Numbers numbers_of(const Array& array) {
  const std::int64_t bytes = array.local_size() * size_of(array.dtype());
  Numbers numbers(static_cast<std::size_t>(bytes) / sizeof(double));
  const View& local = array.local();
  if (bytes > 0 && local.space == MemorySpace::device) {
    array.context_state()->device->physical().copy_past(numbers.data(), local.data, bytes);
  } else if (bytes > 0) {
    std::memcpy(numbers.data(), local.data, static_cast<std::size_t>(bytes));
  }
  return numbers;
}

/// Of equal shape, with other numbers.
struct Arrays {
  Arrays(const Context& context, const Shape& shape, const Distribution& distribution,
         Dtype dtype = Dtype::f64)
      : one(zeros(context, shape, distribution, dtype)), other(zeros(context, shape, distribution, dtype)) {
    write_values(one, [](std::int64_t number) { return static_cast<double>(number % 31); });
    write_values(other, [](std::int64_t number) { return static_cast<double>(1000 + number % 37); });
  }
  const Array& operator[](bool is_other) const { return is_other ? other : one; }
  Array one, other;
};

Call sums(Context& context) {
  const auto x = std::make_shared<Arrays>(context, Shape{24, 6}, Slab(0));
  return [=](bool other) { return Numbers{reduce((*x)[other], ArrayReduction::sum).as<double>()}; };
}

Call sums_over_an_axis(Context& context) {
  const auto x = std::make_shared<Arrays>(context, Shape{24, 6}, Slab(0));
  return
      [=](bool other) { return numbers_of(reduce((*x)[other], ArrayReduction::sum, std::vector<int>{0})); };
}

Call places_of_extremes(Context& context) {
  const auto x = std::make_shared<Arrays>(context, Shape{24, 6}, Slab(0));
  return [=](bool other) {
    const Index place = argmax((*x)[other]);
    return Numbers(place.begin(), place.end());
  };
}

Call running_sums(Context& context) {
  const auto x = std::make_shared<Arrays>(context, Shape{24, 6}, Slab(0));
  return [=](bool other) { return numbers_of(cumsum((*x)[other], 0)); };
}

Call reductions(Context& context, std::int64_t elements) {
  const auto x = std::make_shared<Arrays>(context, Shape{elements * context.size()}, Slab(0));
  const auto to = std::make_shared<Array>(zeros(context, {elements * context.size()}, Slab(0), Dtype::f64));
  return [=, &context](bool other) {
    const Reduction reduction = other ? Reduction::max : Reduction::sum;
    all_reduce(context, x->one.local(), to->local(), {.reduction = reduction});
    context.synchronize();
    return numbers_of(*to);
  };
}

Call broadcasts(Context& context, std::int64_t elements) {
  const auto x = std::make_shared<Array>(zeros(context, {elements * context.size()}, Slab(0), Dtype::f64));
  return [=, &context](bool other) {
    write_constant(*x, context.rank() + 1);
    context.synchronize();
    broadcast(context, x->local(), other ? 1 : 0);
    context.synchronize();
    return numbers_of(*x);
  };
}

Call redistributions(Context& context, std::int64_t size) {
  const auto x = std::make_shared<Arrays>(context, Shape{size, size}, Slab(0));
  const auto to = std::make_shared<Array>(zeros(context, {size, size}, Slab(1), Dtype::f64));
  return [=](bool other) {
    redistribute((*x)[other], *to);
    return numbers_of(*to);
  };
}

/// The first one in nodes, for which no host waits, the second one between nodes.
Call redistributions_in_two_steps(Context& context) {
  constexpr std::int64_t size = 24;
  const int rows = context.size() % 2 == 0 ? 2 : 1;
  const auto x = std::make_shared<Arrays>(context, Shape{size, size}, Slab(0));
  const auto between = std::make_shared<Array>(
      zeros(context, {size, size}, BlockNonCyclic(ProcessGrid({rows, context.size() / rows})), Dtype::f64));
  const auto to = std::make_shared<Array>(zeros(context, {size, size}, Slab(1), Dtype::f64));
  const auto first = std::make_shared<Redistribute>(context, x->one.operand(), between->operand());
  const auto second = std::make_shared<Redistribute>(context, between->operand(), to->operand());
  return [=, &context](bool other) {
    first->execute((*x)[other], *between, context.stream());
    second->execute(*between, *to);
    return numbers_of(*to);
  };
}

Call products(Context& context, std::int64_t size) {
  const auto x =
      std::make_shared<Arrays>(context, Shape{size, size}, BlockCyclic({1, context.size()}, {3, 5}));
  const auto right = std::make_shared<Array>(eye(context, size, size, Slab(1), Dtype::f64));
  const auto to = std::make_shared<Array>(zeros(context, {size, size}, Slab(0), Dtype::f64));
  return [=](bool other) {
    matmul_into((*x)[other], *right, nullptr, *to);
    return numbers_of(*to);
  };
}

/// In two exchanges: what comes in the second one is of ranks with which this one has no contact.
Call transforms(Context& context, std::int64_t size) {
  const int rows = context.size() % 2 == 0 ? 2 : 1;
  const std::vector<int> grid{rows, context.size() / rows};
  const BlockNonCyclic pencils(ProcessGrid({grid[0], grid[1], 1}));
  const auto x = std::make_shared<Arrays>(context, Shape{size, size, size}, pencils, Dtype::c128);
  const auto to = std::make_shared<Array>(zeros(context, {size, size, size}, pencils, Dtype::c128));
  const FftOptions options{.output = Output::as_input, .method = FftMethod::pencil, .grid = grid};
  const auto plan = std::make_shared<FFT>(context, x->one.operand(), to->operand(), options);
  return [=](bool other) {
    plan->execute((*x)[other], *to);
    return numbers_of(*to);
  };
}

Call ghost_cells(Context& context) {
  const auto x = std::make_shared<Arrays>(context, Shape{24, 6}, Slab(0));
  const HaloOptions halo{.lower = {1, 0}, .upper = {1, 0}, .periodic = {true, false}};
  const Shape extents = halo_shape(x->one.layout(), context.rank(), halo);
  const auto to =
      std::make_shared<Array>(zeros(context, {extents[0] * context.size(), extents[1]}, Slab(0), Dtype::f64));
  return [=](bool other) {
    halo_exchange((*x)[other], to->local(), halo);
    to->context().synchronize();
    return numbers_of(*to);
  };
}

/// Of a matrix: what a function that consists of several steps leaves.
using OfMatrix = std::function<Numbers(const Array&)>;

std::function<Call(Context&)> composed(const Shape& shape, const OfMatrix& function) {
  return [=](Context& context) -> Call {
    const auto x = std::make_shared<Arrays>(context, shape, Slab(0));
    return [=](bool other) { return function((*x)[other]); };
  };
}

const Called calls[] = {
    {"Sum", anywhere, sums},
    {"SumOverAnAxis", on_hosts, sums_over_an_axis},
    {"PlaceOfTheLargest", on_hosts, places_of_extremes},
    {"RunningSums", on_hosts, running_sums},
    {"Reduction", anywhere, [](Context& c) { return reductions(c, 5); }},
    {"ReductionOfMuch", on_devices, [](Context& c) { return reductions(c, 150'001); }},
    {"Broadcast", on_hosts, [](Context& c) { return broadcasts(c, 5); }},
    {"BroadcastOfMuch", on_devices, [](Context& c) { return broadcasts(c, 150'001); }},
    {"Redistribution", on_hosts, [](Context& c) { return redistributions(c, 24); }},
    {"RedistributionOfMuch", on_devices, [](Context& c) { return redistributions(c, 900); }},
    {"RedistributionInTwoSteps", on_devices, redistributions_in_two_steps},
    {"Product", on_hosts, [](Context& c) { return products(c, 24); }},
    {"ProductOfMuch", on_devices, [](Context& c) { return products(c, 400); }},
    {"Transform", anywhere, [](Context& c) { return transforms(c, 8); }},
    {"TransformOfMuch", on_devices, [](Context& c) { return transforms(c, 32); }},
    {"GhostCells", anywhere, ghost_cells},
    {"Variance", anywhere, composed({24, 6}, [](const Array& x) { return Numbers{var(x)}; })},
    {"VarianceOverAnAxis", anywhere,
     composed({24, 6}, [](const Array& x) { return numbers_of(var(x, std::vector<int>{0})); })},
    {"Width", anywhere, composed({24, 6}, [](const Array& x) { return Numbers{ptp(x).as<double>()}; })},
    {"Count", anywhere,
     composed({24, 6}, [](const Array& x) { return Numbers{static_cast<double>(count_nonzero(x))}; })},
    {"MeanOfNumbers", anywhere,
     composed({24, 6}, [](const Array& x) { return Numbers{nanmean(x).as<double>()}; })},
    {"MeansOfNumbers", anywhere,
     composed({24, 6}, [](const Array& x) { return numbers_of(nanmean(x, std::vector<int>{0})); })},
    {"LargestNumbers", anywhere,
     composed({24, 6}, [](const Array& x) { return numbers_of(nanmax(x, std::vector<int>{0})); })},
    {"VarianceOfNumbers", anywhere, composed({24, 6}, [](const Array& x) { return Numbers{nanvar(x)}; })},
    {"VariancesOfNumbers", anywhere,
     composed({24, 6}, [](const Array& x) { return numbers_of(nanvar(x, std::vector<int>{0})); })},
    {"MedianOfNumbers", anywhere, composed({24, 6}, [](const Array& x) { return Numbers{nanmedian(x)}; })},
    {"Median", anywhere, composed({24, 6}, [](const Array& x) { return Numbers{median(x)}; })},
    {"MedianOverAnAxis", anywhere,
     composed({24, 6}, [](const Array& x) { return numbers_of(median(x, std::vector<int>{0})); })},
    {"Quantile", anywhere, composed({24, 6}, [](const Array& x) { return Numbers{quantile(x, 0.3)}; })},
    {"Sort", anywhere, composed({24}, [](const Array& x) { return numbers_of(sort(x)); })},
    {"SortAlongAnAxis", anywhere, composed({24, 6}, [](const Array& x) { return numbers_of(sort(x, 0)); })},
    {"Norm", anywhere, composed({24, 6}, [](const Array& x) { return Numbers{norm<double>(x)}; })},
    {"SingularValues", on_hosts, composed({8, 8}, [](const Array& x) { return numbers_of(svdvals(x)); })},
};

// --- the ranks and their nodes

struct Nodes {
  int ranks_per_node;
  FakeLibrary library = FakeLibrary::none;
};

/// Four ranks where they are threads: with two nodes each rank has one partner in its own and one in the
/// other.
void on_nodes(const Nodes& nodes, const std::function<void(Context&)>& body) {
  const FakeLibraryGiven library(nodes.library);
  const ContextOptions options{
      .device = test_device(), .deadline = 60s, .ranks_per_node = nodes.ranks_per_node};
  if (ranks().kind != GroupKind::threads) return on_ranks(body, options);
  ThreadGroup::run(4, body, options);
}

std::vector<Nodes> all_nodes() {
  std::vector<Nodes> all{{0}, {1}, {2}};
  if (tests_fake_devices() && ranks().kind == GroupKind::threads) {
    all.push_back({1, FakeLibrary::moves});
    all.push_back({2, FakeLibrary::moves});
  }
  return all;
}

/// The numbers of 2^k elements of a transform are as precise as this.
bool are_equal(const Numbers& found, const Numbers& right) {
  return std::ranges::equal(found, right, [](double a, double b) { return std::abs(a - b) <= 1e-6; });
}

/// What a rank calls: a rank that calls the one only sees the others do so, or do the other.
using Program = std::function<void(const std::function<void(bool other)>& call, bool is_odd)>;

void expect_no_wrong_number(Context& context, const Called& called, const Program& program, int odd) {
  const Call call = called.prepare(context);
  std::array<Numbers, 2> right;
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const bool other : {false, true}) right[other ? 1 : 0] = call(other);
  }
  context.synchronize();
  context.barrier();
  const auto start = std::chrono::steady_clock::now();
  caught<DisagreementError>([&] {
    program(
        [&](bool other) {
          EXPECT_TRUE(are_equal(call(other), right[other ? 1 : 0]))
              << called.name << " on rank " << context.rank() << ", "
              << context.state()->topology().node_count() << " nodes, the odd one is " << odd;
        },
        context.rank() == odd);
    context.barrier();
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
}

class ReturnedNumbers : public ::testing::TestWithParam<Called> {
 protected:
  void SetUp() override {
    const bool threads = ranks().kind == GroupKind::threads;
    if (threads ? ranks().count != 3 : ranks().count == 1)
      GTEST_SKIP() << "tested with 3 ranks, which are then 4";
    if (ranks().per_node != 0) GTEST_SKIP() << "makes its own nodes";
    if ((GetParam().where & (has_devices() ? on_devices : on_hosts)) == 0) GTEST_SKIP() << "tested elsewhere";
    if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  }
  /// `odd`: the rank that differs; -1: the last one.
  static void expect_no_wrong_number_with(int odd, const Program& program) {
    for (const Nodes& nodes : all_nodes()) {
      on_nodes(nodes, [&](Context& context) {
        expect_no_wrong_number(context, GetParam(), program, odd < 0 ? context.size() - 1 : odd);
      });
    }
  }
};

TEST_P(ReturnedNumbers, OfARankThatCallsTheOther) {
  expect_no_wrong_number_with(-1, [](const std::function<void(bool other)>& call, bool is_odd) {
    call(is_odd);
    for (int repeat = 0; repeat < 2; ++repeat) call(false);
  });
}

TEST_P(ReturnedNumbers, OfARankWithOneCallTooMany) {
  expect_no_wrong_number_with(0, [](const std::function<void(bool other)>& call, bool is_odd) {
    if (is_odd) call(false);
    for (int repeat = 0; repeat < 2; ++repeat) call(true);
  });
}

INSTANTIATE_TEST_SUITE_P(Of, ReturnedNumbers, ::testing::ValuesIn(calls),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(OriginsOfArrays, AreEqualOnAllRanksAndOthersForEachArray) {
  on_ranks([](Context& context) {
    const Array x = zeros(context, {24, 6}, Slab(0), Dtype::f64);
    const Array y = zeros(context, {24, 6}, Slab(0), Dtype::f64);
    EXPECT_EQ(origin_of(x).find("array "), 0U);
    EXPECT_NE(origin_of(x), origin_of(y));
    EXPECT_EQ(origin_of(x.window({1, 0}, {5, 6})), origin_of(x));
    agree(context, "origins", [&] { return std::vector<Fact>{{"y", origin_of(y)}}; });
    const Array result = empty_beside(empty_beside(x, x.layout(), Dtype::f32), y.layout(), Dtype::f64);
    EXPECT_EQ(origin_of(result), "a result of " + origin_of(x));
    Operand operand = x.operand();
    operand.residency = Residency::ordinary;
    Array wrapped = wrap(context, x.local(), operand);
    EXPECT_EQ(origin_of(wrapped), "");
    EXPECT_EQ(origin_of(empty_beside(wrapped, x.layout(), Dtype::f64)), "");
    set_origin(wrapped, result);
    EXPECT_EQ(origin_of(wrapped), origin_of(result));
    EXPECT_THROW((void)origin_of(Array()), ArgumentError);
    EXPECT_THROW(set_origin(wrapped, Array()), ArgumentError);
  });
}

}  // namespace
}  // namespace partita::testing::returned_numbers
