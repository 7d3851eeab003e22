// Matrix multiply of everything by everything, against sums in wider numbers.
#include "support/models/matmul_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

constexpr std::array dtypes{Dtype::f32, Dtype::f64,  Dtype::c64, Dtype::c128,
                            Dtype::f16, Dtype::bf16, Dtype::i8,  Dtype::f8e4m3};
constexpr std::array results_of_float8{Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2};
constexpr std::array methods{
    MatmulMethod::local,          MatmulMethod::all_gather,
    MatmulMethod::reduce_scatter, MatmulMethod::all_reduce,
    MatmulMethod::summa_c,        MatmulMethod::summa_a,
    MatmulMethod::summa_b,        MatmulMethod::communication_avoiding,
};

template <class Values>
auto pick(RandomLayouts& random, const Values& values) {
  return values[static_cast<std::size_t>(random.number(0, static_cast<int>(values.size()) - 1))];
}

struct Case {
  Shape batch;
  bool batched_a = true, batched_b = true;
  std::int64_t m = 1, n = 1, k = 1;
  Dtype dtype = Dtype::f64;
  Dtype dtype_b = Dtype::f64;
  Dtype result = Dtype::f64;
  MatmulOptions options;
  bool with_c = false, in_place = false, fresh = false;
  std::vector<Layout> layouts;  // of a, b, c, d
  std::vector<Lies> lies;

  Shape shape_a() const { return stored_shape(batched_a ? batch : Shape{}, m, k, options.op_a); }
  Shape shape_b() const { return stored_shape(batched_b ? batch : Shape{}, k, n, options.op_b); }
  Shape shape_d() const { return stored_shape(batch, m, n, Op::none); }

  std::string text() const {
    std::string line = plan_text();
    for (std::size_t x = 0; x < layouts.size(); ++x) {
      line += " | " + layouts[x].to_string() + " lies " + std::to_string(static_cast<int>(lies[x]));
    }
    return line;
  }
  std::string plan_text() const {
    return std::string(name(dtype)) + " by " + std::string(name(dtype_b)) + " into " +
           std::string(name(result)) + " ops " + std::to_string(static_cast<int>(options.op_a)) +
           std::to_string(static_cast<int>(options.op_b)) + " method " +
           std::to_string(static_cast<int>(options.method)) + " alpha " +
           std::to_string(options.alpha.real()) + " beta " + std::to_string(options.beta.real()) +
           (with_c ? " c" : "") + (in_place ? " in place" : "") + (fresh ? " new" : "");
  }
};

void choose_factors(RandomLayouts& random, Case& choice) {
  const bool real = !is_complex(choice.dtype), whole = is_integer(choice.dtype);
  const auto factor = [&] {
    const std::array<std::complex<double>, 4> values{
        0, 1, whole ? -2 : -0.5, {whole ? 3 : 1.25, real ? 0.0 : -0.75}};
    return values[static_cast<std::size_t>(random.number(random.maybe(0.2) ? 0 : 1, 3))];
  };
  choice.options.alpha = factor();
  choice.with_c = random.maybe();
  if (choice.with_c) choice.options.beta = factor();
  choice.in_place = choice.with_c && random.maybe(0.4);
  choice.fresh = !choice.in_place && random.maybe(0.3);
}

void choose_dtypes(RandomLayouts& random, Case& choice) {
  choice.dtype = pick(random, dtypes);
  choice.dtype_b = choice.result = choice.dtype;
  const bool half = choice.dtype == Dtype::f16 || choice.dtype == Dtype::bf16;
  if (half && random.maybe()) choice.result = Dtype::f32;
  if (choice.dtype == Dtype::i8) choice.result = Dtype::i32;
  if (!is_float8(choice.dtype)) return;
  choice.result = pick(random, results_of_float8);
  if (random.maybe()) choice.dtype_b = Dtype::f8e5m2;
  if (random.maybe(0.3)) std::swap(choice.dtype, choice.dtype_b);
}

