// Bad input of matrix multiply: the same exception with the same text on all ranks, and the context lives on.
#include "support/models/matmul_model.hpp"
#include "support/on_ranks.hpp"
#include "support/withdrawal.hpp"

namespace partita::testing {
namespace {

Array made(Context& context, const Shape& shape, Dtype dtype = Dtype::f64,
           const Distribution& how = Slab(0)) {
  Array array = empty(context, shape, how, dtype);
  fill_random(array, 1);
  return array;
}

RANK_TEST(MatmulErrors, ShapesAndDtypes) {
  Array a = made(context, {8, 6});
  Array b = made(context, {5, 7});
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b), "multiply");
  Array vector = made(context, {5});
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, vector), "multiply");
  Array right = made(context, {6, 7});
  Array d = made(context, {7, 8});
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul_into(a, right, nullptr, d), "multiply");
  Array single = made(context, {6, 7}, Dtype::f32);
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, single), "f32");
  Array whole = made(context, {8, 6}, Dtype::i32);
  Array numbers = made(context, {6, 7}, Dtype::i32);
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(whole, numbers), "i32");
  Array c = made(context, {8, 6});
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, right, c, {.beta = 1}));
  EXPECT_ERROR_ON_ALL(UnsupportedError, matmul(a, right, {.compute = ComputeType::f32}), "compute in f32");
  EXPECT_ERROR_ON_ALL(UnsupportedError, matmul(a, right, {.scale = Dtype::f32}), "alpha and beta in f32");
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, right, {.result = Dtype::c64}), "c64");
}

RANK_TEST(MatmulErrors, IntegersAndNumbersOf8Bits) {
  const auto array = [&](const Shape& shape, Dtype dtype) {
    return zeros(context, shape, shape.empty() ? Distribution(Replicated()) : Distribution(Slab(0)), dtype,
                 {.space = MemorySpace::host});
  };
  const Array a = array({8, 6}, Dtype::i8), b = array({6, 7}, Dtype::i8);
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, {.alpha = 0.5}), "integers of 32 bits");
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, {.alpha = 0x1p31}), "integers of 32 bits");
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, {.epilogue = Epilogue::relu}), "only none and all_reduce");
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, {.result = Dtype::f32}), "into one of f32");
  EXPECT_ERROR_ON_ALL(UnsupportedError, matmul(a, b, {.compute = ComputeType::f32}), "compute in f32");
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, array({6, 7}, Dtype::u8)), "multiply i8 by u8");
  const Array scalar = array({}, Dtype::f32);
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, {}, {.scale_a = &scalar}),
                      "the scale of A is for multiplies of f8");
}

RANK_TEST(MatmulErrors, ScalesThatDoNotFit) {
  const ArrayOptions here{.space = MemorySpace::host};
  const auto array = [&](const Shape& shape, Dtype dtype) {
    return zeros(context, shape, shape.empty() ? Distribution(Replicated()) : Distribution(Slab(0)), dtype,
                 here);
  };
  const Array a = array({8, 6}, Dtype::f8e4m3), b = array({6, 7}, Dtype::f8e5m2);
  const Array scalar = array({}, Dtype::f32), rows = array({8}, Dtype::f32), wide = array({}, Dtype::f64);
  const auto refused = [&](const std::string& text, const EpilogueArrays& arrays, ScaleMode mode = {}) {
    EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, {.scale_mode = mode}, arrays), text);
  };
  refused("the scale of B has shape 8, but should be a scalar or of shape 7", {.scale_b = &rows});
  refused("should be 8", {.scale_a = &scalar}, ScaleMode::outer_vector);
  refused("should be a scalar", {.scale_a = &rows}, ScaleMode::tensor);
  refused("the scale of A is f64, but should be f32", {.scale_a = &wide});
  refused("the scale of D is for multiplies of f8e4m3 and f8e5m2, but D is f32", {.scale_d = &scalar});
  Array result = array({}, Dtype::f32);
  refused("the amax of D is written, so it must not overlap the scale of A",
          {.scale_a = &result, .amax_d = &result});
  for (const auto& [mode, name] :
       {std::pair(ScaleMode::block32_ue8m0, "MXFP8"), std::pair(ScaleMode::block16_ue4m3, "NVFP4")}) {
    const MatmulOptions blocks{.scale_mode = mode};
    EXPECT_ERROR_ON_ALL(UnsupportedError, matmul(a, b, blocks), name);
  }
  if (context.size() == 1) return;  // whose contribution is the sum
  const Array partial = empty(
      context, {8, 6}, Distribution::parse("mesh:r=" + std::to_string(context.size()) + ":-,-;partial=sum:r"),
      Dtype::f8e4m3, here);
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(partial, b), "not defined for f8e4m3");
}

