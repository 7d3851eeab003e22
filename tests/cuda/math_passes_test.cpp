// Passes over elements by kernels of our own.
#include "cuda/math_case.hpp"

namespace partita::testing {
namespace {

/// Of the parts of a pass that computes in f32.
constexpr std::array of_f32{Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f8e4m3, Dtype::f8e5m2};

}  // namespace

void CudaMathTest::check_passes(bool in_packs) {
  for (int round = 0; round < 200; ++round) {
    devices::ElementPass pass;
    pass.computed = in_packs ? Dtype::f32 : dtypes[2 + static_cast<std::size_t>(round) % 4];
    const bool real = !is_complex(pass.computed);
    if (real) pass.activation = static_cast<Activation>(number(0, 4));
    pass.scale = number(0, 1) == 0 ? 1 : 0.5;
    pass.beta = number(0, 1) == 0 ? Precise(0) : Precise(-0.75, real ? 0 : 0.25);
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

// With layouts that allow four numbers at a time.
TEST_F(CudaMathTest, PassesInPacksAreThoseOfTheHost) {
  check_passes(true);
}

}  // namespace partita::testing
