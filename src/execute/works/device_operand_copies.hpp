// Copies of the operands of a multiply into the workspace of a device, and of its result back.
#pragma once

#include <vector>

#include "execute/works/device_packed_multiply.hpp"
#include "kernels/host/copy.hpp"

namespace partita::execution {

/// All copies that a PackedMultiply needs; none where nothing is packed. Where its k is padded, factors are
/// zero beyond it.
class OperandCopies {
 public:
  OperandCopies(const Multiply& given, const PackedMultiply& packed, const DeviceWorkBinding& binding);

  /// The result only where it is read.
  void pack(const AddressOf& address, bool reads_result, Stream stream) const;
  /// The result.
  void unpack(const AddressOf& address, Stream stream) const;

 private:
  struct Packing {
    Place part, packed;
    std::vector<kernels::StridedCopy> nests;
    std::vector<kernels::StridedCopy> back;  // of the result
  };
  struct Zeros {
    BoundPart part;
    devices::ElementNest nest;
  };
  void copy(const std::vector<kernels::StridedCopy>& nests, const Place& from, const Place& to,
            const AddressOf& address, Stream stream) const;

  devices::Accelerator& device_;
  devices::DeviceMath& math_;
  int rank_;
  std::vector<Packing> packings_;  // the result last
  std::vector<Zeros> zeros_;
};

}  // namespace partita::execution
