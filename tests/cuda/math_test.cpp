// What a GPU computes, against the host's kernels: products of cuBLAS, passes of kernels of our own, graphs.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "device/accelerator.hpp"
#include "device/device_memory.hpp"
#include "device/product_choices.hpp"
#include "kernels/host/number_runs.hpp"
#include "ranks/fake_math.hpp"

namespace partita::testing {
namespace {

using Wide = std::complex<double>;
using Memory = std::vector<char>;

constexpr std::array dtypes{Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};
/// Of the parts of a pass that computes in f32.
constexpr std::array of_f32{Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f8e4m3, Dtype::f8e5m2};

bool is_half(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16;
}

/// Half the distance from 1 to the next number.
double rounding(Dtype dtype) {
  if (dtype == Dtype::f16) return 0x1p-11;
  if (dtype == Dtype::bf16) return 0x1p-8;
  if (is_float8(dtype)) return dtype == Dtype::f8e4m3 ? 0x1p-4 : 0x1p-3;
  return dtype == Dtype::f32 || dtype == Dtype::c64 ? 0x1p-24 : 0x1p-53;
}

class CudaMathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    devices::Accelerators& devices = devices::Accelerators::built_in();
    if (devices.count() == 0) GTEST_SKIP() << "no GPU: " << devices.why_none();
    device_ = devices.device(0)->open({}, 1);
    if (device_->math() == nullptr) GTEST_SKIP() << "no cuBLAS: " << device_->why_no_math();
  }

  /// Random ones, beside the host's. `in_packs`: whose numbers lie so that four go at a time.
  void check_passes(bool in_packs);

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  /// Numbers between -1 and 1.
  Memory random_numbers(std::int64_t count, Dtype dtype) {
    std::uniform_real_distribution<double> any(-1, 1);
    Memory memory(static_cast<std::size_t>(count * size_of(dtype)));
    auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const Wide value(any(random_), any(random_));
      const double real = value.real();
      if (is_complex(dtype)) {
        kernels::store_run(&value, 1, bytes, dtype, i, 1);
      } else {
        kernels::store_run(&real, 1, bytes, dtype, i, 1);
      }
    }
    return memory;
  }

  /// Of i8 any; of numbers of 8 bits those between -1 and 1.
  Memory random_bytes(std::int64_t count, Dtype dtype) {
    if (dtype != Dtype::i8) return random_numbers(count, dtype);
    Memory memory(static_cast<std::size_t>(count));
    for (char& byte : memory) byte = static_cast<char>(number(-128, 127));
    return memory;
  }

  static std::vector<Wide> widened(const Memory& memory, Dtype dtype) {
    const std::int64_t count = static_cast<std::int64_t>(memory.size()) / size_of(dtype);
    const auto* const bytes = reinterpret_cast<const std::byte*>(memory.data());
    std::vector<Wide> result(static_cast<std::size_t>(count));
    std::vector<double> real(result.size());
    if (is_complex(dtype)) {
      kernels::load_run(bytes, dtype, 0, 1, count, result.data());
    } else {
      kernels::load_run(bytes, dtype, 0, 1, count, real.data());
      std::ranges::copy(real, result.begin());
    }
    return result;
  }

  /// Whether the device has them as the host, each to `bound`.
  void expect_near(const Memory& there, const Memory& here, Dtype dtype, double bound, const char* what) {
    const std::vector<Wide> a = widened(there, dtype), b = widened(here, dtype);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(a[i].real()) && std::isnan(b[i].real())) continue;
      ASSERT_LE(std::abs(a[i] - b[i]), bound) << what << " " << name(dtype) << " element " << i;
    }
  }

  struct Uploaded {
    devices::DeviceMemory memory;
    std::size_t bytes;
  };
  Uploaded upload(const Memory& memory) {
    Uploaded result{devices::DeviceMemory(*device_, static_cast<std::int64_t>(memory.size()) + 16),
                    memory.size()};
    put(memory, result);
    return result;
  }
  /// From ordinary host memory cudaMemcpy may return while the device still copies.
  void put(const Memory& memory, const Uploaded& to) const {
    ASSERT_EQ(cudaMemcpy(to.memory.data(), memory.data(), to.bytes, cudaMemcpyDefault), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  Memory download(const Uploaded& from) const {
    Memory result(from.bytes);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(result.data(), from.memory.data(), from.bytes, cudaMemcpyDefault), cudaSuccess);
    return result;
  }

  std::unique_ptr<devices::Accelerator> device_;
  FakeMath host_{[](Stream, const std::function<void()>& work) { work(); }};
  std::mt19937_64 random_{std::random_device()()};
};

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
    const Wide alpha(1.25, real ? 0 : -0.5), beta = round % 3 == 0 ? Wide(0) : Wide(-0.75, real ? 0 : 0.25);
    if (beta == Wide(0)) std::ranges::fill(c, '\xff');  // NaN
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

