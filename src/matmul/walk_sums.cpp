// Adding up what several ranks made, and the last pass over D.
#include "matmul/walk.hpp"

namespace partita::multiplication {

// D[I, J] = F(T_0[I, J] + T_1[I, J] + ..), piece by piece, so that a piece stays in cache from the first sum
// to the epilogue.
void Walk::gather() {
  if (frame_.problem.multiplies_nothing()) return finish_all(true);
  if (!frame_.delivers) return;
  mail_.expect_products(sums_);
  std::set<int> makers;
  for (const Sum& sum : sums_.sums) {
    for (const Contribution& from : sum.contributions) {
      const bool near = from.rank != rank_ && frame_.same_node(from.rank, rank_);
      if (near && makers.insert(from.rank).second) builder_.wait(from.rank, ready);
    }
    gather_sum(sum);
  }
  for (const int maker : makers) builder_.signal(maker, done);
  if (sums_.irregular) finish_all(!c_in_product_);
}

void Walk::finish_all(bool c_pending) {
  const Region own = frame_.problem.d.layout.region(rank_);
  for (const Region& piece : in_cache(frame_, own, frame_.problem.compute)) {
    finish(piece, {piece, builder_.own(sums_buffer_)}, c_pending);
  }
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
      const Place place =
          frame_.same_node(from.rank, rank_)
              ? Place{frame_.products, from.rank, from.offset + offset, frame_.product_order()}
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
         (frame_.c >= 0 && c_pending);
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
  builder_.compute(std::move(work), std::move(after));
}

}  // namespace partita::multiplication
