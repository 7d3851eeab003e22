// Operations into arrays of the caller: the same numbers as in new arrays, in whatever memory.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

const Shape extents{6, 5, 7};

Array random_array(const Context& context, const Shape& shape, Dtype dtype, std::uint64_t seed = 1) {
  Array array = empty(context, shape, Slab(0), dtype);
  fill_random(array, seed);
  return array;
}

void expect_close(const Array& result, const Array& expected) {
  ASSERT_EQ(result.shape(), expected.shape());
  ASSERT_EQ(result.dtype(), expected.dtype());
  EXPECT_LE(compare(result, expected).largest_difference, 1e-12);
}

/// Ordinary memory, gaps, the heap, in distributions of all kinds.
void for_each_output(const Context& context, const Shape& shape, Dtype dtype,
                     const std::function<void(Array&)>& visit) {
  const int ranks = context.size();
  for (const Distribution& distribution :
       {Distribution(Slab(1)), Distribution(BlockCyclic({1, 1, ranks}, {2, 2, 1})),
        Distribution(Replicated()),
        Distribution(Box::from_cuts({{0, shape[0]}, {0, shape[1]}, {0, shape[2]}}))}) {
    for (const int memory : {0, 2, 3}) {
      Wrapped output = make_array(context, Layout(distribution, shape, ranks), dtype, memory);
      visit(output.array);
    }
  }
}

RANK_TEST(Into, EveryTransform) {
  const Array real = random_array(context, extents, Dtype::f64);
  const Array complex = random_array(context, extents, Dtype::c128);
  FftOptions some{.axes = {2, 1}, .norm = Norm::ortho};
  for_each_output(context, extents, Dtype::c128, [&](Array& output) {
    fft_into(complex, output, some);
    expect_close(output, fft(complex, some));
    ifft_into(complex, output);
    expect_close(output, ifft(complex));
  });
  const Array half = rfft(real);
  for_each_output(context, half.shape(), Dtype::c128, [&](Array& output) {
    rfft_into(real, output);
    expect_close(output, half);
  });
  // The odd length of the last axis is that of the output.
  for_each_output(context, extents, Dtype::f64, [&](Array& output) {
    irfft_into(half, output);
    expect_close(output, real);
    dct_into(real, output, 3);
    expect_close(output, dct(real, 3));
    idct_into(real, output, 2, some);
    expect_close(output, idct(real, 2, some));
    dst_into(real, output);
    expect_close(output, dst(real));
    idst_into(real, output, 4);
    expect_close(output, idst(real, 4));
  });
}

RANK_TEST(Into, TheInputItself) {
  for (const int memory : {0, 1}) {
    Wrapped array = make_array(context, Layout(Slab(0), extents, context.size()), Dtype::c128, memory);
    fill_random(array.array, 1);
    const Array expected = fft(array.array);
    fft_into(array.array, array.array);
    expect_close(array.array, expected);
    ifft_into(array.array, array.array);
    expect_close(array.array, random_array(context, extents, Dtype::c128));
  }
}

RANK_TEST(Into, SpectralHelpers) {
  const Array field = random_array(context, extents, Dtype::f64);
  const Array other = random_array(context, extents, Dtype::f64, 2);
  const Multiplier damp = [](const WaveVector& wave) { return std::exp(-0.1 * wave.squared()); };
  for_each_output(context, extents, Dtype::f64, [&](Array& output) {
    spectral_apply_into(field, output, damp);
    expect_close(output, spectral_apply(field, damp));
    solve_poisson_into(field, output);
    expect_close(output, solve_poisson(field));
    convolve_into(field, other, output);
    expect_close(output, convolve(field, other));
  });
  const std::vector<Array> derivatives = gradient(field);
  std::vector<Array> results;
  for (int axis = 0; axis < 3; ++axis) results.push_back(empty(context, extents, Slab(axis), Dtype::f64));
  gradient_into(field, results);
  for (std::size_t i = 0; i < results.size(); ++i) expect_close(results[i], derivatives[i]);
  Array itself = random_array(context, extents, Dtype::f64);
  solve_poisson_into(itself, itself);
  expect_close(itself, solve_poisson(field));
}

RANK_TEST(Into, MoreAndFewerModes) {
  const Shape finer{9, 8, 10};
  const Array spectrum = fft(random_array(context, extents, Dtype::c128));
  Array up = empty(context, finer, Slab(2), Dtype::c128);
  resize_spectrum_into(spectrum, up, extents, finer);
  expect_close(up, resize_spectrum(spectrum, extents, finer));
  Array back = empty(context, extents, Slab(1), Dtype::c128);
  resize_spectrum_into(up, back, finer, extents);
  expect_close(back, spectrum);
}

RANK_TEST(Into, Redistributions) {
  const Array source = random_array(context, extents, Dtype::f64);
  RedistributeOptions turned{.axes = {2, 0, 1}};
  for_each_output(context, {7, 6, 5}, Dtype::f64, [&](Array& output) {
    redistribute_into(source, output, turned);
    EXPECT_TRUE(compare(output, redistribute(source, Slab(0), turned)).equal);
  });
}

RANK_TEST(Into, WhatDoesNotFitIsRefused) {
  const auto refused = [](const char* part, const auto& action) {
    const std::string text = caught<ArgumentError>(action);
    EXPECT_TRUE(contains(text, part)) << text;
  };
  const Array field = random_array(context, extents, Dtype::f64);
  Array single = random_array(context, extents, Dtype::f32),
        larger = random_array(context, {6, 5, 8}, Dtype::f64);
  Array none;
  std::vector<Array> two(2, larger);
  refused("an empty Array", [&] { solve_poisson_into(field, none); });
  refused("the result is f32", [&] { solve_poisson_into(field, single); });
  refused("6x5x8", [&] { solve_poisson_into(field, larger); });
  refused("2 results for the derivatives along 3 axes", [&] { gradient_into(field, two); });
  const Array spectrum = random_array(context, extents, Dtype::c128);
  Array modes = random_array(context, {6, 5, 8}, Dtype::c128);
  refused("the modes are", [&] { resize_spectrum_into(spectrum, modes, extents, {9, 5, 7}); });
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
