// The epilogue that a device's BLAS applies together with a product.
#pragma once

#include <optional>

#include "execute/works/device_blas_calls.hpp"

namespace partita::execution {

/// A further matrix of the result's shape, an argument of a call.
class MatrixBeside {
 public:
  using Lies = devices::DeviceGemm::Beside;

  MatrixBeside(const Part& part, const DeviceWorkBinding& binding)
      : place_(part.place.offset), part_(part, binding.memory) {}

  /// The matrix for the call; empty if BLAS does not accept its layout.
  std::optional<Lies> find(const BlasCall& call);

  char* at(const AddressOf& address) const { return part_.base(address) + offset_ * size_of(part_.dtype()); }
  /// The bits of its matrices' addresses relative to its first byte.
  std::int64_t bits() const { return place_ | (offset_ | stride_) * size_of(part_.dtype()); }

 private:
  std::int64_t place_;
  BoundPart part_;
  std::int64_t offset_ = 0, stride_ = 0;  // in elements
};

/// What a single product reads and writes besides its factors and its result.
class ProductEpilogue {
 public:
  /// Of the epilogue activation, auxiliary matrix, bias and c count.
  ProductEpilogue(const ApplyEpilogue& work, const DeviceWorkBinding& binding);

  /// Adds it to the call; false: it cannot come with it.
  bool add_to(BlasCall& call);
  void place(devices::GemmPlaces& places, const AddressOf& address) const;
  /// Of C, which may be the result's own memory; nothing: there is none.
  std::optional<Beta> beta() const { return addend_ ? std::optional(beta_) : std::nullopt; }
  /// As for MatrixBeside, for the matrices that BLAS reads in addition to the factors.
  std::int64_t bits() const { return addend_ ? addend_->bits() : 0; }

 private:
  bool add_bias(BlasCall& call);
  bool add_auxiliary(BlasCall& call);

  Activation activation_;
  Beta beta_;
  bool bias_along_rows_;
  std::optional<BoundPart> bias_;
  std::int64_t bias_offset_ = 0;  // in elements
  std::optional<MatrixBeside> addend_, auxiliary_;
};

}  // namespace partita::execution
