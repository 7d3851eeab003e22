#include "execute/works/product_axis.hpp"

#include <algorithm>

namespace partita::execution {
namespace {

kernels::TileAxis piece(const kernels::TileAxis& axis, std::int64_t first, std::int64_t count) {
  kernels::TileAxis result = axis;
  result.count = count;
  if (axis.table != nullptr) {
    result.table += first;
  } else {
    result.offset += first * axis.step;
  }
  return result;
}

}  // namespace

ProductAxis::ProductAxis(const PartAxis& first, const PartAxis& second, std::int64_t size,
                         std::int64_t short_run) {
  const std::array<PartAxis, 2> parts{first, second};
  const std::vector<AxisRun> runs = axis_runs(parts, size);
  const auto count = static_cast<std::int64_t>(runs.size());
  if (count > 1 && size < count * short_run) {
    Chunk chunk{size, {}};
    for (std::size_t x = 0; x < 2; ++x) chunk.in[x] = joined(parts[x], size, tables_[x]);
    chunks_.push_back(chunk);
    return;
  }
  for (const AxisRun& run : runs) {
    Chunk chunk{run.count, {}};
    for (std::size_t x = 0; x < 2; ++x) chunk.in[x] = {run.count, run.offset[x], run.step[x], nullptr};
    chunks_.push_back(chunk);
  }
}

kernels::TileAxis ProductAxis::joined(const PartAxis& part, std::int64_t size,
                                      std::vector<std::int64_t>& table) const {
  const std::vector<AxisRun> alone = axis_runs({&part, 1}, size);
  if (alone.size() == 1) return {size, alone.front().offset[0], alone.front().step[0], nullptr};
  for (const AxisRun& run : alone) {
    for (std::int64_t i = 0; i < run.count; ++i) table.push_back(run.offset[0] + i * run.step[0]);
  }
  return {size, 0, 0, table.data()};
}

void ProductAxis::split(std::int64_t most) {
  std::vector<Chunk> pieces;
  for (const Chunk& chunk : chunks_) {
    for (std::int64_t first = 0; first < chunk.count; first += most) {
      const std::int64_t count = std::min(most, chunk.count - first);
      pieces.push_back({count, {piece(chunk.in[0], first, count), piece(chunk.in[1], first, count)}});
    }
  }
  chunks_ = std::move(pieces);
}

std::int64_t ProductAxis::largest_chunk() const {
  std::int64_t most = 0;
  for (const Chunk& chunk : chunks_) most = std::max(most, chunk.count);
  return most;
}

}  // namespace partita::execution
