#include "execute/works/transform_passes.hpp"

#include <algorithm>

#include "kernels/host/rader_lines.hpp"

namespace partita::execution {
namespace {

constexpr std::int64_t plane_bytes = measured_bytes;  // that stay in cache between two passes
constexpr std::int64_t most_planes = 4096;
constexpr std::int64_t far_bytes = 256;  // between neighbours of a line: gathering it in blocks pays

bool halves(TransformKind kind) {
  return kind == TransformKind::real_to_complex || kind == TransformKind::complex_to_real;
}

bool is_strided(const TransformNest& nest) {
  const kernels::TransformItems items = kernels::items_of(nest.kind, nest.precision);
  const kernels::FftwLoop& line = nest.lines.front();
  return line.count > 2 &&
         std::max(std::abs(line.from_stride) * items.from, std::abs(line.to_stride) * items.to) > far_bytes;
}

/// Real lines that are better transformed through buffers than by FFTW's own plan, which is slow to real
/// numbers where it must keep its input, along strides, and of lines that are longer than a cache. Short ones
/// are one step of FFTW, which has no need of its input; but a pass that scales is saved where that is in
/// cache.
bool is_better_buffered(const TransformNest& nest) {
  constexpr std::int64_t longest_step = 64, shortest_in_cache = 16, cache_bytes = std::int64_t{1} << 20;
  const kernels::FftwLoop& line = nest.lines.front();
  if (!halves(nest.kind)) return false;
  if (line.count <= longest_step && !(nest.in_cache && line.count >= shortest_in_cache)) return false;
  const bool is_contiguous = line.from_stride == 1 && line.to_stride == 1;
  const bool is_even = line.count % 2 == 0;
  const bool is_long = line.count * kernels::items_of(nest.kind, nest.precision).from > cache_bytes;
  if (is_long && !is_even && is_contiguous) return false;
  return nest.kind == TransformKind::complex_to_real || !is_contiguous || is_long;
}

/// The line as a loop over what a pass along another axis leaves, in the result.
kernels::FftwLoop in_result(const kernels::FftwLoop& line, bool halved) {
  return {halved ? line.count / 2 + 1 : line.count, line.to_stride, line.to_stride};
}

/// Two or three axes that become real: the half spectra first, where they are scaled, then the complex
/// numbers that they are in the result, along the first axis.
std::vector<TransformPass> paired_passes(const TransformNest& nest) {
  TransformPass first{nest, false, true, LineWay::paired}, second;
  second.on_result = true;
  second.nest.kind = TransformKind::complex_backward;
  second.nest.precision = nest.precision;
  const auto in_complex = [](const kernels::FftwLoop& loop) {
    return kernels::FftwLoop{loop.count, loop.to_stride / 2, loop.to_stride / 2};
  };
  second.nest.lines = {in_complex(nest.lines.front())};
  second.nest.batch = {{nest.lines.back().count / 2, 1, 1}};
  if (nest.lines.size() > 2) second.nest.batch.push_back(in_complex(nest.lines[1]));
  for (const kernels::FftwLoop& loop : nest.batch) second.nest.batch.push_back(in_complex(loop));
  return {first, second};
}

/// A pass along each axis over all lines.
std::vector<TransformPass> whole_passes(const TransformNest& nest) {
  if (nest.kind == TransformKind::complex_to_real && nest.lines.size() > 1) return paired_passes(nest);
  std::vector<kernels::FftwLoop> lines = nest.lines;
  // The halved axis takes the real numbers; the others go with the memory.
  const auto first_sorted = lines.begin();
  const auto end_sorted = halves(nest.kind) ? lines.end() - 1 : lines.end();
  std::ranges::sort(first_sorted, end_sorted, {},
                    [](const kernels::FftwLoop& line) { return std::abs(line.to_stride); });
  if (halves(nest.kind)) std::rotate(lines.begin(), lines.end() - 1, lines.end());
  std::vector<TransformPass> passes;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    TransformPass pass;
    pass.on_result = i > 0;
    pass.last = i + 1 == lines.size();
    pass.nest = {nest.kind, nest.precision, {lines[i]}, nest.batch};
    pass.nest.in_cache = nest.in_cache;
    if (pass.on_result) {
      if (halves(nest.kind)) pass.nest.kind = TransformKind::complex_forward;
      pass.nest.lines.front().from_stride = lines[i].to_stride;
      for (kernels::FftwLoop& loop : pass.nest.batch) loop.from_stride = loop.to_stride;
    }
    for (std::size_t other = 0; other < lines.size(); ++other) {
      if (other == i) continue;
      const bool halved = halves(nest.kind) && other == 0;
      pass.nest.batch.push_back(pass.on_result ? in_result(lines[other], halved) : lines[other]);
    }
    passes.push_back(std::move(pass));
  }
  return passes;
}

std::int64_t result_bytes(const TransformPass& pass) {
  std::int64_t bytes =
      pass.nest.lines.front().count * kernels::items_of(pass.nest.kind, pass.nest.precision).to;
  for (const kernels::FftwLoop& loop : pass.nest.batch) bytes *= loop.count;
  return bytes;
}

auto longest(std::vector<kernels::FftwLoop>& loops, std::int64_t line) {
  return std::ranges::max_element(loops, {}, [=](const kernels::FftwLoop& loop) {
    return loop.to_stride == line ? std::int64_t{-1} : std::abs(loop.to_stride);
  });
}

/// Two passes one behind the other, taken apart along the loop of the longest steps that is a batch of both.
/// Nothing where a plane is too large, or all of it is small.
std::vector<TransformPass> plane_by_plane(TransformPass first, TransformPass second) {
  const std::int64_t all = result_bytes(second);
  const auto a = longest(first.nest.batch, second.nest.lines.front().to_stride);
  const auto b = longest(second.nest.batch, first.nest.lines.front().to_stride);
  if (all <= plane_bytes || a == first.nest.batch.end() || b == second.nest.batch.end()) return {};
  const kernels::FftwLoop outer = *a, other = *b;
  const bool alike = outer.count == other.count && outer.to_stride == other.to_stride;
  if (!alike || outer.count > most_planes || all / outer.count > plane_bytes) return {};
  first.nest.batch.erase(a);
  second.nest.batch.erase(b);
  const kernels::TransformItems from = kernels::items_of(first.nest.kind, first.nest.precision);
  const kernels::TransformItems on_result = kernels::items_of(second.nest.kind, second.nest.precision);
  std::vector<TransformPass> passes;
  for (std::int64_t i = 0; i < outer.count; ++i) {
    first.from_offset = i * outer.from_stride * from.from;
    first.to_offset = i * outer.to_stride * from.to;
    second.from_offset = second.to_offset = i * other.to_stride * on_result.to;
    passes.push_back(first);
    passes.push_back(second);
  }
  return passes;
}

bool by_convolutions(const TransformNest& nest, bool measure) {
  return kernels::rader_pays(nest.kind, nest.precision, nest.lines.front().count, measure);
}

/// The first two plane by plane if that is possible.
std::vector<TransformPass> in_planes(std::vector<TransformPass> passes) {
  if (passes.size() < 2) return passes;
  std::vector<TransformPass> planes = plane_by_plane(passes[0], passes[1]);
  if (planes.empty()) return passes;
  planes.insert(planes.end(), passes.begin() + 2, passes.end());
  return planes;
}

}  // namespace

