// Invalid arguments of linear algebra: the same error on all ranks, and the context stays usable.
#include "support/models/linear_model.hpp"
#include "support/withdrawal.hpp"

namespace partita::testing {
namespace {

Array some(const Context& context, const Shape& shape, Dtype dtype = Dtype::f64) {
  Array array = empty(context, shape, Slab(0), dtype);
  fill_random(array, 1);
  return array;
}

RANK_TEST(LinearErrors, DtypesAreRefusedWithTheRemedy) {
  for (const Dtype dtype : {Dtype::i32, Dtype::i64, Dtype::u8, Dtype::f16, Dtype::bf16}) {
    const Array a = some(context, {6, 6}, dtype), b = some(context, {6, 2}, dtype);
    const std::string which{name(dtype)};
    EXPECT_ERROR_ON_ALL(ArgumentError, Lu(a), which, "astype");
    EXPECT_ERROR_ON_ALL(ArgumentError, Cholesky(a), which, "astype");
    EXPECT_ERROR_ON_ALL(ArgumentError, Qr(a), which, "astype");
    EXPECT_ERROR_ON_ALL(ArgumentError, solve(a, b), which, "astype");
    EXPECT_ERROR_ON_ALL(ArgumentError, solve_triangular(a, b), which, "astype");
    EXPECT_ERROR_ON_ALL(ArgumentError, cholesky(a), which, "astype");
    EXPECT_ERROR_ON_ALL(ArgumentError, qr(a), which, "astype");
    EXPECT_ERROR_ON_ALL(ArgumentError, inverse(a), which, "astype");
    EXPECT_ERROR_ON_ALL(ArgumentError, slogdet(a), which, "astype");
    EXPECT_ERROR_ON_ALL(ArgumentError, lstsq(a, b), which, "astype");
  }
  const Array a = some(context, {6, 6}), b = some(context, {6, 2}, Dtype::f32);
  EXPECT_ERROR_ON_ALL(ArgumentError, solve(a, b), "f64", "f32", "astype");
  EXPECT_ERROR_ON_ALL(ArgumentError, lstsq(a, b), "f64", "f32", "astype");
}

RANK_TEST(LinearErrors, ShapesThatDoNotSuit) {
  const Array square = some(context, {6, 6}), tall = some(context, {8, 6}), wide = some(context, {6, 8}),
              line = some(context, {6}), stack = some(context, {2, 6, 6});
  const Array b = some(context, {6, 2}), c = some(context, {5, 2});
  for (const Array* const a : {&line, &stack}) {
    EXPECT_ERROR_ON_ALL(ArgumentError, Lu(*a), "matrix");
    EXPECT_ERROR_ON_ALL(ArgumentError, Qr(*a), "matrix");
    EXPECT_ERROR_ON_ALL(ArgumentError, Cholesky(*a), "matrix");
    EXPECT_ERROR_ON_ALL(ArgumentError, slogdet(*a), "matrix");
    EXPECT_ERROR_ON_ALL(ArgumentError, solve_refined(*a, b), "matrix");
  }
  EXPECT_ERROR_ON_ALL(ArgumentError, qr(line), "matrix");
  EXPECT_ERROR_ON_ALL(ArgumentError, cholesky(line), "matrix");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve(line, b), "matrix");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve_triangular(line, b), "matrix");
  EXPECT_ERROR_ON_ALL(ArgumentError, lstsq(line, b), "matrix");
  for (const Array* const a : {&tall, &wide}) {
    const std::string shape = to_string(a->shape());
    EXPECT_ERROR_ON_ALL(ArgumentError, Cholesky(*a), "square", shape);
    EXPECT_ERROR_ON_ALL(ArgumentError, solve(*a, b), "square", shape);
    EXPECT_ERROR_ON_ALL(ArgumentError, solve_triangular(*a, b), "square", shape);
    EXPECT_ERROR_ON_ALL(ArgumentError, inverse(*a), "square", shape);
    EXPECT_ERROR_ON_ALL(ArgumentError, slogdet(*a), "square", shape);
  }
  EXPECT_ERROR_ON_ALL(ArgumentError, solve(square, c), "B", "6", "5x2");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve(square, stack), "B", "2x6x6");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve_triangular(square, c), "B", "5x2");
  EXPECT_ERROR_ON_ALL(ArgumentError, lstsq(tall, b), "B", "8", "6x2");
  EXPECT_ERROR_ON_ALL(ArgumentError, lstsq(wide, c), "B", "6", "5x2");
  const Lu lu(square);
  Array x = some(context, {6, 3});
  EXPECT_ERROR_ON_ALL(ArgumentError, lu.solve_into(b, x), "X", "6x2", "6x3");
  Array single = some(context, {6, 2}, Dtype::f32);
  EXPECT_ERROR_ON_ALL(ArgumentError, lu.solve_into(b, single), "X", "f32");
  EXPECT_ERROR_ON_ALL(ArgumentError, lu.packed_into(x), "6x6", "6x3");
}

