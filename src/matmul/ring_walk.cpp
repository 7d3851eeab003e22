#include "matmul/ring_walk.hpp"

#include <algorithm>
#include <utility>

#include "base/round.hpp"
#include "matmul/stripes.hpp"

namespace partita::multiplication {
namespace {

// One is on its way while the next is made.
constexpr int product_slots = 2;

std::int64_t bytes_of(const Frame& frame, const Region& piece) {
  return round_up(piece.size() * size_of(frame.problem.reduced), 256);  // on which devices read best
}

/// Room for the pieces of any rank's part.
std::int64_t slot_bytes(const Frame& frame) {
  const Layout summed = layout_summed(frame.problem);
  std::int64_t most = 0;
  for (int holder = 0; holder < frame.problem.ranks(); ++holder) {
    std::int64_t bytes = 0;
    for (int number = 0; number < frame.ring->pieces; ++number) {
      bytes += bytes_of(frame, piece_of(summed.region(holder), *frame.ring, number));
    }
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

std::int64_t RingWalk::products_bytes(const Frame& frame) {
  return std::min(frame.problem.ranks() - 1, product_slots) * slot_bytes(frame);
}

std::int64_t RingWalk::landing_bytes(const Frame& frame) {
  return (frame.problem.ranks() - 1) * slot_bytes(frame);
}

RingWalk::RingWalk(const Frame& frame, planning::PlanBuilder& builder)
    : frame_(frame),
      builder_(builder),
      rank_(frame.rank()),
      summed_(layout_summed(frame.problem)),
      slot_bytes_(slot_bytes(frame)),
      last_pass_(frame, builder),
      grants_(builder) {
  for (int distance = 1; distance < ranks(); ++distance)
    peers_.push_back((rank_ + ranks() - distance) % ranks());
}

void RingWalk::run() {
  grant();
  for (int step = 0; step < ranks(); ++step) {
    for (int number = 0; number < frame_.ring->pieces; ++number) multiply(step, number);
  }
  await_parts();
}

bool RingWalk::puts_to_all(int rank) const {
  return frame_.gathers_d && !summed_.region(rank).empty();
}

/// Whether it makes anything of other ranks' parts.
bool RingWalk::passes_on(int rank) const {
  for (int step = 0; !is_last(step); ++step) {
    if (!summed_.region(holder_at(rank, step, ranks())).empty()) return true;
  }
  return false;
}

// Nobody waits before all that put to it may begin.
void RingWalk::grant() {
  for (const int giver : peers_) {
    if ((giver == before() && passes_on(giver)) || puts_to_all(giver))
      builder_.signal(giver, planning::Channel::grant);
  }
}

/// Where a piece lies in one of the slots for parts.
Place RingWalk::packed(int buffer, int rank, int slot, int holder, int number) const {
  std::int64_t offset = slot * slot_bytes_;
  for (int i = 0; i < number; ++i) offset += bytes_of(frame_, piece(holder, i));
  return {buffer, rank, offset, frame_.problem.d.axis_order};
}

Part RingWalk::factor(const Region& of, bool of_a) const {
  const IndexSet& k = frame_.tile(rank_).k;
  const Region region = of_a ? Region{{of.sets[0], k}} : Region{{k, of.sets[1]}};
  return {region, builder_.own(frame_.input(of_a).buffer)};
}

void RingWalk::multiply(int step, int number) {
  const int holder = holder_at(rank_, step, ranks());
  const Region region = piece(holder, number);
  if (region.empty()) return;
  std::optional<Part> arrived;
  if (step > 0) {
    builder_.wait_for(before(), written, 1);
    arrived = Part{region, packed(frame_.landing_products, rank_, step - 1, holder, number)};
  }
  const Place made = is_last(step) ? builder_.own(frame_.d)
                                   : packed(frame_.products, rank_, step % product_slots, holder, number);
  const Problem& problem = frame_.problem;
  Multiply work;
  work.a = factor(region, true);
  work.b = factor(region, false);
  work.to = {region, made};
  work.conjugate_a = problem.conjugate_a;
  work.conjugate_b = problem.conjugate_b;
  work.beta = is_last(step) && problem.in_place ? Beta::given : Beta::zero;
  work.compute = problem.options.compute;
  builder_.compute(std::move(work));
  if (is_last(step)) return finish(region, arrived);
  if (arrived) last_pass_.add(region, made, *arrived);
  pass_on(step, number, region, made);
}

void RingWalk::pass_on(int step, int number, const Region& region, const Place& made) {
  const int holder = holder_at(rank_, step, ranks());
  grants_.await(next());
  builder_.copy(rank_, region, made, packed(frame_.landing_products, next(), step, holder, number));
  builder_.signal(next(), written);
}

/// The last pass over a piece of this rank's part, whose own product is there.
void RingWalk::finish(const Region& region, const std::optional<Part>& arrived) {
  const Place here = builder_.own(frame_.d);
  const bool c_pending = frame_.c >= 0 && !frame_.problem.in_place;
  if (arrived && c_pending) last_pass_.add(region, here, *arrived);
  last_pass_.write(region, {region, here}, c_pending, {}, c_pending ? std::nullopt : arrived);
  if (frame_.gathers_d) put_to_all(frame_, builder_, grants_, peers_, region);
}

// --- D, where others hold it, too

void RingWalk::await_parts() {
  if (!frame_.gathers_d) return;
  await_puts(builder_, peers_, [this](int maker) {
    std::int64_t puts = 0;
    for (int number = 0; number < frame_.ring->pieces; ++number) puts += piece(maker, number).empty() ? 0 : 1;
    return puts;
  });
}

}  // namespace partita::multiplication
