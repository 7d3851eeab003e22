// The memory of results, and symmetric memory as arrays; on the host or (PARTITA_TEST_DEVICE) on devices.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

RANK_TEST(Results, SymmetricMemoryIsSeenAsArrays) {
  for (const MemorySpace space : {MemorySpace::host, context.state()->default_space()}) {
    const SymmetricMemory block = SymmetricMemory::allocate(context, 6 * 4 * 8, space);
    EXPECT_EQ(block.space(), space);
    const View part = block.view(Dtype::f64, {6, 4}, Order::column_major);
    EXPECT_EQ(part.data, block.data());
    EXPECT_EQ(part.strides, Strides({1, 6}));
    EXPECT_EQ(part.space, space);
    Array wrapped = wrap(context, part, Slab(0), {6 * context.size(), 4});
    EXPECT_EQ(wrapped.operand().residency, Residency::heap);
    write_known(wrapped);
    EXPECT_EQ(count_wrong(redistribute(wrapped, Slab(1)), wrapped.layout()), 0);
    EXPECT_NE(block.peer(context.rank()), nullptr);
    EXPECT_THROW((void)block.view(Dtype::f64, {6, 5}), ArgumentError);
    EXPECT_THROW((void)block.view(Dtype::f64, {-1, 5}), ArgumentError);
    EXPECT_NO_THROW((void)block.view(Dtype::u8, {192}));
  }
  SymmetricMemory block =
      SymmetricMemory::make_symmetric(context, 8 * (context.rank() + 1), MemorySpace::host);
  EXPECT_EQ(block.view(Dtype::i64, {context.size()}).extents, Shape({context.size()}));
  block.free();
  EXPECT_THROW((void)block.view(Dtype::i64, {1}), ArgumentError);
  if (context.device().kind == Device::Kind::cpu) {
    EXPECT_ERROR_ON_ALL(UnsupportedError, SymmetricMemory::allocate(context, 8, MemorySpace::device));
  }
}

RANK_TEST(Results, LieWhereTheOptionsSay) {
  Array a = empty(context, {9, 8}, Slab(0), Dtype::f64), b = empty(context, {8, 7}, Slab(1), Dtype::f64);
  fill_random(a, 1);
  fill_random(b, 2);
  const Array product = matmul(a, b);
  const MemorySpace there = context.state()->default_space();
  for (const Residency residency : {Residency::heap, Residency::ordinary}) {
    const auto check_of = [&](const Array& result, const Array& expected, MemorySpace space) {
      EXPECT_EQ(result.operand().residency, residency);
      EXPECT_EQ(result.local().space, space);
      EXPECT_LT(compare(result, expected).largest_difference, 1e-12);
    };
    for (int twice = 0; twice < 2; ++twice) {
      check_of(redistribute(a, Slab(1), {.residency = residency}), a, there);
      check_of(redistribute(a, Slab(1), {.residency = residency, .space = MemorySpace::host}), a,
               MemorySpace::host);
      check_of(gather(a, 0, {.residency = residency}), a, there);
      check_of(gather(a, context.size() - 1,
                      {.residency = residency, .order = Order::column_major, .space = MemorySpace::host}),
               a, MemorySpace::host);
      check_of(matmul(a, b, {.residency = residency}), product, there);
    }
    const Array whole = gather(a, 0, {.residency = Residency::ordinary, .space = MemorySpace::host});
    check_of(scatter(context, whole.local(), {9, 8}, Slab(1), 0, {.residency = residency}), a, there);
    check_of(scatter(context, whole.local(), {9, 8}, Slab(1), 0,
                     {.residency = residency, .space = MemorySpace::host}),
             a, MemorySpace::host);
  }
  const Array on_host = redistribute(a, Slab(0), {.space = MemorySpace::host});
  const Array back = redistribute(on_host, Slab(1), {.residency = Residency::ordinary, .space = there});
  EXPECT_EQ(back.local().space, there);
  EXPECT_TRUE(compare(back, a).equal);
  if (there == MemorySpace::host) {
    EXPECT_ERROR_ON_ALL(UnsupportedError, redistribute(a, Slab(1), {.space = MemorySpace::device}));
  }
  EXPECT_FALSE(context.failed());
}

RANK_TEST(Results, OfTransformsLieWhereTheOptionsSay) {
  if (context.device().kind == Device::Kind::cuda) return;  // transforms are of host memory
  Array field = empty(context, {8, 6}, Slab(0), Dtype::f64);
  fill_random(field, 1);
  const Array spectrum = rfft(field);
  for (const Residency residency : {Residency::heap, Residency::ordinary}) {
    FftOptions options{.residency = residency};
    const auto check_of = [&](const Array& result, const Array& expected) {
      EXPECT_EQ(result.operand().residency, residency);
      EXPECT_LT(compare(result, expected).largest_difference, 1e-12);
    };
    check_of(rfft(field, options), spectrum);
    check_of(irfft(spectrum, options), field);
    check_of(spectral_apply(field, [](const WaveVector&) { return std::complex<double>(1); },
                            {.axes = {0, 1}, .residency = residency}),
             field);
    check_of(resize_spectrum(spectrum, {8, 6}, {8, 6}, {.halved_axis = 1, .residency = residency}), spectrum);
    FFT plan(context, field.operand(), [&] {
      FftOptions forward{.kind = FftKind::r2c, .residency = residency};
      return forward;
    }());
    EXPECT_EQ(plan.output().residency, residency);
  }
}

}  // namespace
}  // namespace partita::testing
