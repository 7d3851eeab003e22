// Operands of a multiply that are first copied into the workspace of a device, and their layout there.
#pragma once

#include <memory>

#include "execute/works/device_bound_work.hpp"
#include "execute/works/product_padding.hpp"
#include "execute/works/product_shape.hpp"

namespace partita::execution {

/// A multiply whose operands BLAS accepts. Operands that BLAS does not accept (no stride of 1, conjugated
/// without transposition, short runs), or only slowly (half precision with unaligned lines), are copied whole
/// into the workspace.
struct PackedMultiply {
  PackedMultiply(const Multiply& given, const DeviceWorkBinding& binding);

  bool is_packed(const Part& part) const { return part.place.buffer >= workspaces_; }

  Multiply work;
  std::unique_ptr<ProductShape> shape;  ///< of it
  ProductPadding padding;
  std::int64_t workspace_bytes = 0;

 private:
  struct Operand;
  void take(const DeviceWorkBinding& binding);
  bool pack(const Multiply& given, const DeviceWorkBinding& binding);
  bool pack(const Operand& operand, const Part& given, Part& packed, const Plan& plan);

  int workspaces_;       // as of DeviceWorkBinding
  bool aligns_ = false;  // lines begin at multiples of the alignment
};

}  // namespace partita::execution
