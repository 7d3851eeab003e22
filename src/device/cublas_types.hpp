// Partita's words in those of cuBLAS and cuBLASLt.
#pragma once

#include <complex>
#include <cstring>
#include <optional>

#include "device/cublas_library.hpp"
#include "device/device_math.hpp"

namespace partita::devices {

/// Nothing: it knows none.
constexpr std::optional<CublasType> cublas_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return CublasType::f16;
    case Dtype::bf16:
      return CublasType::bf16;
    case Dtype::f32:
      return CublasType::f32;
    case Dtype::f64:
      return CublasType::f64;
    case Dtype::c64:
      return CublasType::c64;
    case Dtype::c128:
      return CublasType::c128;
    case Dtype::f8e4m3:
      return CublasType::f8e4m3;
    case Dtype::f8e5m2:
      return CublasType::f8e5m2;
    case Dtype::i8:
      return CublasType::i8;
    case Dtype::i32:
      return CublasType::i32;
    default:
      return std::nullopt;
  }
}

constexpr bool is_double(Dtype dtype) {
  return dtype == Dtype::f64 || dtype == Dtype::c128;
}

/// Half precision and FP8 are accumulated in f32, i8 in i32, regardless of the requested minimum.
constexpr CublasCompute cublas_compute(const DeviceGemm& what) {
  if (is_double(what.result)) return CublasCompute::f64;
  if (what.result == Dtype::i32) return CublasCompute::i32;
  if (size_of(what.a.dtype) < size_of(Dtype::f32)) return CublasCompute::f32;
  if (what.compute == ComputeType::tf32) return CublasCompute::tf32;
  return what.compute == ComputeType::bf16x9 ? CublasCompute::bf16x9 : CublasCompute::f32;
}

constexpr CublasOperation cublas_operation(BlasOp op) {
  static_assert(static_cast<int>(BlasOp::conjugate_transpose) ==
                static_cast<int>(CublasOperation::conjugate_transpose));
  return static_cast<CublasOperation>(op);
}

/// A factor in the type that computes; its address is taken.
struct CublasFactor {
  alignas(16) char bytes[16];
  CublasFactor(std::complex<double> value, Dtype result) {
    const std::complex<float> single(value);
    const auto integer = static_cast<std::int32_t>(value.real());
    if (result == Dtype::i32) {
      std::memcpy(bytes, &integer, sizeof(integer));
    } else if (is_double(result)) {
      std::memcpy(bytes, &value, sizeof(value));  // a real one is the first half
    } else {
      std::memcpy(bytes, &single, sizeof(single));
    }
  }
};

}  // namespace partita::devices
