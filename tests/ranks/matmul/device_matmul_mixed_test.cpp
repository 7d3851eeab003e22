// Matrix multiply of arrays some of which are in host memory.
#include "support/errors.hpp"
#include "support/models/device_matmul.hpp"

namespace partita::testing {
namespace {

ArrayOptions in_memory(bool of_device, Residency residency = Residency::heap) {
  return {.residency = residency, .space = of_device ? MemorySpace::device : MemorySpace::host};
}

/// Operands some of which are in host memory, by the bits of `there`.
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
      for (Mixed* const one : {&mixed, &same}) {
        EpilogueArrays arrays;
        if (epilogue == Epilogue::relu_bias_aux) arrays.bias = &one->bias;
        if (epilogue != Epilogue::none) arrays.auxiliary = &one->auxiliary;
        if (epilogue == Epilogue::drelu_bias_gradient) arrays.gradient = &one->gradient;
        matmul_into(one->a, one->b, &one->c, one->d, {.alpha = 0.5, .beta = -2, .epilogue = epilogue},
                    arrays);
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
  MatmulOptions options{.beta = 1};
  Matmul plan(context, {mixed.a.operand(), mixed.b.operand(), mixed.c.operand(), mixed.c.operand()}, options,
              true);
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
  EXPECT_ERROR(ArgumentError, plan.execute(), "the plan was made for");
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
