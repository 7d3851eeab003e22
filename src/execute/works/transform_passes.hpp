// A transform along several axes as passes that FFTW's plans do well.
#pragma once

#include <cstdint>
#include <partita/work.hpp>
#include <vector>

#include "kernels/host/buffered_lines.hpp"

namespace partita::execution {

/// Lines and batch of one FFTW call; counts of lines on the real side, the halved one last.
struct TransformNest {
  TransformKind kind = TransformKind::complex_forward;
  kernels::FftwPrecision precision = kernels::FftwPrecision::f64;
  std::vector<kernels::FftwLoop> lines;
  std::vector<kernels::FftwLoop> batch;
  bool orthogonal = false;  ///< of devices; on the host the ends of lines are no part of a pass
  bool in_cache = false;    ///< the input, on the host
  friend bool operator==(const TransformNest&, const TransformNest&) = default;
};

/// How the lines of a pass come to FFTW.
enum class LineWay : std::uint8_t {
  whole,     ///< all at once, in place
  buffered,  ///< some at a time, through buffers: they are strided, or real
  paired,    ///< half spectra of two axes at a time, which become complex numbers of half the length
  rader,     ///< some at a time, as convolutions: their length has a large prime factor
};

/// One pass: from the input, or in place in the result. Offsets in bytes.
struct TransformPass {
  TransformNest nest;  ///< of one line loop, or more; one only where its way is `buffered` or `rader`
  bool on_result = false;
  bool last = false;  ///< nothing follows: here results are scaled; or the first of two that are paired
  LineWay way = LineWay::whole;
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
};

/// In their order, for estimated plans: a pass an axis, strided and real lines through buffers. The first two
/// passes follow each other plane by plane where a plane stays in cache.
std::vector<TransformPass> estimated_passes(const TransformNest& nest);

/// For measured plans, which find their way along strides: planes at once where they stay in cache, then a
/// pass an axis; a pass an axis plane by plane where one of them is by convolutions. Whole passes are to be
/// cut into calls of at most `measured_bytes`: quick to measure, and measured where they run, in cache.
std::vector<TransformPass> measured_passes(const TransformNest& nest);
inline constexpr std::int64_t measured_bytes = std::int64_t{2} << 20;

}  // namespace partita::execution
