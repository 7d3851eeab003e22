// What comes with a product, where cuBLASLt has them together.
#include <map>
#include <string>

#include "cuda/math_case.hpp"
#include "device/product_choices.hpp"

namespace partita::testing {
namespace {

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

// As what arrives of a sum, packed, while the result has longer lines.
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

}  // namespace
}  // namespace partita::testing
