// Bad input of matrix multiply: the same exception with the same text on all ranks, and the context lives on.
#include <partita/matmul.hpp>
#include <partita/memory.hpp>

#include "ranks/caught.hpp"
#include "ranks/matmul_model.hpp"
#include "ranks/needs_devices.hpp"
#include "ranks/rank_test.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::testing {
namespace {

/// Every rank gets a `Failure` whose text has `part` in it, and all get the same text.
template <class Failure, class Action>
void expect_refused(Context& context, const std::string& part, Action&& action) {
  const std::string text = caught<Failure>(action);
  EXPECT_TRUE(contains(text, part)) << text;
  for (const std::string& theirs : runtime::exchange(*context.state(), "texts of a test", text))
    EXPECT_EQ(theirs, text);
  EXPECT_FALSE(context.failed());
}

Array made(Context& context, const Shape& shape, Dtype dtype = Dtype::f64,
           const Distribution& how = Slab(0)) {
  Array array = empty(context, shape, how, dtype);
  fill_random(array, 1);
  return array;
}

RANK_TEST(MatmulErrors, ShapesAndDtypes) {
  Array a = made(context, {8, 6});
  Array b = made(context, {5, 7});
  expect_refused<ArgumentError>(context, "multiply", [&] { (void)matmul(a, b); });
  Array vector = made(context, {5});
  expect_refused<ArgumentError>(context, "multiply", [&] { (void)matmul(a, vector); });
  Array right = made(context, {6, 7});
  Array d = made(context, {7, 8});
  expect_refused<ArgumentError>(context, "multiply", [&] { matmul_into(a, right, nullptr, d); });
  Array single = made(context, {6, 7}, Dtype::f32);
  expect_refused<ArgumentError>(context, "f32", [&] { (void)matmul(a, single); });
  Array whole = made(context, {8, 6}, Dtype::i32);
  Array numbers = made(context, {6, 7}, Dtype::i32);
  expect_refused<ArgumentError>(context, "i32", [&] { (void)matmul(whole, numbers); });
  Array c = made(context, {8, 6});
  MatmulOptions options;
  options.beta = 1;
  expect_refused<ArgumentError>(context, "", [&] { (void)matmul(a, right, c, options); });
  options = {};
  options.compute = ComputeType::f32;
  expect_refused<UnsupportedError>(context, "compute in f32", [&] { (void)matmul(a, right, options); });
  options = {};
  options.scale = Dtype::f32;
  expect_refused<UnsupportedError>(context, "alpha and beta in f32",
                                   [&] { (void)matmul(a, right, options); });
  options = {};
  options.result = Dtype::c64;
  expect_refused<ArgumentError>(context, "c64", [&] { (void)matmul(a, right, options); });
}

RANK_TEST(MatmulErrors, IntegersAndNumbersOf8Bits) {
  const ArrayOptions here{.space = MemorySpace::host};
  const auto array = [&](const Shape& shape, Dtype dtype) {
    return zeros(context, shape, shape.empty() ? Distribution(Replicated()) : Distribution(Slab(0)), dtype,
                 here);
  };
  const Array a = array({8, 6}, Dtype::i8), b = array({6, 7}, Dtype::i8);
  const auto with = [&](const auto& change) {
    MatmulOptions options;
    change(options);
    return [&a, &b, options] { (void)matmul(a, b, options); };
  };
  expect_refused<ArgumentError>(context, "integers of 32 bits", with([](auto& o) { o.alpha = 0.5; }));
  expect_refused<ArgumentError>(context, "integers of 32 bits", with([](auto& o) { o.alpha = 0x1p31; }));
  expect_refused<ArgumentError>(context, "only none and all_reduce",
                                with([](auto& o) { o.epilogue = Epilogue::relu; }));
  expect_refused<ArgumentError>(context, "into one of f32", with([](auto& o) { o.result = Dtype::f32; }));
  expect_refused<UnsupportedError>(context, "compute in f32",
                                   with([](auto& o) { o.compute = ComputeType::f32; }));
  expect_refused<ArgumentError>(context, "multiply i8 by u8", [&] {
    (void)matmul(a, array({6, 7}, Dtype::u8));
  });
  const Array scalar = array({}, Dtype::f32);
  expect_refused<ArgumentError>(context, "the scale of A is for multiplies of f8",
                                [&] { (void)matmul(a, b, {}, {.scale_a = &scalar}); });
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
    expect_refused<ArgumentError>(context, text, [&] { (void)matmul(a, b, {.scale_mode = mode}, arrays); });
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
    expect_refused<UnsupportedError>(context, name,
                                     [&, mode = mode] { (void)matmul(a, b, {.scale_mode = mode}); });
  }
  if (context.size() == 1) return;  // whose contribution is the sum
  const Array partial = empty(
      context, {8, 6}, Distribution::parse("mesh:r=" + std::to_string(context.size()) + ":-,-;partial=sum:r"),
      Dtype::f8e4m3, here);
  expect_refused<ArgumentError>(context, "not defined for f8e4m3", [&] { (void)matmul(partial, b); });
}

