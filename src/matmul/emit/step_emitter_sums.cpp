// Adding up what several ranks made.
#include <algorithm>

#include "matmul/emit/step_emitter.hpp"

namespace partita::multiplication {
namespace {

struct Arrival {
  Region region;
  Contribution from;
};

bool before(const Region& a, const Region& b) {
  for (std::size_t i = 0; i < a.sets.size(); ++i) {
    if (a.sets[i].front() != b.sets[i].front()) return a.sets[i].front() < b.sets[i].front();
  }
  return a.size() < b.size();
}

// What all ranks make of this rank's part of D.
std::vector<Arrival> arrivals(const MatmulBuffers& buffers, Cutting& cutting,
                              const std::vector<BlockProduct>& own) {
  std::vector<Arrival> result;
  for (const BlockProduct& product : own) {
    if (product.holder == buffers.rank())
      result.push_back({product.region, {buffers.rank(), product.offset}});
  }
  if (!buffers.delivers) return result;
  const Region& held = buffers.problem.d.held.by(buffers.rank());
  for (int step = 1; step < buffers.problem.ranks(); ++step) {
    const int peer = (buffers.rank() + step) % buffers.problem.ranks();
    const Tile& tile = buffers.tile(peer);
    if (tile.empty() || common_size(region_of_d(tile), held) == 0) continue;
    for (BlockProduct& product : products_of(buffers, cutting.blocks(peer), peer)) {
      if (product.holder != buffers.rank()) continue;
      result.push_back({std::move(product.region), {peer, product.offset}});
    }
  }
  return result;
}

}  // namespace

Sums sums_of(const MatmulBuffers& buffers, Cutting& cutting, const std::vector<BlockProduct>& own) {
  std::vector<Arrival> all = arrivals(buffers, cutting, own);
  // Stable: among equal regions by distance, this rank's own first.
  std::stable_sort(all.begin(), all.end(),
                   [](const Arrival& a, const Arrival& b) { return before(a.region, b.region); });
  Sums result;
  std::int64_t covered = 0;
  for (const Arrival& arrival : all) {
    if (result.sums.empty() || result.sums.back().region != arrival.region) {
      covered += arrival.region.size();
      result.sums.push_back({arrival.region, {}});
    }
    result.sums.back().contributions.push_back(arrival.from);
  }
  result.irregular = covered > buffers.problem.d.layout.local_size(buffers.rank());
  if (!result.irregular) return result;
  result.sums.clear();
  for (Arrival& arrival : all) result.sums.push_back({std::move(arrival.region), {arrival.from}});
  return result;
}

// D[I, J] = F(T_0[I, J] + T_1[I, J] + ..), piece by piece, so that a piece stays in cache from the first sum
// to the epilogue.
void StepEmitter::gather() {
  if (buffers_.problem.multiplies_nothing()) return last_pass_.write_all(sums_buffer_, true);
  if (!buffers_.delivers) return;
  if (!messages_.grouped()) messages_.expect_products(sums_);
  std::set<int> makers;
  for (const Sum& sum : sums_.sums) {
    for (const Contribution& from : sum.contributions) {
      const bool near = from.rank != rank_ && buffers_.same_node(from.rank, rank_);
      if (!near || !makers.insert(from.rank).second) continue;
      if (buffers_.pushes_products) {
        puts_.await_products(from.rank);
      } else {
        builder_.wait(from.rank, ready);
      }
    }
    gather_sum(sum);
  }
  for (const int maker : makers) {
    if (!buffers_.pushes_products) builder_.signal(maker, done);
  }
  if (sums_.irregular) last_pass_.write_all(sums_buffer_, !c_in_product_);
}

/// Of what a rank of the node has made, from a byte of it on.
Place StepEmitter::place_of_product(const Contribution& from, std::int64_t first) const {
  const Extents order = buffers_.product_order();
  if (from.rank == rank_ || !buffers_.pushes_products) {
    return {buffers_.products, from.rank, from.offset + first, order};
  }
  return {buffers_.landing_products, rank_, puts_.offset_of_product(from.rank, from.offset) + first, order};
}

void StepEmitter::gather_sum(const Sum& sum) {
  std::int64_t offset = 0;
  for (const Region& piece : in_cache(buffers_, sum.region, buffers_.problem.compute)) {
    const bool begun = sum.begun_in_place();
    const bool alone = sum.contributions.size() == 1 && !sums_.irregular;
    bool first = !begun && !sums_.irregular;
    bool c_pending = !(c_in_product_ && begun);
    for (const Contribution& from : sum.contributions) {
      if (from.offset < 0) continue;
      std::vector<int> after;
      const Place place = buffers_.same_node(from.rank, rank_) ? place_of_product(from, offset)
                                                               : messages_.take_product(piece, after);
      if (alone) {
        last_pass_.write(piece, {piece, place}, c_pending, std::move(after));
      } else {
        add(piece, from.rank, place, first, std::move(after));
      }
      if (first && c_in_product_) c_pending = false;
      first = false;
    }
    if (!sums_.irregular && !(alone && !begun)) {
      last_pass_.write(piece, {piece, builder_.own(sums_buffer_)}, c_pending);
    }
    offset += piece.size() * size_of(buffers_.problem.compute);
  }
}

// The first one takes beta C in where C is in its place.
void StepEmitter::add(const Region& piece, int maker, const Place& from, bool first, std::vector<int> after) {
  const Place to = builder_.own(sums_buffer_);
  if (first && c_in_product_) {
    ApplyEpilogue work;
    work.from = {piece, from};
    work.to = {piece, to};
    work.has_c = true;
    work.c = {piece, builder_.own(buffers_.c)};
    builder_.compute(std::move(work), std::move(after));
    return;
  }
  if (first) {
    builder_.copy(maker, piece, from, to, std::move(after));
  } else {
    builder_.accumulate(maker, Reduction::sum, piece, from, to, std::move(after));
  }
}

}  // namespace partita::multiplication