// A cached call exchanges nothing before its first signal or message, which carries the factors.
TEST(DisagreementOf, FactorsOfACachedProduct) {
  for (const double odd : {3.0, 0.0}) {  // with alpha = 0 a rank may have nothing to wait for
    on_ranks(
        [&](Context& context) {
          if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
          Array a = made(context, {13, 12});
          Array b = made(context, {12, 14});
          Array d = made(context, {13, 14});
          MatmulOptions options;
          for (const double alpha : {2.0, odd}) {
            options.alpha = alpha;
            matmul_into(a, b, nullptr, d, options);
          }
          options.alpha = context.rank() == 1 ? odd : 2.0;
          const auto go_on = [&] {
            matmul_into(a, b, nullptr, d, options);
            context.barrier();
          };
          const std::string text = caught<DisagreementError>(go_on);
          EXPECT_TRUE(contains(text, "alpha 2+0i")) << text;
          expect_same_text_on_all(context.rank(), text);
          expect_goes_on_where_it_can(context, odd == 0);
        },
        ContextOptions{});
  }
}

RANK_TEST(MatmulErrors, WhatIsWrittenOverlapsNothing) {
  Array a = made(context, {8, 8});
  Array b = made(context, {8, 8});
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul_into(a, b, nullptr, a), "overlap");
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul_into(a, b, nullptr, b), "overlap");
  MatmulOptions in_place{.beta = 1};
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul_into(a, b, &a, a, in_place), "overlap");
  Array d = made(context, {8, 8});
  Array bias = made(context, {8});
  in_place.epilogue = Epilogue::relu_aux;
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul_into(a, b, &d, d, in_place, {.auxiliary = &d}), "overlap");
}

// The memory of two wrapped arrays overlaps on the last rank only; all ranks are notified.
RANK_TEST(MatmulErrors, OverlapOnOneRank) {
  const Layout layout(Slab(0), {8, 8}, context.size());
  const Shape extents = layout.local_shape(context.rank());
  std::vector<double> memory(static_cast<std::size_t>(2 * volume(extents)));
  const bool last = context.rank() + 1 == context.size();
  double* const second = memory.data() + (last ? volume(extents) - 1 : volume(extents));
  const Array a = wrap(context, View::dense(memory.data(), Dtype::f64, extents), layout);
  Array d = wrap(context, View::dense(second, Dtype::f64, extents), layout);
  const Array b = empty(context, layout, Dtype::f64, {.space = MemorySpace::host});
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul_into(a, b, nullptr, d), "overlap");
  Matmul plan(context, {a.operand(), b.operand(), {}, d.operand()});
  plan.reset(a, b, nullptr, d);
  EXPECT_ERROR_ON_ALL(ArgumentError, plan.execute(), "overlap");
}