// A cached call exchanges nothing before its first signal or message, which carries the factors.
TEST(MatmulErrors, FactorsThatDifferOnACachedCall) {
  for (const double odd : {3.0, 0.0}) {
    // With alpha = 0 a rank may have nothing to wait for: what it does next is found out inside a node only.
    if (odd == 0 && ranks().per_node > 0) continue;
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
          if (ranks().per_node == 0) {
            EXPECT_THROW(go_on(), DisagreementError) << odd;
          } else {
            EXPECT_THROW(go_on(), Error);  // of another node a rank may only learn that it has gone
          }
          EXPECT_TRUE(context.failed());
        },
        ContextOptions{});
  }
}

RANK_TEST(MatmulErrors, WhatIsWrittenOverlapsNothing) {
  Array a = made(context, {8, 8});
  Array b = made(context, {8, 8});
  expect_refused<ArgumentError>(context, "overlap", [&] { matmul_into(a, b, nullptr, a); });
  expect_refused<ArgumentError>(context, "overlap", [&] { matmul_into(a, b, nullptr, b); });
  MatmulOptions in_place;
  in_place.beta = 1;
  expect_refused<ArgumentError>(context, "overlap", [&] { matmul_into(a, b, &a, a, in_place); });
  Array d = made(context, {8, 8});
  Array bias = made(context, {8});
  in_place.epilogue = Epilogue::relu_aux;
  EpilogueArrays arrays;
  arrays.auxiliary = &d;
  expect_refused<ArgumentError>(context, "overlap", [&] { matmul_into(a, b, &d, d, in_place, arrays); });
}

// The memory of two wrapped arrays overlaps on the last rank only; all ranks are told.
RANK_TEST(MatmulErrors, OverlapOnOneRank) {
  const Layout layout(Slab(0), {8, 8}, context.size());
  const Shape extents = layout.local_shape(context.rank());
  std::vector<double> memory(static_cast<std::size_t>(2 * volume(extents)));
  const bool last = context.rank() + 1 == context.size();
  double* const second = memory.data() + (last ? volume(extents) - 1 : volume(extents));
  const Array a = wrap(context, View::dense(memory.data(), Dtype::f64, extents), layout);
  Array d = wrap(context, View::dense(second, Dtype::f64, extents), layout);
  const Array b = empty(context, layout, Dtype::f64, {.space = MemorySpace::host});
  expect_refused<ArgumentError>(context, "overlap", [&] { matmul_into(a, b, nullptr, d); });
  Matmul plan(context, {a.operand(), b.operand(), {}, d.operand()});
  plan.reset(a, b, nullptr, d);
  expect_refused<ArgumentError>(context, "overlap", [&] { plan.execute(); });
}

RANK_TEST(MatmulErrors, FactorsAndC) {
  Array a = made(context, {4, 4});
  Array b = made(context, {4, 4});
  MatmulOptions options;
  options.beta = 1;
  expect_refused<ArgumentError>(context, "there is no C", [&] { (void)matmul(a, b, options); });
  options = {};
  options.alpha = {1, 1};
  expect_refused<ArgumentError>(context, "must be real", [&] { (void)matmul(a, b, options); });
  Array d = made(context, {4, 4});
  Matmul plan(context, {a.operand(), b.operand(), {}, d.operand()});
  expect_refused<ArgumentError>(context, "reset", [&] { plan.execute(); });
  plan.reset(a, b, nullptr, d);
  expect_refused<ArgumentError>(context, "there is no C", [&] { plan.execute(1, 1); });
  expect_refused<ArgumentError>(context, "without C", [&] { plan.reset(a, b, &d, d); });
  Array other = made(context, {4, 4}, Dtype::f64, Slab(1));
  plan.reset(other, b, nullptr, d);
  if (context.size() > 1) expect_refused<ArgumentError>(context, "plan was made", [&] { plan.execute(); });
}

