// What is particular about matrix multiply in device memory; all else is tested by the suites of matmul,
// which run on devices, too.
#include <partita/astype.hpp>
#include <partita/matmul.hpp>

#include "context/context_state.hpp"
#include "execute/executor.hpp"
#include "ranks/caught.hpp"
#include "ranks/fake_device.hpp"
#include "ranks/fake_math.hpp"
#include "ranks/matmul_model.hpp"
#include "ranks/needs_devices.hpp"

namespace partita::testing {
namespace {

#define DEVICE_MATMUL_TEST(name) DEVICE_TEST_OF(DeviceMatmul, name)

Array random_array(Context& context, const Shape& shape, const Distribution& how, std::uint64_t seed,
                   ArrayOptions options = {}, Dtype dtype = Dtype::f64) {
  Array array = empty(context, shape, how, dtype, options);
  fill_random(array, seed);
  return array;
}

// Sums of the whole depth: the bound is that of one sum in f64, for any order of its terms.
DEVICE_MATMUL_TEST(EveryElementIsRightToTheRoundingOfItsSum) {
  constexpr std::int64_t m = 193, n = 61, k = 1025;
  const int ranks = context.size();
  const std::array<Distribution, 4> ways{Slab(0), Slab(1), BlockCyclic({1, ranks}, {16, 5}), Replicated()};
  for (const Distribution& of_a : ways) {
    for (const Distribution& of_b : ways) {
      const Array a = random_array(context, {m, k}, of_a, 1), b = random_array(context, {k, n}, of_b, 2);
      const Array d = matmul(a, b);
      EXPECT_EQ(d.local().space, MemorySpace::device);
      const Whole whole_a = Whole::random(a, 1), whole_b = Whole::random(b, 2), whole(d);
      const Product product{&whole_a, &whole_b, nullptr, {}, k};
      for (std::int64_t i = context.rank(); i < m; i += 16 * ranks) {
        for (std::int64_t j = 0; j < n; ++j) {
          const long double bound = (k + 2) * 0x1p-53L * product.magnitude(0, i, j);
          ASSERT_LE(std::abs(whole.at(0, i, j) - product.value(0, i, j)), bound)
              << i << "," << j << " A " << of_a.to_string() << " B " << of_b.to_string();
        }
      }
    }
  }
}

/// A bias along the rows of what lies by columns, an activation anyhow. Shards of A bring parts of D, whose
/// sums lie one behind the other only by rows, if they lie apart from D.
void expect_ends_with_sums(Context& context, const Distribution& of_a) {
  const bool moves = of_a == Distribution(Slab(0)) && context.size() > 1;
  const std::int64_t m = 64 * context.size();  // the bias of each shard is aligned
  for (const Dtype dtype : {Dtype::bf16, Dtype::f32}) {
    for (const Order order : {Order::row_major, Order::column_major}) {
      for (const Epilogue epilogue : {Epilogue::relu, Epilogue::gelu, Epilogue::relu_bias, Epilogue::bias}) {
        const ArrayOptions how{Residency::heap, order};
        const Array a = random_array(context, {m, 40}, of_a, 1, how, dtype);
        const Array b = random_array(context, {40, 48 * context.size()}, Slab(1), 2, how, dtype);
        const Array bias = random_array(context, {m}, Replicated(), 3, {}, dtype);
        MatmulOptions options;
        options.epilogue = epilogue;
        options.distribution = Slab(1);
        options.order = order;
        EpilogueArrays arrays;
        const bool biased = epilogue == Epilogue::relu_bias || epilogue == Epilogue::bias;
        if (biased) arrays.bias = &bias;
        context.barrier();
        const int before = FakeMath::ended_products();
        context.barrier();
        const Array d = matmul(a, b, options, arrays);
        context.barrier();
        const bool by_columns = order == Order::column_major;
        const bool together = (!biased || by_columns) && !(moves && by_columns && dtype == Dtype::bf16);
        if (tests_fake_devices()) {
          EXPECT_EQ(FakeMath::ended_products() > before, together);
        }
        const Array wide_a = astype(a, Dtype::f64), wide_b = astype(b, Dtype::f64);
        const Array wide_bias = astype(bias, Dtype::f64);
        if (biased) arrays.bias = &wide_bias;
        const Array expected = matmul(wide_a, wide_b, options, arrays);
        const double bound = dtype == Dtype::bf16 ? 0.1 : 1e-4;
        EXPECT_LE(compare(astype(d, Dtype::f64), expected).largest_difference, bound);
      }
    }
  }
}

DEVICE_MATMUL_TEST(WhatFollowsTheSumsComesWithThem) {
  expect_ends_with_sums(context, Replicated());
}

// Each shard's part of D is final when it has been multiplied.
DEVICE_MATMUL_TEST(WhatFollowsTheSumsComesWithThemWhereShardsMove) {
  expect_ends_with_sums(context, Slab(0));
}

/// What an epilogue reads and writes beside D, and C.
struct Beside {
  Array bias, auxiliary, gradient, c;
  EpilogueArrays arrays;

