// The components of a transform on a device: calls of the library on lines in place, lines through the
// workspace, and elementwise passes.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "execute/works/device_bound_work.hpp"
#include "execute/works/device_fft_calls.hpp"

namespace partita::execution {

/// Puts what it does into a stream; allocates nothing. Addresses: where the parts begin; `factor` multiplies
/// the result.
class DevicePass {
 public:
  struct Addresses {
    char* from;
    char* to;
    char* workspace;
  };
  DevicePass() = default;
  virtual ~DevicePass() = default;
  DevicePass(const DevicePass&) = delete;
  DevicePass& operator=(const DevicePass&) = delete;
  virtual void enqueue(const Addresses& at, double factor, Stream stream) = 0;
  virtual std::int64_t workspace_bytes() const { return 0; }
};

/// Bytes from the start of either part to what a pass reads and writes.
struct PassPlace {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// The library's transforms of lines in place, with a separate pass for the scale.
std::unique_ptr<DevicePass> direct_pass(devices::DeviceTransforms& device, const TransformNest& nest,
                                        const FftCalls& calls, const PassPlace& place);

/// How lines of any kind go through the workspace.
struct PackedRules {
  bool knows_strides = true;   ///< those of the nest are those of every execution
  bool stores_direct = false;  ///< the library writes the result where it belongs
  /// In the workspace at a time, about: enough to fill a device.
  std::int64_t bytes = std::int64_t{128} << 20;
};
/// Of a nest with one line: packed, transformed and unpacked, some at a time, with what makes Fourier
/// transforms of cosine and sine transforms on the way.
std::unique_ptr<DevicePass> packed_pass(devices::DeviceTransforms& device, const TransformNest& nest,
                                        const PackedRules& rules, const PassPlace& place);

/// Lines of one element: copied, made complex, or their real parts.
std::unique_ptr<DevicePass> single_elements(devices::DeviceTransforms& device, const TransformNest& nest,
                                            const PassPlace& place);

}  // namespace partita::execution
