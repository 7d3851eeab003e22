// The last pass over a result on a CUDA device, started by plain functions.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>

namespace partita::kernels::cuda {

/// Those of partita::Activation.
enum class Activation : std::uint8_t { identity, relu, gelu, drelu, dgelu };

/// See partita::ElementPass and ElementNest. Pointers include the offsets; strides are in elements.
struct ElementPass {
  static constexpr int parts = 7, most_loops = 16;  // from, to, c, auxiliary, bias, scale_a, scale_b
  int loops = 0;
  std::int64_t counts[most_loops] = {};  // outermost first
  std::int64_t strides[most_loops][parts] = {};
  void* data[parts] = {};  // null: there is none
  Dtype dtypes[parts] = {};
  Activation activation = Activation::identity;
  double scale = 1;
  double beta[2] = {0, 0};
  const float* scale_d = nullptr;
  float* amax = nullptr;
};

/// Gives a cudaError_t; 0: started. `computed`: f32, f64, c64, c128 or i32. Scales and the amax only in f32.
int launch_pass(const ElementPass& pass, Dtype computed, void* stream);

/// As load_copy_kernels.
int load_pass_kernels();

}  // namespace partita::kernels::cuda