RANK_TEST(MatmulErrors, FactorsAndC) {
  Array a = made(context, {4, 4});
  Array b = made(context, {4, 4});
  MatmulOptions options{.beta = 1};
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, options), "there is no C");
  options = {.alpha = {1, 1}};
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, options), "must be real");
  Array d = made(context, {4, 4});
  Matmul plan(context, {a.operand(), b.operand(), {}, d.operand()});
  EXPECT_ERROR_ON_ALL(ArgumentError, plan.execute(), "reset");
  plan.reset(a, b, nullptr, d);
  EXPECT_ERROR_ON_ALL(ArgumentError, plan.execute(1, 1), "there is no C");
  EXPECT_ERROR_ON_ALL(ArgumentError, plan.reset(a, b, &d, d), "without C");
  Array other = made(context, {4, 4}, Dtype::f64, Slab(1));
  plan.reset(other, b, nullptr, d);
  if (context.size() > 1) EXPECT_ERROR_ON_ALL(ArgumentError, plan.execute(), "plan was made");
}

RANK_TEST(MatmulErrors, EpilogueArrays) {
  Array a = made(context, {4, 6});
  Array b = made(context, {6, 5});
  Array bias = made(context, {4});
  Array longer = made(context, {5});
  EpilogueArrays with_bias{.bias = &bias};
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, {}, with_bias), "bias");
  MatmulOptions options{.epilogue = Epilogue::relu_bias};
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, options), "bias");
  with_bias.bias = &longer;
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, options, with_bias), "bias");
  options.epilogue = Epilogue::dgelu;
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, options), "auxiliary");
  options.epilogue = Epilogue::bias_gradient_b;
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, options), "gradient");
  Array complex_a = made(context, {4, 6}, Dtype::c64);
  Array complex_b = made(context, {6, 5}, Dtype::c64);
  options.epilogue = Epilogue::relu;
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(complex_a, complex_b, options), "c64");
  options.epilogue = Epilogue::all_reduce;
  options.distribution = Slab(0);
  if (context.size() > 1) EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, options), "all_reduce");
}

RANK_TEST(MatmulErrors, DistributionsAndMemory) {
  Array a = made(context, {64, 64});
  Array b = made(context, {64, 64});
  MatmulOptions options;
  options.distribution = Box({{{0, 0}, {8, 8}}});  // of another shape
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, options));
  options = {.space = MemorySpace::device};
  if (context.state()->device == nullptr)
    EXPECT_ERROR_ON_ALL(UnsupportedError, matmul(a, b, options), "no device");
  options = {.memory_limit = -1};
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b, options), "memory");
  // On the heap it takes no scratch at all.
  const ArrayOptions ordinary{.residency = Residency::ordinary};
  Array across = empty(context, {64, 64}, BlockCyclic({1, context.size()}, {3, 5}), Dtype::f64, ordinary);
  Array d = empty(context, {64, 64}, Slab(1), Dtype::f64, ordinary);
  fill_random(across, 1);
  options.memory_limit = 8;
  if (context.size() > 1) {
    EXPECT_ERROR_ON_ALL(ArgumentError, matmul_into(across, b, nullptr, d, options), "memory");
  }
}

RANK_TEST(MatmulErrors, RanksThatDisagree) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  Array a = made(context, {8, 8});
  Array b = made(context, {8, 8});
  MatmulOptions options{.op_a = context.rank() == 0 ? Op::none : Op::transpose};
  EXPECT_ERROR_ON_ALL(DisagreementError, matmul(a, b, options), "op_a none op_b none");
  EXPECT_ERROR_ON_ALL(DisagreementError, matmul(a, b, options), "op_a transpose op_b none");
  options = {.alpha = context.rank() == 0 ? 1 : 2};
  EXPECT_ERROR_ON_ALL(DisagreementError, matmul(a, b, options), "alpha");
}

RANK_TEST(MatmulErrors, ArraysOfAnotherContext) {
  std::vector<int> all;
  for (int rank = 0; rank < context.size(); ++rank) all.push_back(rank);
  Context other = context.subgroup(all);
  Array a = made(context, {4, 4});
  Array b = made(other, {4, 4});
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(a, b), "context");
  EXPECT_THROW((void)matmul(Array(), b), ArgumentError);
}

}  // namespace
}  // namespace partita::testing
