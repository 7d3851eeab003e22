#include "execute/works/device_fft_calls.hpp"

#include <algorithm>
#include <cstdlib>

#include "kernels/host/transform.hpp"

namespace partita::execution {
namespace {

using devices::DeviceFft;
using kernels::FftwLoop;

/// Starts of calls cost some microseconds: they have to be few, or to do much.
constexpr std::int64_t few_calls = 32, most_calls = 4096;
constexpr std::int64_t long_call = std::int64_t{4} << 20;

bool goes_on(const FftwLoop& outer, const FftwLoop& inner) {
  return outer.from_stride == inner.count * inner.from_stride &&
         outer.to_stride == inner.count * inner.to_stride;
}

/// Strides along the lines, slowest first, as the library says them; `last`: elements along the last one.
std::optional<DeviceFft::Side> side_of_lines(const std::vector<std::int64_t>& strides,
                                             const std::vector<std::int64_t>& counts) {
  DeviceFft::Side side;
  side.stride = strides.back();
  if (side.stride <= 0) return {};
  side.embed[0] = counts[0];
  for (std::size_t i = strides.size() - 1; i > 0; --i) {
    if (strides[i - 1] <= 0 || strides[i - 1] % strides[i] != 0) return {};
    side.embed[i] = strides[i - 1] / strides[i];
    if (side.embed[i] < counts[i]) return {};
  }
  side.apart = counts[0] * strides[0];
  return side;
}

/// Both sides of the lines, without a batch.
std::optional<DeviceFft> along_lines(const TransformNest& nest) {
  DeviceFft fft;
  fft.kind = nest.kind;
  fft.single = nest.precision == kernels::FftwPrecision::f32;
  fft.dimensions = nest.lines.size();
  std::vector<std::int64_t> from_strides, to_strides, from_counts, to_counts;
  for (std::size_t i = 0; i < nest.lines.size(); ++i) {
    const FftwLoop& line = nest.lines[i];
    fft.n.at(i) = line.count;
    from_strides.push_back(line.from_stride);
    to_strides.push_back(line.to_stride);
    from_counts.push_back(line.count);
    to_counts.push_back(line.count);
  }
  const std::int64_t half = nest.lines.back().count / 2 + 1;
  if (nest.kind == TransformKind::real_to_complex) to_counts.back() = half;
  if (nest.kind == TransformKind::complex_to_real) from_counts.back() = half;
  const auto from = side_of_lines(from_strides, from_counts), to = side_of_lines(to_strides, to_counts);
  if (!from || !to) return {};
  fft.from = *from;
  fft.to = *to;
  return fft;
}

/// Every combination of the loops but the one that the library does itself.
std::vector<FftCalls::At> places_of(const std::vector<FftwLoop>& loops) {
  std::vector<FftCalls::At> places(1);
  for (const FftwLoop& loop : loops) {
    std::vector<FftCalls::At> more;
    for (const FftCalls::At& place : places) {
      for (std::int64_t i = 0; i < loop.count; ++i)
        more.push_back({place.from + i * loop.from_stride, place.to + i * loop.to_stride});
    }
    places = std::move(more);
  }
  return places;
}

}  // namespace

std::vector<FftwLoop> merged(std::vector<FftwLoop> loops) {
  std::erase_if(loops, [](const FftwLoop& loop) { return loop.count == 1; });
  std::ranges::stable_sort(loops, [](const FftwLoop& a, const FftwLoop& b) {
    return std::abs(a.to_stride) > std::abs(b.to_stride);
  });
  for (std::size_t l = loops.size(); l-- > 1;) {
    if (!goes_on(loops[l - 1], loops[l])) continue;
    loops[l].count *= loops[l - 1].count;
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(l) - 1);
  }
  return loops;
}

std::optional<FftCalls> fft_calls(const TransformNest& nest) {
  std::optional<DeviceFft> fft = along_lines(nest);
  if (!fft) return {};
  std::vector<FftwLoop> loops = merged(nest.batch);
  std::int64_t elements = 1, count = 1;
  for (const FftwLoop& line : nest.lines) elements *= line.count;
  if (!loops.empty()) {
    const auto longest = std::ranges::max_element(loops, {}, &FftwLoop::count);
    if (longest->from_stride <= 0 || longest->to_stride <= 0) return {};
    fft->batches = longest->count;
    fft->from.apart = longest->from_stride;
    fft->to.apart = longest->to_stride;
    loops.erase(longest);
  }
  for (const FftwLoop& loop : loops) count *= loop.count;
  const std::int64_t bytes = elements * fft->batches * kernels::items_of(nest.kind, nest.precision).to;
  if (count > few_calls && (bytes < long_call || count > most_calls)) return {};
  return FftCalls{*fft, places_of(loops)};
}

}  // namespace partita::execution
