// What a device does with elements as numbers, by kernels of ours.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/stream.hpp>

#include "kernels/host/copy.hpp"
#include "kernels/host/elementwise.hpp"
#include "kernels/host/fold.hpp"
#include "kernels/host/random.hpp"
#include "kernels/host/symbol.hpp"

namespace partita::devices {

/// As the kernels of the host of the same names; the places are in device memory. Starts and does not wait,
/// as DeviceWork.
class DeviceArithmetic {
 public:
  virtual ~DeviceArithmetic() = default;

  /// Never from complex numbers to real ones.
  virtual void convert(const kernels::StridedCopy& nest, Dtype from_dtype, Dtype to_dtype, const void* from,
                       void* to, Stream stream) = 0;
  virtual void compute(const kernels::ElementwisePass& pass, Stream stream) = 0;
  virtual void generate(const kernels::RandomPass& pass, Stream stream) = 0;
  /// Its terms are in device memory, too.
  virtual void multiply(const kernels::SymbolPass& pass, Stream stream) = 0;
  /// Wants `fold_scratch_bytes` of device memory besides, which nothing else uses meanwhile.
  virtual void fold(const kernels::FoldPass& pass, void* scratch, Stream stream) = 0;
  virtual void finish(const kernels::FinishPass& pass, Stream stream) = 0;
  static constexpr std::int64_t fold_scratch_bytes = std::int64_t{4} << 20;
};

}  // namespace partita::devices