RANK_TEST(LinearErrors, OptionsThatDoNotSuit) {
  const Array a = some(context, {6, 6}), b = some(context, {6, 2});
  EXPECT_ERROR_ON_ALL(ArgumentError, Lu(a, {.block = -1}), "-1");
  EXPECT_ERROR_ON_ALL(ArgumentError, lstsq(a, b, {.op = Op::transpose}), "op", "none");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve(a, b, {.distribution = Slab(2)}));
  if (has_devices()) return;
  EXPECT_ERROR_ON_ALL(UnsupportedError, solve(a, b, {.stream = Stream{}}));
  EXPECT_ERROR_ON_ALL(UnsupportedError, solve(a, b, {.space = MemorySpace::device}), "device");
}

RANK_TEST(LinearErrors, ArraysThatAreNone) {
  const Array a = some(context, {6, 6}), none;
  EXPECT_ERROR_ON_ALL(ArgumentError, Lu{none});
  EXPECT_ERROR_ON_ALL(ArgumentError, solve(none, a));
  EXPECT_ERROR_ON_ALL(ArgumentError, solve(a, none));
  EXPECT_ERROR_ON_ALL(ArgumentError, lstsq(a, none));
  EXPECT_ERROR_ON_ALL(ArgumentError, solve_triangular(a, none));
  Lu lu(a);
  EXPECT_ERROR_ON_ALL(ArgumentError, lu.factorize(none));
  Array x;
  EXPECT_ERROR_ON_ALL(ArgumentError, lu.solve_into(a, x), "X");
}

RANK_TEST(LinearErrors, WhatIsWrittenOverlapsNothing) {
  Array large = some(context, {6, 8});
  const Lu lu(some(context, {6, 6}));
  Array b = large.window({0, 0}, {6, 4}), x = large.window({0, 2}, {6, 4}),
        beside = large.window({0, 4}, {6, 4});
  EXPECT_ERROR_ON_ALL(ArgumentError, lu.solve_into(b, x), "overlap");
  EXPECT_NO_THROW(lu.solve_into(b, beside));
  Array a = empty(context, {6, 6}, by_panels(context, 6, 3), Dtype::f64, {.order = Order::column_major});
  fill_random(a, 2);
  const Lu in_place(a, {.overwrite = true});
  EXPECT_ERROR_ON_ALL(ArgumentError, in_place.solve_into(some(context, {6, 6}), a), "overlap");
}

RANK_TEST(LinearErrors, RanksThatDisagree) {
  if (context.size() == 1) return;
  const Array small = some(context, {6, 6}), large = some(context, {8, 8}), b = some(context, {6, 2}),
              c = some(context, {6, 3});
  // Which facts are named depends on the plans that were made before.
  const bool odd = context.rank() == 1;
  EXPECT_ERROR_ON_ALL(DisagreementError, Lu(odd ? large : small), "the ranks");
  EXPECT_ERROR_ON_ALL(DisagreementError, cholesky(odd ? large : small), "the ranks");
  EXPECT_ERROR_ON_ALL(DisagreementError, Qr(small, {.block = odd ? 3 : 2}), "the ranks");
  const Lu lu(small);
  EXPECT_ERROR_ON_ALL(DisagreementError, lu.solve(odd ? c : b), "the ranks");
  EXPECT_ERROR_ON_ALL(DisagreementError, lu.solve(b, {.op = odd ? Op::none : Op::transpose}), "the ranks");
  EXPECT_ERROR_ON_ALL(DisagreementError, odd ? Lu(small).first_zero_pivot() : (Qr(small), std::nullopt));
  EXPECT_FALSE(context.failed());
  EXPECT_NO_THROW((void)lu.solve(b));
}

// Peers read factors by their place on the heap: those of another object would give wrong numbers silently.
RANK_TEST_WITH(LinearErrors, OtherFactorsOnOneRank, ContextOptions{}) {
  if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  if (context.size() == 1) return;
  const Array a = some(context, {12, 12}), b = some(context, {12, 4});
  const Lu one(a, {.block = 3}), other(a, {.block = 3});
  Array x = empty(context, {12, 4}, Slab(1), Dtype::f64);
  one.solve_into(b, x);
  other.solve_into(b, x);
  const std::string text = caught<DisagreementError>([&] {
    (context.rank() == 1 ? one : other).solve_into(b, x);
    context.barrier();
  });
  EXPECT_TRUE(contains(text, "solve: the ranks disagree on the operands")) << text;
  expect_same_text_on_all(context.rank(), text);
}

RANK_TEST(LinearErrors, OneRankIsWrong) {
  if (context.size() == 1) return;
  const Array a = some(context, {6, 6}), b = some(context, {6, 2}),
              integers = some(context, {6, 6}, Dtype::i32), other = some(context, {5, 2});
  const bool odd = context.rank() == 1;
  const auto expect_error = [&](const std::function<void()>& call) {
    std::string text;
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const ArgumentError& error) {
      text = error.what();
    }
    expect_same_on_all(context, text);
    EXPECT_FALSE(context.failed());
  };
  const Lu lu(a);
  expect_error([&] { (void)Lu(odd ? integers : a); });
  expect_error([&] { (void)lu.solve(odd ? other : b); });
  expect_error([&] { (void)solve(a, odd ? other : b); });
  expect_error([&] { (void)solve_triangular(odd ? other : a, b); });
  expect_error([&] { (void)lstsq(a, odd ? other : b); });
  expect_error([&] {
    Array x = odd ? other : b;
    lu.solve_into(b, x);
  });
  EXPECT_NO_THROW((void)lu.solve(b));
}

}  // namespace
}  // namespace partita::testing