void CudaMathTest::check_passes(bool in_packs) {
  for (int round = 0; round < 200; ++round) {
    devices::ElementPass pass;
    pass.computed = in_packs ? Dtype::f32 : dtypes[2 + static_cast<std::size_t>(round) % 4];
    const bool real = !is_complex(pass.computed);
    if (real) pass.activation = static_cast<Activation>(number(0, 4));
    pass.scale = number(0, 1) == 0 ? 1 : 0.5;
    pass.beta = number(0, 1) == 0 ? Wide(0) : Wide(-0.75, real ? 0 : 0.25);
    devices::ElementNest nest;
    std::int64_t elements = 1;
    const bool bias_along = in_packs && number(0, 1) == 0;
    for (std::int64_t left = in_packs ? number(1, 2) : number(0, 4); left > 0; --left) {
      const bool innermost = nest.loops.empty();
      devices::ElementNest::Loop loop{number(1, 40) * (in_packs && innermost ? 4 : 1), {}};
      for (std::size_t x = 0; x < devices::ElementNest::parts; ++x)
        loop.strides[x] = x != devices::ElementPass::bias ? elements : innermost && bias_along ? 1 : 0;
      elements *= loop.count;
      nest.loops.insert(nest.loops.begin(), loop);
    }
    const bool backward = pass.activation == Activation::drelu || pass.activation == Activation::dgelu;
    devices::ElementPass there = pass;
    std::array<Memory, devices::ElementNest::parts> here;
    std::vector<Uploaded> uploaded;
    for (std::size_t x = 0; x < devices::ElementNest::parts; ++x) {
      const Dtype dtype = pass.computed == Dtype::f32
                              ? of_f32[static_cast<std::size_t>(number(0, in_packs ? 2 : 4))]
                              : pass.computed;
      const bool scales = x == devices::ElementPass::scale_a || x == devices::ElementPass::scale_b;
      const bool is_there = x == devices::ElementPass::to ||
                            (x == devices::ElementPass::auxiliary && backward) ||
                            (number(0, 3) > 0 && (!scales || (pass.computed == Dtype::f32 && !in_packs)));
      pass.dtypes[x] = there.dtypes[x] = dtype;
      nest.offset[x] = in_packs ? 4 * number(0, 1) : number(0, 2);
      here[x] = random_numbers(elements + 4, dtype);
      uploaded.push_back(upload(here[x]));
      pass.data[x] = is_there ? here[x].data() : nullptr;
      there.data[x] = is_there ? uploaded.back().memory.data() : nullptr;
    }
    Memory scalars = random_numbers(2, Dtype::f32);  // scale_d, amax, which is never negative
    scalars.back() = static_cast<char>(scalars.back() & 0x7f);
    const Uploaded scalars_there = upload(scalars);
    if (pass.computed == Dtype::f32 && !in_packs && number(0, 1) == 0) {
      pass.scale_d = scalars.data();
      pass.amax = scalars.data() + sizeof(float);
      there.scale_d = scalars_there.memory.data();
      there.amax = static_cast<char*>(scalars_there.memory.data()) + sizeof(float);
    }
    device_->math()->pass(there, nest, device_->stream());
    host_.pass(pass, nest, {});
    expect_near(download(scalars_there), scalars, Dtype::f32, 32 * rounding(Dtype::f32) * 8, "amax");
    for (const std::size_t x : {devices::ElementPass::to, devices::ElementPass::auxiliary}) {
      const double bound = 32 * rounding(pass.computed) + 8 * rounding(pass.dtypes[x]);
      expect_near(download(uploaded[x]), here[x], pass.dtypes[x], bound, "pass");
    }
  }
}

TEST_F(CudaMathTest, PassesAreThoseOfTheHost) {
  check_passes(false);
}