std::vector<TransformPass> estimated_passes(const TransformNest& nest) {
  std::vector<TransformPass> passes = whole_passes(nest);
  for (TransformPass& pass : passes) {
    if (pass.way == LineWay::paired) continue;
    if (is_strided(pass.nest) || is_better_buffered(pass.nest)) pass.way = LineWay::buffered;
    if (by_convolutions(pass.nest, false)) pass.way = LineWay::rader;
  }
  return in_planes(std::move(passes));
}

std::vector<TransformPass> measured_passes(const TransformNest& nest) {
  std::vector<TransformPass> passes = whole_passes(nest);
  for (TransformPass& pass : passes) {
    if (pass.way == LineWay::paired) continue;
    if (is_better_buffered(pass.nest)) pass.way = LineWay::buffered;
    if (by_convolutions(pass.nest, true)) pass.way = LineWay::rader;
  }
  const auto is_whole = [](const TransformPass& pass) { return pass.way == LineWay::whole; };
  if (!std::ranges::all_of(passes, is_whole)) return in_planes(std::move(passes));
  TransformPass& first = passes.front();
  // FFTW takes the halved axis as the last one.
  const auto with = [&](std::size_t second) {
    std::vector<kernels::FftwLoop>& batch = first.nest.batch;
    const kernels::FftwLoop& added = passes[second].nest.lines.front();
    const auto own = std::ranges::find_if(batch, [&](const kernels::FftwLoop& loop) {
      return loop.to_stride == added.to_stride && loop.count == added.count;
    });
    first.nest.lines.insert(first.nest.lines.begin(), *own);
    batch.erase(own);
  };
  std::int64_t bytes = kernels::items_of(nest.kind, nest.precision).to * first.nest.lines.front().count;
  std::size_t joined = 1;
  for (; joined < passes.size(); ++joined) {
    bytes *= passes[joined].nest.lines.front().count;
    if (bytes > plane_bytes) break;
    with(joined);
  }
  first.last = joined == passes.size();
  passes.erase(passes.begin() + 1, passes.begin() + static_cast<std::ptrdiff_t>(joined));
  return passes;
}

}  // namespace partita::execution