  Beside(Context& context, const Array& d, Dtype dtype, ArrayOptions how, Order of_auxiliary,
         std::uint64_t seed)
      : bias(random_array(context, {d.shape()[d.shape().size() - 2]}, Replicated(), seed, {}, dtype)),
        auxiliary(random_array(context, d.shape(), d.layout().distribution(), seed + 1,
                               {Residency::heap, of_auxiliary}, dtype)),
        gradient(random_array(context, bias.shape(), Replicated(), seed + 2, {}, dtype)),
        c(random_array(context, d.shape(), d.layout().distribution(), seed + 3, how, dtype)) {}

  void use(Epilogue epilogue) {
    const auto is_one_of = [epilogue](auto... of) { return ((epilogue == of) || ...); };
    arrays = {};
    if (is_one_of(Epilogue::bias, Epilogue::gelu_bias_aux, Epilogue::relu_bias_aux)) arrays.bias = &bias;
    if (!is_one_of(Epilogue::bias, Epilogue::none)) arrays.auxiliary = &auxiliary;
    if (is_one_of(Epilogue::dgelu_bias_gradient, Epilogue::drelu_bias_gradient)) arrays.gradient = &gradient;
  }
};

struct EndedCase {
  Epilogue epilogue;
  bool with_c = false;
};

constexpr std::array ended_cases{
    EndedCase{Epilogue::gelu_aux},      EndedCase{Epilogue::gelu_bias_aux},
    EndedCase{Epilogue::dgelu},         EndedCase{Epilogue::dgelu_bias_gradient},
    EndedCase{Epilogue::none, true},    EndedCase{Epilogue::bias, true},
    EndedCase{Epilogue::dgelu, true},   EndedCase{Epilogue::gelu_bias_aux, true},
    EndedCase{Epilogue::relu_bias_aux}, EndedCase{Epilogue::drelu_bias_gradient, true},
    EndedCase{Epilogue::relu_aux},
};

bool is_of_relu(Epilogue epilogue) {
  using enum Epilogue;
  return epilogue == relu_bias_aux || epilogue == relu_aux || epilogue == drelu_bias_gradient;
}

/// One matrix by columns, or three by rows, where no bias comes with a product; against f64. `alike`: the
/// auxiliary array lies as D does.
void expect_ended(Context& context, const EndedCase& one, bool batches, std::int64_t rows, bool in_place,
                  bool alike) {
  const auto shape = [&](std::int64_t r, std::int64_t c) { return batches ? Shape{3, r, c} : Shape{r, c}; };
  const Order order = batches ? Order::row_major : Order::column_major;
  const Order other = batches ? Order::column_major : Order::row_major;
  const ArrayOptions how{Residency::heap, order};
  const Dtype dtype = Dtype::bf16;
  const Distribution of_d = Slab(batches ? 2 : 1);
  const std::int64_t n = 16 * context.size();
  const Array a = random_array(context, {rows, 40}, Replicated(), 1, how, dtype);
  const Array b = random_array(context, shape(40, n), of_d, 2, how, dtype);
  Array d = empty(context, shape(rows, n), of_d, dtype, how);
  Beside beside(context, d, dtype, how, alike ? order : other, 3);
  MatmulOptions options;
  options.epilogue = one.epilogue;
  options.alpha = 0.25;
  if (one.with_c) options.beta = -0.5;
  beside.use(one.epilogue);
  Beside wide = beside;
  for (Array* const array : {&wide.bias, &wide.auxiliary, &wide.gradient, &wide.c})
    *array = astype(*array, Dtype::f64);
  wide.use(one.epilogue);
  Array wide_d = empty(context, d.shape(), of_d, Dtype::f64);
  matmul_into(astype(a, Dtype::f64), astype(b, Dtype::f64), one.with_c ? &wide.c : nullptr, wide_d, options,
              wide.arrays);
  context.barrier();
  const int before = FakeMath::ended_products();
  context.barrier();
  matmul_into(a, b, one.with_c ? &beside.c : nullptr, in_place ? beside.c : d, options, beside.arrays);
  context.barrier();
  const bool biased = beside.arrays.bias != nullptr;
  const bool of_gelu = beside.arrays.auxiliary != nullptr && !is_of_relu(one.epilogue);
  const bool lies = !of_gelu || (alike && (batches || rows % 8 == 0));
  // What relu does follows what has been rounded; C alone, in place, is the sums' own.
  const bool adds_c = one.with_c && !(in_place && one.epilogue == Epilogue::none);
  const bool has_more = biased || of_gelu || adds_c;
  if (tests_fake_devices()) {
    EXPECT_EQ(FakeMath::ended_products() > before, lies && has_more && !(batches && biased))
        << static_cast<int>(one.epilogue) << (one.with_c ? " with C" : "") << (batches ? " batches" : "");
  }
  const auto expect_near = [&](const Array& got, const Array& expected, double bound) {
    EXPECT_LE(compare(astype(got, Dtype::f64), expected).largest_difference, bound)
        << static_cast<int>(one.epilogue) << (one.with_c ? " with C" : "") << (in_place ? " in place" : "")
        << ", " << rows << " rows" << (batches ? ", batches" : "");
  };
  expect_near(in_place ? beside.c : d, wide_d, 0.03);
  expect_near(beside.auxiliary, wide.auxiliary, 0.03);
  if (beside.arrays.gradient != nullptr) expect_near(beside.gradient, wide.gradient, 0.5);
}

// Auxiliary matrices, derivatives and a C of its own; and where memory lies otherwise, as ever.
DEVICE_MATMUL_TEST(AuxiliaryMatricesAndCComeWithTheSums) {
  for (const EndedCase& one : ended_cases) {
    for (const std::int64_t rows : {64, 61}) {
      for (const bool alike : {true, false}) {
        expect_ended(context, one, false, rows, false, alike);
        expect_ended(context, one, true, rows, false, alike);
        if (one.with_c) expect_ended(context, one, false, rows, true, alike);
      }
    }
  }
}

// relu of what has been rounded is what relu of the sums is rounded to, so D is the auxiliary array's.
DEVICE_MATMUL_TEST(WhatReluLeavesIsWhatItWasMadeOf) {
  const ArrayOptions how{Residency::heap, Order::row_major};
  const Array a = random_array(context, {48, 40}, Slab(0), 1, how, Dtype::bf16);
  const Array b = random_array(context, {40, 32}, Replicated(), 2, how, Dtype::bf16);
  Array d = empty(context, {48, 32}, Slab(0), Dtype::bf16, how);
  Array auxiliary = empty(context, {48, 32}, Slab(0), Dtype::bf16, how);
  const MatmulOptions options{.epilogue = Epilogue::relu_aux};
  matmul_into(a, b, nullptr, d, options, {.auxiliary = &auxiliary});
  const Whole whole(d), before(auxiliary);
  for (std::int64_t i = 0; i < 48; ++i) {
    for (std::int64_t j = 0; j < 32; ++j)
      ASSERT_EQ(whole.at(0, i, j).real(), std::max(before.at(0, i, j).real(), 0.0L)) << i << "," << j;
  }
}

// Of a byte an element, along k: no copy in the workspace; any other way has one.
DEVICE_MATMUL_TEST(BytesAlongKAreMultipliedWhereTheyLie) {
  const std::int64_t n = 32 * context.size();
  for (const auto& [dtype, result] :
       {std::pair(Dtype::f8e4m3, Dtype::f32), std::pair(Dtype::f8e4m3, Dtype::bf16),
        std::pair(Dtype::i8, Dtype::i32)}) {
    for (const auto& [order, m] : {std::pair(Order::column_major, 48), std::pair(Order::row_major, 48),
                                   std::pair(Order::column_major, 47)}) {
      const Array a = random_array(context, {m, 64}, Replicated(), 1, {Residency::heap}, dtype);
      const Array b = random_array(context, {64, n}, Slab(1), 2, {Residency::heap, order}, dtype);
      Array d = empty(context, {m, n}, Slab(1), result, {Residency::heap});
      const MatmulOperands operands{.a = a.operand(), .b = b.operand(), .d = d.operand()};
      ContextState& state = *context.state();
      const auto executor = execution::Executor::bind(
          state, plan_matmul(operands, state.topology(MemorySpace::device), context.rank()));
      EXPECT_EQ(executor->local_workspace_bytes() == 0, order == Order::column_major && m == 48)
          << name(dtype) << m;
      matmul_into(a, b, nullptr, d);
      const Array expected = matmul(astype(a, Dtype::f64), astype(b, Dtype::f64));
      const double bound = dtype == Dtype::i8 ? 0 : result == Dtype::bf16 ? 0.1 : 0.01;
      EXPECT_LE(compare(astype(d, Dtype::f64), expected).largest_difference, bound);
    }
  }
}

// Memory of the heap that begins anywhere: as any other memory.
DEVICE_MATMUL_TEST(BytesAtOddPlacesOfTheHeapAreMultiplied) {
  constexpr std::int64_t n = 32;
  const SymmetricMemory memory = SymmetricMemory::allocate(context, n * n + 1);
  const Array even = random_array(context, {n, n * context.size()}, Slab(1), 1,
                                  {Residency::heap, Order::column_major}, Dtype::f8e4m3);
  View view = even.local();
  view.data = static_cast<char*>(memory.data()) + 1;
  Array odd = wrap(context, view, even.layout());
  copy(even, odd);
  const Array a = random_array(context, {n, n}, Replicated(), 2, {Residency::heap}, Dtype::f8e4m3);
  const MatmulOptions options{.distribution = Slab(1)};
  EXPECT_EQ(compare(matmul(a, odd, options), matmul(a, even, options)).largest_difference, 0);
}

// Runs that are long enough to be multiplied where they lie, several of each dimension.
DEVICE_MATMUL_TEST(LongRunsAreMultipliedWhereTheyLie) {
  constexpr std::int64_t m = 610, n = 330, k = 540;
  const int ranks = context.size();
  const BlockCyclic rows({ranks, 1}, {130, 140}), columns({1, ranks}, {150, 135});
  for (const MatmulMethod method : {MatmulMethod::automatic, MatmulMethod::summa_a, MatmulMethod::summa_c}) {
    for (const Op op : {Op::none, Op::conjugate, Op::conjugate_transpose}) {
      MatmulOptions options;
      options.method = method;
      options.op_a = op;
      options.alpha = {0.5, -0.25};
      options.beta = {1, 2};
      const Array a = random_array(context, stored_shape({}, m, k, op), rows, 1, {}, Dtype::c128);
      const Array b = random_array(context, {k, n}, columns, 2, {}, Dtype::c128);
      Array c = random_array(context, {m, n}, rows, 3, {}, Dtype::c128);
      const Whole whole_a = Whole::random(a, 1), whole_b = Whole::random(b, 2), whole_c = Whole::random(c, 3);
      matmul_into(a, b, &c, c, options);
      const Whole whole(c);
      const Product product{&whole_a, &whole_b, &whole_c, options, k};
      for (std::int64_t i = context.rank(); i < m; i += 61 * ranks) {
        for (std::int64_t j = 0; j < n; j += 7) {
          const long double bound = 4 * (k + 4) * 0x1p-53L * product.magnitude(0, i, j);
          ASSERT_LE(std::abs(whole.at(0, i, j) - product.value(0, i, j)), bound) << i << "," << j;
        }
      }
    }
  }
}

// f32 is no TF32: that has 11 bits.
DEVICE_MATMUL_TEST(SingleNumbersKeepTheirBits) {
  constexpr std::int64_t n = 256;
  Array a = empty(context, {n, n}, Slab(0), Dtype::f32), b = zeros(context, {n, n}, Slab(0), Dtype::f32);
  each_element(a, [](std::int64_t number, auto& element) {
    element = make_value<std::decay_t<decltype(element)>>(1 + 0x1p-20 * static_cast<double>(number % 1000));
  });
  each_element(b, [](std::int64_t number, auto& element) {
    element = make_value<std::decay_t<decltype(element)>>(number / n == number % n ? 1 : 0);
  });
  EXPECT_TRUE(compare(a, matmul(a, b)).equal);
}

DEVICE_MATMUL_TEST(TheSameProductGivesTheSameBits) {
  const Array a = random_array(context, {130, 517}, Slab(1), 1),
              b = random_array(context, {517, 90}, Slab(0), 2);
  const Array first = matmul(a, b);
  for (int round = 0; round < 5; ++round) EXPECT_TRUE(compare(first, matmul(a, b)).equal);
}

ArrayOptions in_memory(bool of_device, Residency residency = Residency::heap) {
  return {residency, Order::row_major, of_device ? MemorySpace::device : MemorySpace::host};
}

/// Operands that some of which lie on the host, by the bits of `there`.
struct Mixed {
  static constexpr std::int64_t m = 19, n = 13, k = 27;
  Array a, b, c, d, bias, auxiliary, gradient;
  Mixed(Context& context, int there, Residency residency = Residency::heap)
      : a(made(context, {m, k}, Slab(0), 1, there & 1, residency)),
        b(made(context, {k, n}, Slab(1), 2, there & 2, residency)),
        c(made(context, {m, n}, Slab(1), 3, there & 4, residency)),
        d(made(context, {m, n}, Slab(0), 4, there & 8, residency)),
        bias(made(context, {m}, Slab(0), 5, there & 16, residency)),
        auxiliary(made(context, {m, n}, Slab(1), 6, there & 32, residency)),
        gradient(made(context, {m}, Slab(0), 7, there & 64, residency)) {}

