#include "matmul/emit/blocks.hpp"

#include <algorithm>

#include "base/round.hpp"
#include "redistribute/split.hpp"

namespace partita::multiplication {

Multiply MatmulBuffers::product(Part of_a, Part of_b, Part to, Beta beta) const {
  Multiply work;
  work.a = std::move(of_a);
  work.b = std::move(of_b);
  work.to = std::move(to);
  work.conjugate_a = problem.conjugate_a;
  work.conjugate_b = problem.conjugate_b;
  work.beta = beta;
  work.compute = problem.options.compute;
  if (problem.a.dtype != problem.b.dtype) work.dtype_b = problem.b.dtype;
  return work;
}
namespace {

std::int64_t total(const Partition& pieces) {
  std::int64_t sum = 0;
  for (const IndexSet& piece : pieces) sum += piece.size();
  return sum;
}

Partition cut_at_sides(const IndexSet& whole, const std::vector<IndexSet>& sets) {
  std::vector<std::int64_t> cuts;
  for (const IndexSet& set : sets) {
    cuts.push_back(whole.position(set.front()));
    cuts.push_back(whole.position(set.back()) + 1);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  Partition result;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    result.push_back(redistribution::slice(whole, cuts[i - 1], cuts[i]));
  }
  return result;
}

constexpr std::int64_t cache_bytes = std::int64_t{1} << 20;

/// Who gives a piece. Pieces that one rank holds have the same holders, so that `last` is looked at first.
int giver(const Problem& problem, const HeldOperand& input, const Region& region, int rank, int last) {
  if (last >= 0 && holds_front(input.held.by(last), region)) return last;
  return Layout::choose_replica(input.layout.owners(front(region)), rank, problem.topology);
}

}  // namespace

Partition partition(const IndexSet& whole, std::vector<IndexSet> sets) {
  std::erase_if(sets, [](const IndexSet& set) { return set.empty(); });
  std::stable_sort(sets.begin(), sets.end(), [](const IndexSet& a, const IndexSet& b) {
    return a.front() != b.front() ? a.front() < b.front() : a.size() < b.size();
  });
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (total(sets) == whole.size()) return sets;
  return cut_at_sides(whole, sets);
}

Partition refine(const Partition& a, const Partition& b) {
  if (a.size() == 1) return b;
  if (b.size() == 1 || a == b) return a;
  Partition result;
  for (const IndexSet& x : a) {
    for (const IndexSet& y : b) {
      if (x.back() < y.front() || y.back() < x.front()) continue;
      IndexSet common = intersect(x, y);
      if (!common.empty()) result.push_back(std::move(common));
    }
  }
  std::ranges::sort(result, {}, &IndexSet::front);
  return result;
}

Partition chop(const Partition& pieces, std::int64_t most) {
  Partition result;
  for (const IndexSet& piece : pieces) {
    const std::int64_t count = ceil_divide(piece.size(), most);
    if (count == 1) {
      result.push_back(piece);
      continue;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      result.push_back(
          redistribution::slice(piece, piece.size() * i / count, piece.size() * (i + 1) / count));
    }
  }
  return result;
}

Region region_of_piece(const MatmulBuffers& buffers, const Blocks& blocks, std::size_t turn, bool of_a,
                       std::size_t number) {
  const std::vector<IndexSet>& parts = blocks.turn(turn).of(of_a);
  const Partition& lines = *blocks.lines(of_a).pieces;
  const IndexSet& k = parts[number % parts.size()];
  const IndexSet& line = lines[number / parts.size() % lines.size()];
  const bool batched = buffers.problem.input(of_a).batched();
  static const std::vector<IndexSet> none;
  const std::vector<IndexSet>& batch = batched ? blocks.batches[number / parts.size() / lines.size()] : none;
  return of_a ? matrix_region(batch, line, k) : matrix_region(batch, k, line);
}

std::vector<Piece> pieces_of(const MatmulBuffers& buffers, const Blocks& blocks, int rank, std::size_t turn,
                             bool of_a, std::vector<int>& givers) {
  const HeldOperand& input = buffers.problem.input(of_a);
  const std::size_t count = (input.batched() ? blocks.batches.size() : 1) *
                            blocks.lines(of_a).pieces->size() * blocks.turn(turn).of(of_a).size();
  givers.resize(std::max(givers.size(), count), -1);
  std::vector<Piece> pieces;
  pieces.reserve(count);
  for (std::size_t number = 0; number < count; ++number) {
    Region region = region_of_piece(buffers, blocks, turn, of_a, number);
    givers[number] = giver(buffers.problem, input, region, rank, givers[number]);
    pieces.push_back({std::move(region), givers[number]});
  }
  return pieces;
}

OwnPart::OwnPart(const MatmulBuffers& buffers, bool of_a)
    : buffers_(buffers), of_a_(of_a), region_(buffers.problem.input(of_a).held.by(buffers.rank())) {
  if (!region_.empty()) replicas_ = buffers.problem.input(of_a).layout.owners(front(region_));
}

bool OwnPart::is_read_by(int reader) const {
  const Region wanted = region_of(buffers_.problem, buffers_.tile(reader), of_a_);
  if (!buffers_.input(of_a_).moves || common_size(region_, wanted) == 0) return false;
  return Layout::choose_replica(replicas_, reader, buffers_.problem.topology) == buffers_.rank();
}

bool OwnPart::gives(int reader, const Region& piece) const {
  return holds_front(region_, piece) &&
         (replicas_.size() == 1 ||
          Layout::choose_replica(replicas_, reader, buffers_.problem.topology) == buffers_.rank());
}

std::vector<BlockProduct> products_of(const MatmulBuffers& buffers, const Blocks& blocks, int rank) {
  std::vector<BlockProduct> products;
  std::int64_t offset = 0;
  const std::int64_t item = size_of(buffers.problem.compute);
  for (std::size_t b = 0; b < blocks.batches.size(); ++b) {
    for (std::size_t i = 0; i < blocks.rows->size(); ++i) {
      for (std::size_t j = 0; j < blocks.columns->size(); ++j) {
        Region region = matrix_region(blocks.batches[b], (*blocks.rows)[i], (*blocks.columns)[j]);
        const int holder = buffers.tiling.stationary_d ? rank : buffers.problem.d.layout.owner(front(region));
        const bool in_place = holder == rank && !blocks.joined;
        const std::int64_t bytes = in_place ? 0 : region.size() * item;
        products.push_back({std::move(region), holder, b, i, j, in_place ? -1 : offset});
        offset += bytes;
      }
    }
  }
  return products;
}

std::vector<Region> in_cache(const MatmulBuffers& buffers, const Region& region, Dtype dtype) {
  const Extents order = buffers.product_order();
  const std::int64_t bytes = buffers.problem.on_device() ? buffers.message_bytes : cache_bytes;
  return redistribution::split(region, std::max<std::int64_t>(bytes / size_of(dtype), 1), order, order);
}

}  // namespace partita::multiplication