RANK_TEST(MatmulErrors, EpilogueArrays) {
  Array a = made(context, {4, 6});
  Array b = made(context, {6, 5});
  Array bias = made(context, {4});
  Array longer = made(context, {5});
  EpilogueArrays with_bias;
  with_bias.bias = &bias;
  expect_refused<ArgumentError>(context, "bias", [&] { (void)matmul(a, b, {}, with_bias); });
  MatmulOptions options;
  options.epilogue = Epilogue::relu_bias;
  expect_refused<ArgumentError>(context, "bias", [&] { (void)matmul(a, b, options); });
  with_bias.bias = &longer;
  expect_refused<ArgumentError>(context, "bias", [&] { (void)matmul(a, b, options, with_bias); });
  options.epilogue = Epilogue::dgelu;
  expect_refused<ArgumentError>(context, "auxiliary", [&] { (void)matmul(a, b, options); });
  options.epilogue = Epilogue::bias_gradient_b;
  expect_refused<ArgumentError>(context, "gradient", [&] { (void)matmul(a, b, options); });
  Array complex_a = made(context, {4, 6}, Dtype::c64);
  Array complex_b = made(context, {6, 5}, Dtype::c64);
  options.epilogue = Epilogue::relu;
  expect_refused<ArgumentError>(context, "c64", [&] { (void)matmul(complex_a, complex_b, options); });
  options.epilogue = Epilogue::all_reduce;
  options.distribution = Slab(0);
  if (context.size() > 1)
    expect_refused<ArgumentError>(context, "all_reduce", [&] { (void)matmul(a, b, options); });
}

RANK_TEST(MatmulErrors, DistributionsAndMemory) {
  Array a = made(context, {64, 64});
  Array b = made(context, {64, 64});
  MatmulOptions options;
  options.distribution = Box({{{0, 0}, {8, 8}}});  // of another shape
  expect_refused<ArgumentError>(context, "", [&] { (void)matmul(a, b, options); });
  options = {};
  options.space = MemorySpace::device;
  if (context.state()->device == nullptr)
    expect_refused<UnsupportedError>(context, "no device", [&] { (void)matmul(a, b, options); });
  options = {};
  options.memory_limit = -1;
  expect_refused<ArgumentError>(context, "memory", [&] { (void)matmul(a, b, options); });
  // On the heap it takes no scratch at all.
  const ArrayOptions ordinary{.residency = Residency::ordinary};
  Array across = empty(context, {64, 64}, BlockCyclic({1, context.size()}, {3, 5}), Dtype::f64, ordinary);
  Array d = empty(context, {64, 64}, Slab(1), Dtype::f64, ordinary);
  fill_random(across, 1);
  options.memory_limit = 8;
  if (context.size() > 1) {
    expect_refused<ArgumentError>(context, "memory", [&] { matmul_into(across, b, nullptr, d, options); });
  }
}

RANK_TEST(MatmulErrors, RanksThatDisagree) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  Array a = made(context, {8, 8});
  Array b = made(context, {8, 8});
  MatmulOptions options;
  options.op_a = context.rank() == 0 ? Op::none : Op::transpose;
  expect_refused<DisagreementError>(context, "op_a none op_b none", [&] { (void)matmul(a, b, options); });
  expect_refused<DisagreementError>(context, "op_a transpose op_b none",
                                    [&] { (void)matmul(a, b, options); });
  options = {};
  options.alpha = context.rank() == 0 ? 1 : 2;
  expect_refused<DisagreementError>(context, "alpha", [&] { (void)matmul(a, b, options); });
}

RANK_TEST(MatmulErrors, ArraysOfAnotherContext) {
  std::vector<int> all;
  for (int rank = 0; rank < context.size(); ++rank) all.push_back(rank);
  Context other = context.subgroup(all);
  Array a = made(context, {4, 4});
  Array b = made(other, {4, 4});
  expect_refused<ArgumentError>(context, "context", [&] { (void)matmul(a, b); });
  EXPECT_THROW((void)matmul(Array(), b), ArgumentError);
}

}  // namespace
}  // namespace partita::testing
