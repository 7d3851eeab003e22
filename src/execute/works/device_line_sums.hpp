// Sums over all dimensions but one on a device, in double precision, always in one order.
#pragma once

#include <vector>

#include "execute/axis_runs.hpp"
#include "execute/works/device_bound_work.hpp"

namespace partita::execution {

/// to[i] += the sum of `from`, conjugated if requested, over all dimensions but `axis`: the elements are
/// summed in the workspace, rounded to the dtype of `to` and added there.
class DeviceLineSums {
 public:
  /// Throws UnsupportedError where numbers of these dtypes do not add up.
  DeviceLineSums(const SumAlong& work, const DeviceWorkBinding& binding);

  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Allocates nothing.
  void enqueue(const AddressOf& address, Stream stream);

 private:
  /// Lines and elements with even spacing.
  struct Pass {
    std::int64_t from_offset = 0;  // in elements
    kernels::FoldPass join;
    kernels::FinishPass round;
    kernels::StridedCopy add;
  };

  Pass pass_of(const devices::ElementNest& nest) const;
  void write_one(char* to, Stream stream) const;

  devices::Accelerator& device_;
  BoundPart from_, to_;
  Place workspace_;
  bool conjugate_;
  Dtype joined_;
  // In the workspace: scratch of folds, sums, rounded sums, the number 1
  std::int64_t rounded_offset_ = 0, one_offset_ = 0;
  std::int64_t workspace_bytes_ = 0;
  std::vector<Pass> passes_;
};

}  // namespace partita::execution
