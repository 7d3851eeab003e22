// Loops over lines, as the kernels want them.
#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "execute/works/device_lines.hpp"

namespace partita::execution {
namespace {

using kernels::cuda::LineTransform;

/// Whether going round `loop` is one step of `outer`.
bool continues(const LineLoop& loop, const LineLoop& outer) {
  bool result = outer.from == loop.from * loop.count;
  for (std::size_t p = 0; p < loop.to.size(); ++p) result = result && outer.to[p] == loop.to[p] * loop.count;
  return result;
}

/// Slowest first; adjacent loops that form one are merged.
void simplify_lines(std::vector<LineLoop>& loops) {
  std::erase_if(loops, [](const LineLoop& loop) { return loop.count == 1; });
  std::ranges::stable_sort(loops, std::ranges::greater(), &LineLoop::from);
  for (std::size_t l = loops.size(); l-- > 1;) {
    if (!continues(loops[l], loops[l - 1])) continue;
    loops[l].count *= loops[l - 1].count;
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(l) - 1);
  }
}

void put_line_neighbours(LineTransform& what, const LineLoop& loop) {
  what.neighbours = loop.count;
  what.from_apart = loop.from;
  for (std::size_t p = 0; p < loop.to.size(); ++p) what.piece[p].apart = loop.to[p];
}

/// Neighbouring lines of reals as one.
void pair_line_neighbours(LineTransform& what) {
  check(what.neighbours % 2 == 0, "{} real lines cannot be paired", what.neighbours);
  what.neighbours /= 2;
  what.from_pair = std::exchange(what.from_apart, 2 * what.from_apart);
  what.to_pair = std::exchange(what.piece[0].apart, 2 * what.piece[0].apart);
}

void put_line_loops(LineTransform& what, const std::vector<LineLoop>& loops) {
  check<UnsupportedError>(loops.size() <= LineTransform::most_loops, "a transform with a batch of {} loops",
                          loops.size() + 1);
  what.loops = static_cast<int>(loops.size());
  for (std::size_t l = 0; l < loops.size(); ++l) {
    what.counts[l] = loops[l].count;
    what.from_strides[l] = loops[l].from;
    for (std::size_t p = 0; p < loops[l].to.size(); ++p) what.piece[p].strides[l] = loops[l].to[p];
  }
}

}  // namespace

LinesLaunch::LinesLaunch(LinesOfParts lines, double link_share)
    : lines_(std::move(lines)), what_(lines_.what()) {
  what_.link_share = link_share;
  std::vector<LineLoop> loops = lines_.loops();
  simplify_lines(loops);
  if (!loops.empty()) {
    put_line_neighbours(what_, loops.back());
    loops.pop_back();
  }
  put_line_loops(what_, loops);
}

void LinesLaunch::enqueue(devices::DeviceTransforms& device, const AddressOf& address, double scale,
                          Stream stream) {
  lines_.place(what_, address, scale);
  device.transform_lines(what_, stream);
}

PlanesLaunch::PlanesLaunch(LinesOfParts rows, int row_axis, LinesOfParts columns, int column_axis)
    : rows_(std::move(rows)), columns_(std::move(columns)), what_{rows_.what(), columns_.what(), nullptr} {
  const auto along = [](const LinesOfParts& lines, int dimension) -> const LineLoop& {
    return *std::ranges::find(lines.loops(), dimension, &LineLoop::dimension);
  };
  put_line_neighbours(what_.rows, along(rows_, column_axis));
  if (what_.rows.of_reals) pair_line_neighbours(what_.rows);
  put_line_neighbours(what_.columns, along(columns_, row_axis));
  std::vector<LineLoop> both;  // those of the columns, with what is read and written by rows behind
  for (const LineLoop& of_columns : columns_.loops()) {
    if (of_columns.dimension == row_axis) continue;
    const LineLoop& of_rows = along(rows_, of_columns.dimension);
    check(of_rows.count == of_columns.count, "{} rows' planes and {} columns' planes along dimension {}",
          of_rows.count, of_columns.count, of_rows.dimension);
    both.push_back(of_columns);
    both.back().to.insert(both.back().to.end(), {of_rows.from, of_rows.to.front()});
  }
  simplify_lines(both);
  std::vector<LineLoop> row_loops;
  for (LineLoop& loop : both) {
    const std::int64_t to = loop.to.back(), from = loop.to[loop.to.size() - 2];
    loop.to.resize(loop.to.size() - 2);
    row_loops.push_back({loop.dimension, loop.count, from, {to}});
  }
  put_line_loops(what_.rows, row_loops);
  put_line_loops(what_.columns, both);
}

void PlanesLaunch::enqueue(devices::DeviceTransforms& device, const AddressOf& address, const Place& counters,
                           double scale, Stream stream) {
  rows_.place(what_.rows, address, 1);
  columns_.place(what_.columns, address, scale);
  what_.counters = reinterpret_cast<std::uint32_t*>(address(counters) + counters.offset);
  device.transform_planes(what_, stream);
}

}  // namespace partita::execution