Case random_case(RandomLayouts& random, int ranks) {
  Case choice;
  const std::array<int, 9> extents{0, 1, 2, 3, 5, 17, 24, 33, 64};
  const auto extent = [&] {
    return extents[static_cast<std::size_t>(random.number(random.maybe(0.1) ? 0 : 1, 8))];
  };
  choice.m = extent();
  choice.n = extent();
  choice.k = extent();
  if (random.maybe(0.25)) choice.batch = random.shape(random.number(1, 2), 3);
  choice.batched_a = random.maybe(0.8);
  choice.batched_b = random.maybe(0.8);
  choose_dtypes(random, choice);
  choice.options.op_a = static_cast<Op>(random.number(0, 3));
  choice.options.op_b = static_cast<Op>(random.number(0, 3));
  if (random.maybe(0.6)) choice.options.method = pick(random, methods);
  const bool single = choice.dtype == Dtype::f32 || choice.dtype == Dtype::c64;
  if (single && random.maybe(0.3))
    choice.options.compute = pick(random, std::array{ComputeType::tf32, ComputeType::bf16x9});
  choose_factors(random, choice);
  const auto layout = [&](const Shape& shape, Dtype dtype) {
    for (;;) {
      Layout drawn = random.layout(shape, ranks);
      if (!drawn.partial() || is_defined(Reduction::sum, dtype)) return drawn;
    }
  };
  choice.layouts = {layout(choice.shape_a(), choice.dtype), layout(choice.shape_b(), choice.dtype_b),
                    layout(choice.shape_d(), choice.result), layout(choice.shape_d(), choice.result)};
  for (int x = 0; x < 4; ++x) choice.lies.push_back(static_cast<Lies>(random.number(0, 4)));
  return choice;
}

/// A new D must have a batch, if there is one, from A or B.
bool deducible(const Case& choice) {
  return choice.batch.empty() || choice.batched_a || choice.batched_b;
}

/// Whether the method could be had; what it gave is checked.
/// False: refused, for the reason `why`.
bool run_case(Context& context, const Case& choice, std::string* why = nullptr) {
  Held a = make_held(context, choice.layouts[0], choice.dtype, choice.lies[0]);
  Held b = make_held(context, choice.layouts[1], choice.dtype_b, choice.lies[1]);
  Held c = make_held(context, choice.layouts[2], choice.result, choice.lies[2]);
  Held d = make_held(context, choice.layouts[3], choice.result, choice.lies[3]);
  fill_random(a.array, 1);
  fill_random(b.array, 2);
  const bool reads_c = choice.with_c && choice.options.beta != std::complex<double>(0);
  if (reads_c) {
    fill_random(c.array, 3);
  } else {
    fill_nan(c.array);
  }
  fill_nan(d.array);
  const Whole whole_a = Whole::random(a.array, 1);
  const Whole whole_b = Whole::random(b.array, 2);
  const Whole whole_c = reads_c ? Whole::random(c.array, 3) : Whole();
  MatmulOptions options = choice.options;
  if (choice.fresh && choice.result != result_dtype(choice.dtype)) options.result = choice.result;
  Array result = choice.in_place ? c.array : d.array;
  try {
    if (choice.fresh && deducible(choice)) {
      result = choice.with_c ? matmul(a.array, b.array, c.array, options) : matmul(a.array, b.array, options);
    } else {
      matmul_into(a.array, b.array, choice.with_c ? &c.array : nullptr, result, options);
    }
  } catch (const ArgumentError& refusal) {
    EXPECT_NE(options.method, MatmulMethod::automatic) << choice.text() << ": " << refusal.what();
    if (why != nullptr) *why = refusal.what();
    return false;
  }
  const Product product{&whole_a, &whole_b, reads_c ? &whole_c : nullptr,
                        options,  choice.k, cut_of_sums(choice.dtype)};
  expect_product(product, Whole(result), choice.result, context.rank(), context.size(), choice.text());
  return true;
}

RANK_TEST(Matmul, RandomOperandsOfEverything) {
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()));
  const int cases = full_product() ? 2000 : 60;
  int done = 0;
  for (int i = 0; i < cases; ++i) {
    if (run_case(context, random_case(random, context.size()))) ++done;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(done, cases / 2);
}

