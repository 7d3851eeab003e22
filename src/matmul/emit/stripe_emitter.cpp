#include "matmul/emit/stripe_emitter.hpp"

#include <algorithm>
#include <utility>

namespace partita::multiplication {
namespace {

/// The indices below `all` that are not in the range.
IndexSet outside(const IndexSet& range, std::int64_t all) {
  if (range.empty()) return IndexSet::range(0, all);
  std::vector<Interval> intervals;
  for (const auto& [first, last] :
       {std::pair<std::int64_t, std::int64_t>{0, range.front()}, {range.back() + 1, all}}) {
    if (first < last) intervals.push_back({first, last - first, last - first, 1});
  }
  return IndexSet::of(intervals);
}

}  // namespace

StripeEmitter::StripeEmitter(const MatmulBuffers& buffers, planning::PlanBuilder& builder)
    : buffers_(buffers),
      builder_(builder),
      stripes_(*buffers.stripes),
      rank_(buffers.rank()),
      last_pass_(buffers, builder),
      transfers_(builder) {
  const Problem& problem = buffers.problem;
  const bool own_memory =
      problem.d.dtype != problem.compute || (problem.in_place && problem.scales_product());
  sums_buffer_ = own_memory ? buffers.sums : buffers.d;
  c_in_product_ = problem.in_place && !own_memory;
  if (stripes_.begun > 0) own_ = own_depth(problem, buffers.tiles, rank_);
  rest_ = outside(own_, problem.k());
  for (int step = 1; step < problem.ranks(); ++step) {
    peers_.push_back((rank_ - step + problem.ranks()) % problem.ranks());
  }
}

void StripeEmitter::run() {
  grant_panels();
  put_inputs();
  for (int number = 0; number < stripes_.begun; ++number) begin(number);
  for (int number = 0; number < stripes_.count; ++number) {
    await_inputs(number);
    complete(number);
    put_result(number);
  }
  await_results();
}

// Nobody waits before all its peers may begin.
void StripeEmitter::grant_panels() {
  for (const int peer : peers_) {
    bool comes = buffers_.gathers_d && !buffers_.tile(peer).empty();
    for (int number = 0; number < stripes_.count && !comes; ++number) comes = puts_here(peer, number);
    if (comes) transfers_.puts().grant(peer);
  }
}

// --- A and B

/// Of what the taker needs for that stripe, if it is in a panel.
std::optional<Region> StripeEmitter::given(int giver, int taker, int number, bool of_a) const {
  const Tile tile = stripe(taker, number);
  if (buffers_.input(of_a).panel < 0 || tile.empty()) return std::nullopt;
  return part_given(buffers_.problem, of_a, region_of(buffers_.problem, tile, of_a), giver, taker);
}

/// What `giver` puts into the taker's panels for that stripe.
std::vector<planning::Transfer> StripeEmitter::puts(int giver, int taker, int number) const {
  std::vector<planning::Transfer> list;
  for (const bool of_a : {!stripes_.of_rows, stripes_.of_rows}) {
    const Input& input = buffers_.input(of_a);
    std::optional<Region> part;
    if (is_put(of_a, number)) part = given(giver, taker, number, of_a);
    if (!part) continue;
    list.push_back({.end = planning::TransferEnd::put,
                    .peer = taker,
                    .region = std::move(*part),
                    .from = {input.buffer, giver, 0, {}},
                    .to = {input.panel, taker, 0, {}}});
  }
  planning::announce_together(list);
  return list;
}

// So that no two put to the same rank at the same time.
void StripeEmitter::put_inputs() {
  for (int number = 0; number < stripes_.count; ++number) {
    for (const int taker : peers_) {
      transfers_.write(puts(rank_, taker, number));
    }
    if (number >= stripes_.begun) copy_own(number);
  }
}

/// What the panels lack for a product over all of k.
void StripeEmitter::copy_own(int number) {
  for (const bool of_a : {!stripes_.of_rows, stripes_.of_rows}) {
    if (number > stripes_.begun && !stripes_.share(of_a)) continue;
    std::optional<Region> part = given(rank_, rank_, number, of_a);
    if (!part) continue;
    const Input& input = buffers_.input(of_a);
    builder_.copy(rank_, std::move(*part), builder_.own(input.buffer), builder_.own(input.panel));
  }
}

void StripeEmitter::await_inputs(int number) {
  for (const int giver : peers_) {
    if (puts_here(giver, number)) transfers_.puts().await_more(giver, 1);
  }
}

// --- products

Part StripeEmitter::factor(const Tile& of, const IndexSet& depth, bool in_panels, bool of_a) const {
  const Input& input = buffers_.input(of_a);
  Tile part = of;
  part.k = depth;
  const int buffer = in_panels && input.panel >= 0 ? input.panel : input.buffer;
  return {region_of(buffers_.problem, part, of_a), builder_.own(buffer)};
}

void StripeEmitter::multiply(const Tile& of, const IndexSet& depth, bool in_panels, Beta beta, int to) {
  builder_.compute(buffers_.product(factor(of, depth, in_panels, true), factor(of, depth, in_panels, false),
                                    {region_of_d(of), builder_.own(to)}, beta));
}

void StripeEmitter::begin(int number) {
  const Tile of = stripe(rank_, number);
  if (of.empty() || own_.empty()) return;
  multiply(of, own_, false, c_in_product_ ? Beta::given : Beta::zero, sums_buffer_);
}

void StripeEmitter::complete(int number) {
  const Tile of = stripe(rank_, number);
  if (of.empty()) return;
  const Region region = region_of_d(of);
  const bool is_begun = number < stripes_.begun && !own_.empty();
  if (is_begun) {
    if (!rest_.empty()) multiply(of, rest_, true, Beta::one, sums_buffer_);
    return last_pass_.write(region, {region, builder_.own(sums_buffer_)}, !c_in_product_);
  }
  const bool rounds = rounds_in_product(), takes_c = rounds ? buffers_.problem.in_place : c_in_product_;
  const int made = rounds ? buffers_.d : sums_buffer_;
  multiply(of, IndexSet::range(0, buffers_.problem.k()), true, takes_c ? Beta::given : Beta::zero, made);
  last_pass_.write(region, {region, builder_.own(made)}, !takes_c);
}

// As StepEmitter's.
bool StripeEmitter::rounds_in_product() const {
  return !is_float8(buffers_.problem.d.dtype) && !last_pass_.changes_sums(!buffers_.problem.in_place);
}

// --- D, where others hold it, too

void StripeEmitter::put_result(int number) {
  if (!buffers_.gathers_d) return;
  const Tile of = stripe(rank_, number);
  if (of.empty()) return;
  transfers_.puts().put_to_all(peers_, region_of_d(of), buffers_.d);
}

void StripeEmitter::await_results() {
  if (!buffers_.gathers_d) return;
  for (const int maker : peers_) {
    std::int64_t puts = 0;
    for (int number = 0; number < stripes_.count; ++number) puts += stripe(maker, number).empty() ? 0 : 1;
    transfers_.puts().await_more(maker, puts);
  }
}

}  // namespace partita::multiplication
