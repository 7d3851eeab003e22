#include "matmul/blocks.hpp"

#include <algorithm>

#include "redistribute/split.hpp"

namespace partita::multiplication {
namespace {

constexpr std::int64_t cache_bytes = std::int64_t{1} << 20;

/// Who gives a piece. Pieces that one rank holds have the same holders, so that `last` is looked at first.
int giver(const Problem& problem, const HeldOperand& input, const Region& region, int rank, int last) {
  if (last >= 0 && holds_front(input.held.by(last), region)) return last;
  return Layout::choose_replica(input.layout.owners(front(region)), rank, problem.topology);
}

}  // namespace

Region region_of_piece(const Frame& frame, const Blocks& blocks, std::size_t turn, bool of_a,
                       std::size_t number) {
  const std::vector<IndexSet>& parts = blocks.turn(turn).of(of_a);
  const Partition& lines = *blocks.lines(of_a).pieces;
  const IndexSet& k = parts[number % parts.size()];
  const IndexSet& line = lines[number / parts.size() % lines.size()];
  const bool batched = frame.problem.input(of_a).batched();
  static const std::vector<IndexSet> none;
  const std::vector<IndexSet>& batch = batched ? blocks.batches[number / parts.size() / lines.size()] : none;
  return of_a ? matrix_region(batch, line, k) : matrix_region(batch, k, line);
}

std::vector<Piece> pieces_of(const Frame& frame, const Blocks& blocks, int rank, std::size_t turn, bool of_a,
                             std::vector<int>& givers) {
  const HeldOperand& input = frame.problem.input(of_a);
  const std::size_t count = (input.batched() ? blocks.batches.size() : 1) *
                            blocks.lines(of_a).pieces->size() * blocks.turn(turn).of(of_a).size();
  givers.resize(std::max(givers.size(), count), -1);
  std::vector<Piece> pieces;
  pieces.reserve(count);
  for (std::size_t number = 0; number < count; ++number) {
    Region region = region_of_piece(frame, blocks, turn, of_a, number);
    givers[number] = giver(frame.problem, input, region, rank, givers[number]);
    pieces.push_back({std::move(region), givers[number]});
  }
  return pieces;
}

std::vector<Product> products_of(const Frame& frame, const Blocks& blocks, int rank) {
  std::vector<Product> products;
  std::int64_t offset = 0;
  const std::int64_t item = size_of(frame.problem.compute);
  for (std::size_t b = 0; b < blocks.batches.size(); ++b) {
    for (std::size_t i = 0; i < blocks.rows->size(); ++i) {
      for (std::size_t j = 0; j < blocks.columns->size(); ++j) {
        Region region = matrix_region(blocks.batches[b], (*blocks.rows)[i], (*blocks.columns)[j]);
        const int holder = frame.tiling.stationary_d ? rank : frame.problem.d.layout.owner(front(region));
        const bool in_place = holder == rank && !blocks.joined;
        const std::int64_t bytes = in_place ? 0 : region.size() * item;
        products.push_back({std::move(region), holder, b, i, j, in_place ? -1 : offset});
        offset += bytes;
      }
    }
  }
  return products;
}

std::vector<Region> in_cache(const Frame& frame, const Region& region, Dtype dtype) {
  const Extents order = frame.product_order();
  const std::int64_t bytes = frame.problem.on_device() ? frame.message_bytes : cache_bytes;
  return redistribution::split(region, std::max<std::int64_t>(bytes / size_of(dtype), 1), order, order);
}

}  // namespace partita::multiplication