// Where all lies so that numbers go four at a time.
TEST_F(CudaMathTest, PassesInPacksAreThoseOfTheHost) {
  check_passes(true);
}

// An activation and a bias come with the product, where cuBLASLt has them together.
TEST_F(CudaMathTest, WhatFollowsTheSumsIsThatOfTheHost) {
  std::map<std::string, int> made;
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64}) {
    for (const Activation activation : {Activation::identity, Activation::relu, Activation::gelu}) {
      for (const bool biased : {false, true}) {
        devices::DeviceGemm what;
        what.a.dtype = what.b.dtype = what.result = dtype;
        what.m = 8 * number(1, 40), what.n = 8 * number(1, 40), what.k = 8 * number(1, 70);
        what.a.leading = what.leading = what.m;
        what.b.leading = what.k;
        what.alignment = 256;
        what.activation = activation;
        if (biased) what.bias = dtype;
        const auto product = device_->math()->prepare(what, true);
        const Memory a = random_numbers(what.m * what.k, dtype), b = random_numbers(what.k * what.n, dtype),
                     bias = random_numbers(what.m, dtype);
        Memory c = random_numbers(what.m * what.n, dtype);
        const Uploaded on_a = upload(a), on_b = upload(b), on_c = upload(c), on_bias = upload(bias);
        const devices::GemmPlaces there{on_a.memory.data(), on_b.memory.data(), on_c.memory.data(),
                                        biased ? on_bias.memory.data() : nullptr};
        if (!device_->math()->makes(*product, there)) continue;
        ++made[std::string(name(dtype))];
        for (int round = 0; round < 2; ++round) {  // the descriptor is used again
          device_->math()->gemm(*product, there, 0.5, 0.25, device_->stream());
          host_.gemm(*product, {a.data(), b.data(), c.data(), bias.data()}, 0.5, 0.25, {});
        }
        const double bound = 8 * rounding(dtype) * std::sqrt(static_cast<double>(what.k)) +
                             8 * rounding(is_half(dtype) ? Dtype::f32 : dtype) * static_cast<double>(what.k);
        expect_near(download(on_c), c, dtype, bound, devices::words_of(what).c_str());
      }
    }
  }
  for (const char* const dtype : {"f16", "bf16"}) EXPECT_GE(made[dtype], 5) << dtype;
  EXPECT_GE(made["f32"], 3);  // but for gelu
}

