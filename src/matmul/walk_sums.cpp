// Adding up what several ranks made, and the last pass over D.
#include <algorithm>

#include "matmul/walk.hpp"

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
std::vector<Arrival> arrivals(const Frame& frame, Cutting& cutting, const std::vector<Product>& own) {
  std::vector<Arrival> result;
  for (const Product& product : own) {
    if (product.holder == frame.rank()) result.push_back({product.region, {frame.rank(), product.offset}});
  }
  if (!frame.delivers) return result;
  const Region& held = frame.problem.d.held.by(frame.rank());
  for (int step = 1; step < frame.problem.ranks(); ++step) {
    const int peer = (frame.rank() + step) % frame.problem.ranks();
    const Tile& tile = frame.tile(peer);
    if (tile.empty() || common_size(region_of_d(tile), held) == 0) continue;
    for (Product& product : products_of(frame, cutting.blocks(peer), peer)) {
      if (product.holder != frame.rank()) continue;
      result.push_back({std::move(product.region), {peer, product.offset}});
    }
  }
  return result;
}

}  // namespace

Sums sums_of(const Frame& frame, Cutting& cutting, const std::vector<Product>& own) {
  std::vector<Arrival> all = arrivals(frame, cutting, own);
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
  result.irregular = covered > frame.problem.d.layout.local_size(frame.rank());
  if (!result.irregular) return result;
  result.sums.clear();
  for (Arrival& arrival : all) result.sums.push_back({std::move(arrival.region), {arrival.from}});
  return result;
}

// D[I, J] = F(T_0[I, J] + T_1[I, J] + ..), piece by piece, so that a piece stays in cache from the first sum
// to the epilogue.
void Walk::gather() {
  if (frame_.problem.multiplies_nothing()) return finish_all(true);
  if (!frame_.delivers) return;
  if (!mail_.grouped()) mail_.expect_products(sums_);
  std::set<int> makers;
  for (const Sum& sum : sums_.sums) {
    for (const Contribution& from : sum.contributions) {
      const bool near = from.rank != rank_ && frame_.same_node(from.rank, rank_);
      if (!near || !makers.insert(from.rank).second) continue;
      if (frame_.pushes_products) {
        pushes_.await_products(from.rank);
      } else {
        builder_.wait(from.rank, ready);
      }
    }
    gather_sum(sum);
  }
  for (const int maker : makers) {
    if (!frame_.pushes_products) builder_.signal(maker, done);
  }
  if (sums_.irregular) finish_all(!c_in_product_);
}

void Walk::finish_all(bool c_pending) {
  const Region own = frame_.problem.d.layout.region(rank_);
  for (const Region& piece : in_cache(frame_, own, frame_.problem.compute)) {
    finish(piece, {piece, builder_.own(sums_buffer_)}, c_pending);
  }
}

/// Of what a rank of the node has made, from a byte of it on.
Place Walk::place_of_product(const Contribution& from, std::int64_t first) const {
  const Extents order = frame_.product_order();
  if (from.rank == rank_ || !frame_.pushes_products) {
    return {frame_.products, from.rank, from.offset + first, order};
  }
  return {frame_.landing_products, rank_, pushes_.offset_of_product(from.rank, from.offset) + first, order};
}

void Walk::gather_sum(const Sum& sum) {
  std::int64_t offset = 0;
  for (const Region& piece : in_cache(frame_, sum.region, frame_.problem.compute)) {
    const bool begun = sum.begun_in_place();
    const bool alone = sum.contributions.size() == 1 && !sums_.irregular;
    bool first = !begun && !sums_.irregular;
    bool c_pending = !(c_in_product_ && begun);
    for (const Contribution& from : sum.contributions) {
      if (from.offset < 0) continue;
      std::vector<int> after;
      const Place place = frame_.same_node(from.rank, rank_) ? place_of_product(from, offset)
                                                             : mail_.take_product(piece, after);
      if (alone) {
        finish(piece, {piece, place}, c_pending, std::move(after));
      } else {
        add(piece, from.rank, place, first, std::move(after));
      }
      if (first && c_in_product_) c_pending = false;
      first = false;
    }
    if (!sums_.irregular && !(alone && !begun)) {
      finish(piece, {piece, builder_.own(sums_buffer_)}, c_pending);
    }
    offset += piece.size() * size_of(frame_.problem.compute);
  }
}

// The first one takes beta C in where C is in its place.
void Walk::add(const Region& piece, int maker, const Place& from, bool first, std::vector<int> after) {
  const Place to = builder_.own(sums_buffer_);
  if (first && c_in_product_) {
    ApplyEpilogue work;
    work.from = {piece, from};
    work.to = {piece, to};
    work.has_c = true;
    work.c = {piece, builder_.own(frame_.c)};
    builder_.compute(std::move(work), std::move(after));
    return;
  }
  if (first) {
    builder_.copy(maker, piece, from, to, std::move(after));
  } else {
    builder_.accumulate(maker, Reduction::sum, piece, from, to, std::move(after));
  }
}

bool Walk::has_epilogue(bool c_pending) const {
  const EpilogueParts& parts = frame_.problem.epilogue;
  return parts.activation != Activation::identity || parts.bias || parts.auxiliary || parts.gradient_of_d ||
         (frame_.c >= 0 && c_pending) || frame_.problem.scales_product() || frame_.scale_d >= 0 ||
         frame_.amax >= 0;
}

// D[piece] = F(from + beta C), if there is anything to do.
void Walk::finish(const Region& piece, Part from, bool c_pending, std::vector<int> after) {
  const EpilogueParts& parts = frame_.problem.epilogue;
  const auto here = [&](int buffer) { return Part{piece, builder_.own(buffer)}; };
  const auto rows = [&](int buffer) {
    return Part{{{piece.sets[piece.sets.size() - 2]}}, builder_.own(buffer)};
  };
  if (!has_epilogue(c_pending)) {
    if (from.place.buffer == frame_.d) return;
    if (frame_.problem.d.dtype == frame_.problem.compute) {
      builder_.copy(from.place.rank, piece, from.place, builder_.own(frame_.d), std::move(after));
      return;
    }
  }
  ApplyEpilogue work;
  work.from = std::move(from);
  work.to = here(frame_.d);
  work.activation = parts.activation;
  work.has_c = frame_.c >= 0 && c_pending;
  if (work.has_c) work.c = here(frame_.c);
  work.has_bias = parts.bias;
  if (work.has_bias) work.bias = rows(frame_.bias);
  work.has_auxiliary = parts.auxiliary;
  if (work.has_auxiliary) work.auxiliary = here(frame_.auxiliary);
  // Of several holders of the same elements one counts them.
  work.has_gradient = parts.gradient_of_d && frame_.problem.d.layout.owner(front(piece)) == rank_;
  if (work.has_gradient) work.gradient = rows(frame_.gradient);
  const auto scale = [&](int buffer, std::size_t from_end, bool& has, Part& part) {
    has = buffer >= 0;
    if (!has) return;
    part.place = builder_.own(buffer);
    const bool scalar = builder_.operand(buffer).layout.dimensions() == 0;
    part.region = scalar ? Region() : Region{{piece.sets[piece.sets.size() - from_end]}};
  };
  scale(frame_.scale_a, 2, work.has_scale_a, work.scale_a);
  scale(frame_.scale_b, 1, work.has_scale_b, work.scale_b);
  scale(frame_.scale_d, 0, work.has_scale_d, work.scale_d);
  scale(frame_.amax, 0, work.has_amax, work.amax);
  builder_.compute(std::move(work), std::move(after));
}

}  // namespace partita::multiplication
