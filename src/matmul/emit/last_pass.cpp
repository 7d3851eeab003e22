#include "matmul/emit/last_pass.hpp"

#include <utility>

#include "matmul/emit/blocks.hpp"

namespace partita::multiplication {

namespace {

void take(ApplyEpilogue& work, const Part& arrived) {
  work.has_c = true;
  work.c = arrived;
  work.beta = Beta::one;
}

}  // namespace

bool LastPass::changes_sums(bool c_pending) const {
  const EpilogueParts& parts = buffers_.problem.epilogue;
  return parts.activation != Activation::identity || parts.bias || parts.auxiliary || parts.gradient_of_d ||
         (buffers_.c >= 0 && c_pending) || buffers_.problem.scales_product() || buffers_.scale_d >= 0 ||
         buffers_.amax >= 0;
}

// D[piece] = F(from + beta C), if there is anything to do.
void LastPass::write(const Region& piece, Part from, bool c_pending, std::vector<int> after,
                     const std::optional<Part>& arrived) {
  const EpilogueParts& parts = buffers_.problem.epilogue;
  const auto here = [&](int buffer) { return Part{piece, builder_.own(buffer)}; };
  const auto rows = [&](int buffer) {
    return Part{{{piece.sets[piece.sets.size() - 2]}}, builder_.own(buffer)};
  };
  if (!changes_sums(c_pending) && !arrived) {
    if (from.place.buffer == buffers_.d) return;
    if (buffers_.problem.d.dtype == buffers_.problem.compute) {
      builder_.copy(from.place.rank, piece, from.place, builder_.own(buffers_.d), std::move(after));
      return;
    }
  }
  ApplyEpilogue work;
  work.from = std::move(from);
  work.to = here(buffers_.d);
  work.activation = parts.activation;
  work.has_c = buffers_.c >= 0 && c_pending;
  if (work.has_c) work.c = here(buffers_.c);
  if (arrived) take(work, *arrived);
  work.has_bias = parts.bias;
  if (work.has_bias) work.bias = rows(buffers_.bias);
  work.has_auxiliary = parts.auxiliary;
  if (work.has_auxiliary) work.auxiliary = here(buffers_.auxiliary);
  // Of several holders of the same elements one counts them.
  work.has_gradient = parts.gradient_of_d && buffers_.problem.d.layout.owner(front(piece)) == buffers_.rank();
  if (work.has_gradient) work.gradient = rows(buffers_.gradient);
  const auto scale = [&](int buffer, std::size_t from_end, bool& has, Part& part) {
    has = buffer >= 0;
    if (!has) return;
    part.place = builder_.own(buffer);
    const bool scalar = builder_.operand(buffer).layout.dimensions() == 0;
    part.region = scalar ? Region() : Region{{piece.sets[piece.sets.size() - from_end]}};
  };
  scale(buffers_.scale_a, 2, work.has_scale_a, work.scale_a);
  scale(buffers_.scale_b, 1, work.has_scale_b, work.scale_b);
  scale(buffers_.scale_d, 0, work.has_scale_d, work.scale_d);
  scale(buffers_.amax, 0, work.has_amax, work.amax);
  builder_.compute(std::move(work), std::move(after));
}

void LastPass::add(const Region& piece, const Place& sums, const Part& arrived) {
  ApplyEpilogue work;
  work.from = work.to = {piece, sums};
  take(work, arrived);
  builder_.compute(std::move(work));
}

void LastPass::write_all(int buffer, bool c_pending) {
  const Region own = buffers_.problem.d.layout.region(buffers_.rank());
  for (const Region& piece : in_cache(buffers_, own, buffers_.problem.compute)) {
    write(piece, {piece, builder_.own(buffer)}, c_pending);
  }
}

}  // namespace partita::multiplication