// Epilogues of any shape: right to the rounding of what is written, or refused.
TEST_F(CudaMathTest, WhatFollowsTheSumsIsRightInAnyShape) {
  std::map<std::string, int> made;
  for (int round = 0; round < 700; ++round) {
    const Dtype dtype = std::array{Dtype::f16, Dtype::bf16, Dtype::f32}[static_cast<std::size_t>(round % 3)];
    const bool even = round % 2 == 0;
    const auto size = [&] { return even ? 8 * number(1, 40) : number(1, 320); };
    const auto leading = [&](std::int64_t rows) { return rows + (even ? 8 : 1) * number(0, 1); };
    devices::DeviceGemm what;
    what.a.dtype = what.b.dtype = what.result = dtype;
    what.m = size(), what.n = number(1, 300), what.k = size();
    what.activation = static_cast<Activation>(number(0, 4));
    if (what.activation == Activation::drelu) what.activation = Activation::dgelu;
    what.batches = number(0, 3) == 0 ? 3 : 1;
    what.a.op = number(0, 1) == 0 ? devices::BlasOp::none : devices::BlasOp::transpose;
    const std::int64_t of_a = leading(what.a.op == devices::BlasOp::none ? what.m : what.k);
    what.a.leading = of_a;
    what.a.stride = of_a * (what.a.op == devices::BlasOp::none ? what.k : what.m);
    what.b.leading = leading(what.k);
    what.b.stride = what.b.leading * what.n;
    what.leading = leading(what.m);
    what.stride = what.leading * what.n;
    const std::int64_t of_beside = 8 * ((what.m + 7) / 8 + number(0, 1));
    const devices::DeviceGemm::Beside beside{of_beside, of_beside * what.n};
    const bool of_gelu = what.activation == Activation::gelu || what.activation == Activation::dgelu;
    if (of_gelu && (what.activation == Activation::dgelu || number(0, 1) == 0)) what.auxiliary = beside;
    if (number(0, 1) == 0) what.addend = beside;
    if (what.activation != Activation::dgelu && number(0, 1) == 0) what.bias = dtype;
    const std::int64_t bits = (what.a.stride | what.b.stride | what.stride) * size_of(dtype) | 256;
    what.alignment = bits & -bits;
    const auto product = device_->math()->prepare(what, false);
    const Memory a = random_numbers(what.a.stride * what.batches, dtype);
    const Memory b = random_numbers(what.b.stride * what.batches, dtype);
    const Memory bias = random_numbers(what.m, dtype);
    const Memory addend = random_numbers(beside.stride * what.batches, dtype);
    Memory c = random_numbers(what.stride * what.batches, dtype), auxiliary = addend;
    const Uploaded on_a = upload(a), on_b = upload(b), on_c = upload(c), on_bias = upload(bias),
                   on_addend = upload(addend), on_auxiliary = upload(auxiliary);
    devices::GemmPlaces there{on_a.memory.data(), on_b.memory.data(), on_c.memory.data()};
    devices::GemmPlaces here{a.data(), b.data(), c.data()};
    if (what.bias) there.bias = on_bias.memory.data(), here.bias = bias.data();
    if (what.addend) there.addend = on_addend.memory.data(), here.addend = addend.data();
    if (what.auxiliary) there.auxiliary = on_auxiliary.memory.data(), here.auxiliary = auxiliary.data();
    if (!device_->math()->makes(*product, there)) continue;
    const std::string words = devices::words_of(what);
    ++made[std::string(name(dtype)) + (what.auxiliary ? " auxiliary" : "")];
    const double beta = round % 4 == 0 ? 0 : 0.5;
    for (int again = 0; again < (what.addend ? 2 : 1); ++again) {
      device_->math()->gemm(*product, there, 0.125, beta, device_->stream());
      host_.gemm(*product, here, 0.125, beta, {});
    }
    // Numbers are up to 4 or so; a derivative is multiplied with what has been rounded.
    const double bound = 16 * rounding(dtype) + 4e-7 * static_cast<double>(what.k);
    ASSERT_NO_FATAL_FAILURE(expect_near(download(on_c), c, dtype, bound, words.c_str()));
    ASSERT_NO_FATAL_FAILURE(expect_near(download(on_auxiliary), auxiliary, dtype, bound, words.c_str()));
  }
  for (const char* const one : {"f16", "bf16", "f32"}) EXPECT_GE(made[one], 20) << one;
  for (const char* const one : {"f16 auxiliary", "bf16 auxiliary"}) EXPECT_GE(made[one], 5) << one;
}

// As what arrives of a sum, packed, beside a result with longer lines.
TEST_F(CudaMathTest, AnAddendMayLieOtherwiseThanTheResult) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16, Dtype::f32, Dtype::f64, Dtype::c64}) {
    for (const bool may_try : {false, true}) {
      devices::DeviceGemm what;
      what.a.dtype = what.b.dtype = what.result = dtype;
      what.m = 8 * number(32, 64), what.n = number(200, 300), what.k = 64;
      what.a.leading = what.m, what.b.leading = what.k;
      what.leading = what.m + 256;
      what.addend = devices::DeviceGemm::Beside{what.m, 0};
      what.alignment = 16;
      const auto product = device_->math()->prepare(what, may_try);
      const Memory a = random_numbers(what.m * what.k, dtype), b = random_numbers(what.k * what.n, dtype),
                   addend = random_numbers(what.m * what.n, dtype);
      Memory c = random_numbers(what.leading * what.n, dtype);
      const Uploaded on_a = upload(a), on_b = upload(b), on_c = upload(c), on_addend = upload(addend);
      const devices::GemmPlaces there{on_a.memory.data(), on_b.memory.data(), on_c.memory.data(), nullptr,
                                      on_addend.memory.data()};
      ASSERT_TRUE(device_->math()->makes(*product, there)) << devices::words_of(what);
      device_->math()->gemm(*product, there, 0.125, 1, device_->stream());
      host_.gemm(*product, {a.data(), b.data(), c.data(), nullptr, addend.data()}, 0.125, 1, {});
      const double bound = 16 * rounding(dtype) + 1e-6 * static_cast<double>(what.k);
      expect_near(download(on_c), c, dtype, bound, devices::words_of(what).c_str());
    }
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