// Only the local method requires that something is stored where it is needed.
RANK_TEST(Matmul, EveryMethodThatSuits) {
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()) + 1);
  const int rounds = full_product() ? 40 : 1;
  for (int round = 0; round < rounds; ++round) {
    for (const MatmulMethod method : methods) {
      for (const Distribution& distribution :
           {Distribution(Slab(0)), Distribution(Slab(1)),
            Distribution(BlockCyclic({1, context.size()}, {3, 4})), Distribution(Replicated())}) {
        Case choice;
        choice.m = random.number(20, 40);
        choice.n = random.number(20, 40);
        choice.k = random.number(20, 40);
        choice.options.method = method;
        const auto layout = [&](const Shape& shape) { return Layout(distribution, shape, context.size()); };
        choice.layouts = {layout(choice.shape_a()), layout(choice.shape_b()), layout(choice.shape_d()),
                          layout(choice.shape_d())};
        choice.lies.assign(4, static_cast<Lies>(random.number(0, 4)));
        const bool all_is_here = context.size() == 1 || distribution == Distribution(Replicated());
        const bool suits = method != MatmulMethod::local || all_is_here;
        EXPECT_EQ(run_case(context, choice), suits) << choice.text();
      }
    }
  }
}

RANK_TEST(Matmul, WithinAMemoryLimit) {
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()) + 2);
  for (const MatmulMethod method : {MatmulMethod::summa_c, MatmulMethod::communication_avoiding}) {
    for (const Distribution& of_a : {Distribution(Slab(0)), Distribution(Slab(1))}) {
      for (const Distribution& of_b : {Distribution(Slab(0)), Distribution(Slab(1))}) {
        Case choice;
        choice.m = random.number(20, 40);
        choice.n = random.number(20, 40);
        choice.k = random.number(100, 125);
        choice.options.method = method;
        choice.options.memory_limit = 120000;
        choice.layouts = {
            Layout(of_a, choice.shape_a(), context.size()), Layout(of_b, choice.shape_b(), context.size()),
            Layout(of_b, choice.shape_d(), context.size()), Layout(of_a, choice.shape_d(), context.size())};
        choice.lies.assign(4, static_cast<Lies>(random.number(0, 4)));
        std::string why;
        EXPECT_TRUE(run_case(context, choice, &why)) << choice.text() << ": " << why;
      }
    }
  }
}

RANK_TEST(Matmul, NaNAndInfinityPass) {
  Array a = zeros(context, {5, 4}, Slab(0), Dtype::f64);
  Array b = zeros(context, {4, 6}, Slab(1), Dtype::f64);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  write_values(a, [&](std::int64_t number) { return number == 0 ? nan : number == 4 ? inf : 1; });
  write_constant(b, 1);
  const Whole d(matmul(a, b));
  for (std::int64_t j = 0; j < 6; ++j) {
    EXPECT_TRUE(std::isnan(d.at(0, 0, j).real()));
    EXPECT_EQ(d.at(0, 1, j).real(), static_cast<long double>(inf));
    EXPECT_EQ(d.at(0, 2, j).real(), 4);
  }
}

RANK_TEST(Matmul, OneMatrixForAllBatches) {
  Array a = empty(context, {3, 9, 7}, Slab(1), Dtype::f64);
  Array b = empty(context, {7, 5}, Slab(0), Dtype::f64);
  fill_random(a, 5);
  fill_random(b, 6);
  const Array d = matmul(a, b);
  EXPECT_EQ(d.shape(), Shape({3, 9, 5}));
  const Whole whole_a(a), whole_b(b);
  expect_product({&whole_a, &whole_b, nullptr, {}, 7}, Whole(d), Dtype::f64, context.rank(), context.size(),
                 "batch");
}

RANK_TEST(Matmul, ANewResultIsLaidOutAsAskedOrAsC) {
  Array a = empty(context, {12, 8}, Slab(0), Dtype::f32);
  Array b = empty(context, {8, 10}, Slab(0), Dtype::f32);
  Array c = empty(context, {12, 10}, Slab(1), Dtype::f32);
  fill_random(a, 5);
  fill_random(b, 6);
  fill_random(c, 7);
  MatmulOptions options;
  EXPECT_EQ(matmul(a, b, c, options).layout(), c.layout());
  options.order = Order::column_major;
  options.distribution = BlockCyclic({1, 1}, {2, 2});
  const Array asked = matmul(a, b, c, options);
  EXPECT_EQ(asked.layout(), Layout(*options.distribution, {12, 10}, context.size()));
  EXPECT_EQ(asked.operand().axis_order, Extents({1, 0}));
  options = {.epilogue = Epilogue::all_reduce};
  EXPECT_EQ(matmul(a, b, options).local_shape(), Shape({12, 10}));
}

}  // namespace
}  // namespace partita::testing
