// Products of cuBLAS, and graphs of them.
#include <string>

#include "cuda/math_case.hpp"

namespace partita::testing {
namespace {

TEST_F(CudaMathTest, ProductsAreThoseOfTheHost) {
  for (int round = 0; round < 120; ++round) {
    devices::DeviceGemm what;
    const Dtype factors = dtypes[static_cast<std::size_t>(round) % dtypes.size()];
    what.result = is_half(factors) && round % 4 < 2 ? Dtype::f32 : factors;
    what.m = number(1, 300), what.n = number(1, 300), what.k = number(1, 600);
    what.batches = number(0, 2) == 0 ? number(2, 4) : 1;
    what.alignment = round % 2 == 0 ? 256 : size_of(factors);
    const auto factor = [&](std::int64_t rows, std::int64_t columns) {
      const auto op = static_cast<devices::BlasOp>(number(0, is_complex(factors) ? 2 : 1));
      const std::int64_t leading = (op == devices::BlasOp::none ? rows : columns) + number(0, 3);
      return devices::DeviceGemm::Factor{op, leading,
                                         leading * (op == devices::BlasOp::none ? columns : rows), factors};
    };
    what.a = factor(what.m, what.k);
    what.b = factor(what.k, what.n);
    what.leading = what.m + number(0, 3);
    what.stride = what.leading * what.n;
    const Memory a = random_numbers(what.a.stride * what.batches, factors);
    const Memory b = random_numbers(what.b.stride * what.batches, factors);
    Memory c = random_numbers(what.stride * what.batches, what.result);
    const bool real = !is_complex(what.result);
    const Precise alpha(1.25, real ? 0 : -0.5),
        beta = round % 3 == 0 ? Precise(0) : Precise(-0.75, real ? 0 : 0.25);
    if (beta == Precise(0)) std::ranges::fill(c, '\xff');  // NaN
    const Uploaded on_a = upload(a), on_b = upload(b), on_c = upload(c);
    const auto product = device_->math()->prepare(what, true);
    device_->math()->gemm(*product, {on_a.memory.data(), on_b.memory.data(), on_c.memory.data()}, alpha, beta,
                          device_->stream());
    host_.gemm(*product, {a.data(), b.data(), c.data()}, alpha, beta, {});
    const double bound = 8 * static_cast<double>(what.k + 4) * rounding(what.result);
    expect_near(download(on_c), c, what.result, bound, "product");
  }
}

// Of a byte an element: what cuBLASLt has of them.
TEST_F(CudaMathTest, NarrowProductsAreThoseOfTheHost) {
  using enum Dtype;
  int made = 0;
  for (const auto [of_a, of_b, result] :
       {std::array{f8e4m3, f8e4m3, f32}, std::array{f8e4m3, f8e5m2, f32}, std::array{f8e5m2, f8e4m3, f32},
        std::array{i8, i8, i32}, std::array{f8e4m3, f8e4m3, bf16}, std::array{f8e5m2, f8e4m3, f16}}) {
    if (!device_->math()->multiplies(of_a, of_b, result)) continue;
    for (int round = 0; round < 12; ++round) {
      devices::DeviceGemm what;
      const auto size = [&] { return devices::narrow_alignment * number(1, 20); };
      what.m = size(), what.n = size(), what.k = size();
      what.batches = round % 3 == 0 ? 3 : 1;
      what.alignment = devices::narrow_alignment;
      what.a = {devices::BlasOp::transpose, what.k + 16, (what.k + 16) * what.m, of_a};
      what.b = {devices::BlasOp::none, what.k, what.k * what.n, of_b};
      what.result = result;
      what.leading = what.m + 16;
      what.stride = what.leading * what.n;
      const Memory a = random_bytes(what.a.stride * what.batches, of_a);
      const Memory b = random_bytes(what.b.stride * what.batches, of_b);
      Memory c = random_bytes(what.stride * what.batches * size_of(result), i8);
      if (result != i32) c = random_numbers(what.stride * what.batches, result);
      const Uploaded on_a = upload(a), on_b = upload(b), on_c = upload(c);
      const auto product = device_->math()->prepare(what, true);
      const double alpha = result == i32 ? -3 : 0.5, beta = round % 2 == 0 ? 0 : 2;
      device_->math()->gemm(*product, {on_a.memory.data(), on_b.memory.data(), on_c.memory.data()}, alpha,
                            beta, device_->stream());
      host_.gemm(*product, {a.data(), b.data(), c.data()}, alpha, beta, {});
      // Tensor cores add products of 8 bits with 13 bits behind the first, up to 32 at once.
      const double bound = static_cast<double>(what.k + 4) * (0x1p-11 + rounding(result));
      if (result == i32) {
        EXPECT_EQ(download(on_c), c) << "product of integers";
      } else {
        expect_near(download(on_c), c, result, bound, "product");
      }
      ++made;
    }
  }
  if (made == 0) GTEST_SKIP() << "this device, or this cuBLASLt, multiplies none";
}

// A product that was prepared for better memory than it is given.
TEST_F(CudaMathTest, MemoryOfAnyAlignmentIsTaken) {
  constexpr std::int64_t n = 96;
  devices::DeviceGemm what;
  what.a.dtype = what.b.dtype = Dtype::f16, what.result = Dtype::f32;
  what.m = what.n = what.k = n;
  what.a.leading = what.b.leading = what.leading = n;
  what.alignment = 256;
  const auto product = device_->math()->prepare(what, true);
  EXPECT_EQ(device_->math()->prepare(what, true), product);
  const Memory a = random_numbers(n * n + 1, Dtype::f16), b = random_numbers(n * n, Dtype::f16);
  Memory c(static_cast<std::size_t>(n * n * size_of(Dtype::f32)));
  const Uploaded on_a = upload(a), on_b = upload(b), on_c = upload(c);
  const auto* const odd = static_cast<const char*>(on_a.memory.data()) + size_of(Dtype::f16);
  device_->math()->gemm(*product, {odd, on_b.memory.data(), on_c.memory.data()}, 1, 0, device_->stream());
  host_.gemm(*product, {a.data() + size_of(Dtype::f16), b.data(), c.data()}, 1, 0, {});
  expect_near(download(on_c), c, Dtype::f32, 8 * static_cast<double>(n + 4) * rounding(Dtype::f32), "odd");
}

// The choices of another rank: those that do not suit change nothing.
TEST_F(CudaMathTest, WhatWasChosenIsToldAndOthersAreHeard) {
  devices::DeviceGemm what;
  what.m = what.n = what.k = 320;
  what.a.leading = what.b.leading = what.leading = 320;
  what.alignment = 256;
  const auto product = device_->math()->prepare(what, true);
  const std::string news = device_->math()->news_of_choices();
  if (news.empty()) GTEST_SKIP() << "no cuBLASLt";
  EXPECT_TRUE(device_->math()->news_of_choices().empty());
  const std::string other = news.substr(0, news.find('\t')) + "\t1 2 3 4 5 6 7 8\n";
  for (const std::string& told : {other, news}) {
    device_->math()->agree_on_choices(std::array{told});
    const Memory a = random_numbers(320 * 320, Dtype::f64), b = random_numbers(320 * 320, Dtype::f64);
    Memory c(a.size());
    const Uploaded on_a = upload(a), on_b = upload(b), on_c = upload(c);
    device_->math()->gemm(*product, {on_a.memory.data(), on_b.memory.data(), on_c.memory.data()}, 1, 0,
                          device_->stream());
    host_.gemm(*product, {a.data(), b.data(), c.data()}, 1, 0, {});
    expect_near(download(on_c), c, Dtype::f64, 8 * 324.0 * rounding(Dtype::f64), "product");
  }
}

// What is captured has no memory but ours, so that a graph gives the bits that a call gives.
TEST_F(CudaMathTest, GraphsGiveTheBitsOfCalls) {
  constexpr std::int64_t n = 257;
  devices::DeviceGemm what;
  what.m = what.n = what.k = n;
  what.a.leading = what.b.leading = what.leading = n;
  what.alignment = 256;
  Uploaded a = upload(random_numbers(n * n, Dtype::f64)), b = upload(random_numbers(n * n, Dtype::f64));
  const Uploaded c = upload(random_numbers(n * n, Dtype::f64));
  const auto product = device_->math()->prepare(what, true);
  const auto stream = static_cast<cudaStream_t>(device_->stream().handle);
  const auto multiply = [&] {
    device_->math()->gemm(*product, {a.memory.data(), b.memory.data(), c.memory.data()}, 1, 0,
                          device_->stream());
  };
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t program = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  multiply();
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&program, graph, 0), cudaSuccess);
  for (int round = 0; round < 100; ++round) {
    put(random_numbers(n * n, Dtype::f64), a);
    multiply();
    const Memory called = download(c);
    put(random_numbers(n * n, Dtype::f64), c);
    ASSERT_EQ(cudaGraphLaunch(program, stream), cudaSuccess);
    ASSERT_EQ(download(c), called) << "round " << round;
  }
  cudaGraphExecDestroy(program);
  cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace partita::testing