  static Array made(Context& context, const Shape& shape, const Distribution& how, std::uint64_t seed,
                    int there, Residency residency) {
    return random_array(context, shape, how, seed, in_memory(there != 0, residency));
  }
};

constexpr int all_there = 127;

/// The same call with all arrays in device memory gives the same numbers.
DEVICE_MATMUL_TEST(WhatLiesOnTheHostCrosses) {
  for (int there = 1; there < all_there; there += 1 + context.size()) {
    for (const Epilogue epilogue : {Epilogue::none, Epilogue::relu_bias_aux, Epilogue::drelu_bias_gradient}) {
      const Residency residency = there % 3 == 0 ? Residency::ordinary : Residency::heap;
      Mixed mixed(context, there, residency), same(context, all_there);
      MatmulOptions options;
      options.epilogue = epilogue;
      options.alpha = 0.5;
      options.beta = -2;
      for (Mixed* const one : {&mixed, &same}) {
        EpilogueArrays arrays;
        if (epilogue == Epilogue::relu_bias_aux) arrays.bias = &one->bias;
        if (epilogue != Epilogue::none) arrays.auxiliary = &one->auxiliary;
        if (epilogue == Epilogue::drelu_bias_gradient) arrays.gradient = &one->gradient;
        matmul_into(one->a, one->b, &one->c, one->d, options, arrays);
      }
      EXPECT_LE(compare(mixed.d, same.d).largest_difference, 1e-13) << there;
      EXPECT_LE(compare(mixed.auxiliary, same.auxiliary).largest_difference, 1e-13) << there;
      EXPECT_LE(compare(mixed.gradient, same.gradient).largest_difference, 1e-12) << there;
      EXPECT_EQ(mixed.d.local().space, (there & 8) != 0 ? MemorySpace::device : MemorySpace::host);
    }
  }
}

DEVICE_MATMUL_TEST(ResultsOfMixedArraysLieOnTheDeviceUnlessAskedOtherwise) {
  const Mixed mixed(context, 2), same(context, all_there);
  const Array expected = matmul(same.a, same.b);
  MatmulOptions options;
  for (const bool asked : {false, true}) {
    if (asked) options.space = MemorySpace::host;
    const Array d = matmul(mixed.a, mixed.b, options);
    EXPECT_EQ(d.local().space, asked ? MemorySpace::host : MemorySpace::device);
    EXPECT_LE(compare(d, expected).largest_difference, 1e-13);
  }
  const Mixed here(context, 0);
  EXPECT_EQ(matmul(here.a, here.b).local().space, MemorySpace::host);
  options.space = MemorySpace::device;
  const Array brought = matmul(here.a, here.b, options);
  EXPECT_EQ(brought.local().space, MemorySpace::device);
  EXPECT_LE(compare(brought, expected).largest_difference, 1e-13);
}

DEVICE_MATMUL_TEST(PlansSayWhatCrossesAndReadNothingElse) {
  Mixed mixed(context, 2);
  MatmulOptions options;
  options.beta = 1;
  Matmul plan(context,
              {mixed.a.operand(), mixed.b.operand(), mixed.c.operand(), mixed.c.operand(), {}, {}, {}},
              options, true);
  EXPECT_TRUE(contains(plan.explain(), "copied from host memory to the device before: A and C"))
      << plan.explain();
  EXPECT_TRUE(contains(plan.explain(), "copied back to host memory after: D")) << plan.explain();
  EXPECT_GE(plan.workspace_size(), (mixed.a.local_size() + mixed.c.local_size()) * size_of(Dtype::f64));
  plan.reset(mixed.a, mixed.b, &mixed.c, mixed.c);
  const Whole before(mixed.c), a(mixed.a), b(mixed.b);
  const auto expect = [&](const MatmulOptions& how, const char* what) {
    expect_product({&a, &b, how.beta == 0.0 ? nullptr : &before, how, Mixed::k}, Whole(mixed.c), Dtype::f64,
                   context.rank(), context.size(), what);
  };
  plan.execute();
  expect(options, "in place");
  fill_nan(mixed.c);
  plan.execute(2, 0);
  options.alpha = 2;
  options.beta = 0;
  expect(options, "NaN in C");
  fill_random(mixed.c, 3);
  fill_nan(mixed.a);
  plan.execute(0, 1);
  options.alpha = 0;
  options.beta = 1;
  expect(options, "NaN in A");
  // Arrays that the plan was not made for.
  Array wrong = random_array(context, mixed.a.shape(), Slab(1), 1, in_memory(false));
  if (context.size() == 1) return;
  plan.reset(wrong, mixed.b, &mixed.c, mixed.c);
  EXPECT_TRUE(contains(caught<ArgumentError>([&] { plan.execute(); }), "the plan was made for"));
  EXPECT_FALSE(context.failed());
}

DEVICE_MATMUL_TEST(WithoutALibraryItIsRefusedAndTheContextLivesOn) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const Array a = random_array(context, {11, 8}, Slab(0), 1), b = random_array(context, {8, 11}, Slab(0), 1);
  context.barrier();
  fake_devices_compute(false);
  context.barrier();
  const std::string text = caught<UnsupportedError>([&] { (void)matmul(a, b); });
  EXPECT_TRUE(contains(text, "this device computes nothing")) << text;
  context.barrier();
  fake_devices_compute(true);
  context.barrier();
  const Whole whole_a = Whole::random(a, 1), whole_b = Whole::random(b, 1);
  expect_product({&whole_a, &whole_b, nullptr, {}, 8}, Whole(matmul(a, b)), Dtype::f64, context.rank(),
                 context.size(), "afterwards");
}

}  // namespace
}  // namespace partita::testing
