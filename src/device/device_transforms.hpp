// What a device transforms with: the vendor's Fourier transforms, and passes over lines by kernels of our
// own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <partita/stream.hpp>
#include <partita/work.hpp>
#include <string>

#include "kernels/cuda/line_pass.hpp"
#include "kernels/cuda/line_transform.hpp"
#include "kernels/cuda/plane_transform.hpp"

namespace partita::devices {

/// `batches` transforms of up to three dimensions, slowest first, counts on the real side; real to complex
/// and back halve the last one. On either side neighbours along the last dimension are `stride` elements of
/// that side apart, along the others as many as `embed` of those behind says, transforms of the batch
/// `apart`.
struct DeviceFft {
  static constexpr std::size_t most_dimensions = 3;
  struct Side {
    std::array<std::int64_t, most_dimensions> embed{};
    std::int64_t stride = 1, apart = 1;
    bool operator==(const Side&) const = default;
  };
  TransformKind kind = TransformKind::complex_forward;  ///< complex, or real to complex or back
  bool single = false;                                  ///< numbers of 32 bits
  std::size_t dimensions = 1;
  std::array<std::int64_t, most_dimensions> n{};
  Side from, to;
  std::int64_t batches = 1;
  bool operator==(const DeviceFft&) const = default;
};

/// A prepared transform.
class PreparedFft {
 public:
  explicit PreparedFft(const DeviceFft& fft) : what(fft) {}
  virtual ~PreparedFft() = default;
  PreparedFft(const PreparedFft&) = delete;
  PreparedFft& operator=(const PreparedFft&) = delete;

  virtual std::int64_t workspace_bytes() const = 0;

  const DeviceFft what;
};

/// What a context transforms with on its device; made by Accelerator::transforms. Calls put their work into
/// `stream` and return; they allocate nothing, wait for nothing, and may be captured. For the thread that
/// drives the context.
class DeviceTransforms {
 public:
  virtual ~DeviceTransforms() = default;

  virtual std::string name() const = 0;  ///< "cuFFT 12.0.0"
  /// Plans it, and loads what it needs, so that `transform` does not while a stream waits for a peer. May
  /// wait for the device. Errors: UnsupportedError.
  virtual std::shared_ptr<PreparedFft> prepare(const DeviceFft& what) = 0;
  /// Unnormalised. In place if both addresses are equal. Complex to real destroys `from`; if lines of n
  /// elements begin 2 (n / 2 + 1) apart, cuFFT takes them for lines in place and also writes into their
  /// padding (dense arrays have none; others use the workspace). Addresses are multiples of the size
  /// of a complex number; `workspace` has workspace_bytes(), at a multiple of 256.
  virtual void transform(const PreparedFft& fft, void* from, void* to, void* workspace, Stream stream) = 0;
  virtual void pass(const kernels::cuda::LinePass& pass, Stream stream) = 0;
  virtual void twiddle(const kernels::cuda::TwiddlePass& pass, Stream stream) = 0;
  /// Whether transform_lines takes such lines.
  virtual bool has_lines_of(std::int64_t length, bool single) const = 0;
  /// Lines into the memory of any ranks of the node, by a kernel of our own.
  virtual void transform_lines(const kernels::cuda::LineTransform& what, Stream stream) = 0;
  /// Whether transform_planes takes such lines, the first ones of real numbers or not.
  virtual bool has_planes_of(std::int64_t length, bool single, bool of_reals) const = 0;
  /// As above, for lines along two axes.
  virtual void transform_planes(const kernels::cuda::PlaneTransform& what, Stream stream) = 0;
};

}  // namespace partita::devices
