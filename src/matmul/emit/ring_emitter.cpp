#include "matmul/emit/ring_emitter.hpp"

#include <algorithm>
#include <utility>

#include "base/round.hpp"
#include "matmul/emit/stripes.hpp"

namespace partita::multiplication {
namespace {

// One is on its way while the next is made; where they go to several ranks, another waits for its way.
int product_slots(const MatmulBuffers& buffers) {
  return std::min(buffers.problem.ranks() - 1, buffers.ring->chains > 1 ? 3 : 2);
}

std::int64_t bytes_of(const MatmulBuffers& buffers, const Region& piece) {
  return round_up(piece.size() * size_of(buffers.problem.reduced), 256);  // on which devices read best
}

/// Room for the pieces of any rank's part.
std::int64_t slot_bytes(const MatmulBuffers& buffers) {
  const Layout summed = layout_summed(buffers.problem);
  std::int64_t most = 0;
  for (int holder = 0; holder < buffers.problem.ranks(); ++holder) {
    std::int64_t bytes = 0;
    for (int number = 0; number < buffers.ring->pieces; ++number) {
      bytes += bytes_of(buffers, piece_of(summed.region(holder), *buffers.ring, number));
    }
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

std::int64_t RingEmitter::products_bytes(const MatmulBuffers& buffers) {
  return product_slots(buffers) * slot_bytes(buffers);
}

std::int64_t RingEmitter::landing_bytes(const MatmulBuffers& buffers) {
  return (buffers.problem.ranks() - 1) * slot_bytes(buffers);
}

RingEmitter::RingEmitter(const MatmulBuffers& buffers, planning::PlanBuilder& builder)
    : buffers_(buffers),
      builder_(builder),
      rank_(buffers.rank()),
      schedule_(ranks(), buffers.ring->chains),
      summed_(layout_summed(buffers.problem)),
      slot_bytes_(slot_bytes(buffers)),
      last_pass_(buffers, builder),
      puts_(builder) {
  for (int distance = 1; distance < ranks(); ++distance)
    peers_.push_back((rank_ + ranks() - distance) % ranks());
  for (const int distance : schedule_.distances()) {
    if (!summed_.region(holder_from(rank_, distance)).empty()) takers_.push_back(taker(rank_, distance));
  }
}

void RingEmitter::run() {
  grant();
  for (const int distance : schedule_.distances()) {
    for (int number = 0; number < buffers_.ring->pieces; ++number) sum(distance, number);
  }
  sum_own_part();
  await_parts();
}

bool RingEmitter::puts_to_all(int rank) const {
  return buffers_.gathers_d && !summed_.region(rank).empty();
}

/// Whether any sum that the rank makes comes here.
bool RingEmitter::puts_here(int rank) const {
  return std::ranges::any_of(schedule_.distances(), [&](int distance) {
    return taker(rank, distance) == rank_ && !summed_.region(holder_from(rank, distance)).empty();
  });
}

// Nobody waits before all that put to it may begin.
void RingEmitter::grant() {
  for (const int giver : peers_) {
    if (puts_here(giver) || puts_to_all(giver)) puts_.grant(giver);
  }
}

/// The place of a piece in one of the slots for parts.
Place RingEmitter::packed(int buffer, int rank, int slot, int holder, int number) const {
  std::int64_t offset = slot * slot_bytes_;
  for (int i = 0; i < number; ++i) offset += bytes_of(buffers_, piece(holder, i));
  return {buffer, rank, offset, buffers_.problem.d.axis_order};
}

/// What is made at a distance, where it arrives.
Place RingEmitter::landing(int rank, int distance, int holder, int number) const {
  return packed(buffers_.landing_products, rank, distance - 1, holder, number);
}

Part RingEmitter::factor(const Region& of, bool of_a) const {
  const IndexSet& k = buffers_.tile(rank_).k;
  const Region region = of_a ? Region{{of.sets[0], k}} : Region{{k, of.sets[1]}};
  return {region, builder_.own(buffers_.input(of_a).buffer)};
}

void RingEmitter::multiply(const Region& region, const Place& made, Beta beta) {
  builder_.compute(buffers_.product(factor(region, true), factor(region, false), {region, made}, beta));
}

/// Where the sum of that distance comes, once it is there. Waits are in the order in which its maker puts.
Part RingEmitter::await(int maker, int distance, const Region& region, int number) {
  puts_.await_more(maker, 1);
  return {region, landing(rank_, distance, holder_from(maker, distance), number)};
}

void RingEmitter::sum(int distance, int number) {
  const int holder = holder_from(rank_, distance), to = taker(rank_, distance);
  const Region region = piece(holder, number);
  if (region.empty()) return;
  const auto slot = std::ranges::find(schedule_.distances(), distance) - schedule_.distances().begin();
  const Place made =
      packed(buffers_.products, rank_, static_cast<int>(slot) % product_slots(buffers_), holder, number);
  std::optional<Part> arrived;
  if (!schedule_.begins(distance)) arrived = await(before(), distance - 1, region, number);
  multiply(region, made, Beta::zero);
  if (arrived) last_pass_.add(region, made, *arrived);
  // All grants at once, so that no copy has a wait between it and the next one.
  for (const int granting : std::exchange(takers_, {})) puts_.await_grant(granting);
  puts_.put(to, region, made, landing(to, distance, holder, number));
  puts_.tell(to);
}

/// All products come before the passes, which wait for what the last ranks of other chains make.
void RingEmitter::sum_own_part() {
  const Beta beta = buffers_.problem.in_place ? Beta::given : Beta::zero;
  for (const int distance : schedule_.ends()) {
    const bool is_first = distance == schedule_.ends().front(), is_last = distance == schedule_.ends().back();
    for (int number = 0; number < buffers_.ring->pieces; ++number) {
      const Region region = piece(rank_, number);
      if (region.empty()) continue;
      const Part arrived = await((rank_ + distance) % ranks(), distance, region, number);
      if (is_first) multiply(region, builder_.own(buffers_.d), beta);
      add_to_own(region, arrived, is_last);
    }
  }
}

/// The last one in the pass that does what follows; beta C, where it is pending, before it.
void RingEmitter::add_to_own(const Region& region, const Part& arrived, bool is_last) {
  const Place here = builder_.own(buffers_.d);
  const bool c_pending = buffers_.c >= 0 && !buffers_.problem.in_place;
  if (!is_last || c_pending) last_pass_.add(region, here, arrived);
  if (!is_last) return;
  last_pass_.write(region, {region, here}, c_pending, {}, c_pending ? std::nullopt : std::optional(arrived));
  if (buffers_.gathers_d) puts_.put_to_all(peers_, region, buffers_.d);
}

// --- D, where others hold it, too

void RingEmitter::await_parts() {
  if (!buffers_.gathers_d) return;
  for (const int maker : peers_) {
    std::int64_t puts = 0;
    for (int number = 0; number < buffers_.ring->pieces; ++number)
      puts += piece(maker, number).empty() ? 0 : 1;
    puts_.await_more(maker, puts);
  }
}

}  // namespace partita::multiplication
