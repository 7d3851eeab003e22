// Arithmetic on the elements of parts in device memory, started by plain functions.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>

#include "base/element_functions.hpp"

namespace partita::kernels::cuda {

/// Loops over elements of up to three parts, outermost first; strides in elements.
struct ElementLoops {
  static constexpr int most = 16;
  int loops = 0;
  std::int64_t counts[most] = {};
  std::int64_t strides[most][3] = {};
};

/// See partita::kernels::ElementwisePass: to, a, b.
struct Elementwise {
  Arithmetic operation = Arithmetic::add;
  Dtype dtype = Dtype::f64;
  void* data[3] = {};  // null: `number`
  alignas(16) unsigned char number[16] = {};
  ElementLoops loops;
};

/// See partita::kernels::FoldPass: to, a, b.
struct Fold {
  Reduction reduction = Reduction::sum;
  Folded folded = Folded::value;
  Dtype dtype = Dtype::f64, joined = Dtype::f64;
  double factor = 1;
  void* data[3] = {};
  alignas(16) unsigned char identity[16] = {};  // of the reduction
  ElementLoops kept, over;
};

/// What a fold wants besides, in device memory.
inline constexpr std::int64_t fold_scratch_bytes = std::int64_t{4} << 20;

/// See partita::kernels::FinishPass: to, from.
struct Finish {
  Dtype joined = Dtype::f64, result = Dtype::f64;
  bool root = false;
  double divisor = 1;
  bool replaces = false;  // only results of f64 from `least` to `most`
  double least = 0, most = 0;
  void* data[2] = {};
  ElementLoops loops;
};

/// Each gives a cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_elementwise(const Elementwise& what, void* stream);
int launch_fold(const Fold& what, void* scratch, void* stream);
int launch_finish(const Finish& what, void* stream);

/// As load_copy_kernels.
int load_elementwise_kernels();
int load_fold_kernels();

}  // namespace partita::kernels::cuda
