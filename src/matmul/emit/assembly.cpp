#include "matmul/emit/assembly.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.hpp"
#include "matmul/choose/chooser.hpp"
#include "matmul/choose/scratch_account.hpp"
#include "matmul/emit/cutting.hpp"

namespace partita::multiplication {
namespace {

constexpr int many_ranks = 64;

/// A grid of processes over rows and columns that cuts the matrix into parts as square as may be.
Layout squarest(const Layout& layout) {
  const int rows = layout.dimensions() - 2;
  const std::int64_t m = layout.shape()[rows];
  const std::int64_t n = layout.shape()[rows + 1];
  const int ranks = layout.ranks();
  std::int64_t best = 1;
  const auto length = [&](std::int64_t parts) { return m / parts + n / (ranks / parts); };
  for (std::int64_t parts = 1; parts <= ranks; ++parts) {
    if (ranks % parts == 0 && length(parts) < length(best)) best = parts;
  }
  Extents grid = Extents::filled(layout.dimensions(), 1);
  grid[rows] = best;
  grid[rows + 1] = ranks / best;
  return Layout(BlockNonCyclic(ProcessGrid(grid)), layout.shape(), ranks);
}

std::int64_t shortest_side(const Layout& layout) {
  const Shape shape = layout.local_shape(0);
  return std::min(shape[shape.size() - 2], shape[shape.size() - 1]);
}

}  // namespace

Assembly::Assembly(const Problem& problem) : buffers_{problem} {
  plan_.operation = "matmul";
  plan_.rank = buffers_.problem.rank;
  plan_.topology = buffers_.problem.topology;
  add_operands();
}

ProductPlan Assembly::finish() && {
  sum_gradient();
  open_amax();
  sum_contributions();
  choose();
  const bool contributes = every_rank_contributes();
  if (!contributes) gather_up_d();
  prepare_epilogue();
  if (contributes) contribute();
  measure();
  measure_panels();
  add_scratch_buffers();
  multiply();
  if (contributes) sum_in_packets();
  for (const Delivery& delivery : deliveries_) append_redistribution(delivery.from, delivery.to);
  deliver_gradient();
  if (given_amax_ >= 0) append_redistribution(buffers_.amax, given_amax_);
  check_limit();
  plan_.method = buffers_.tiling.name;
  plan_.reason = buffers_.tiling.reason + noted_;
  drop_packets_beside_transfers();
  return {std::move(plan_), std::move(packets_)};
}

// --- buffers

void Assembly::add_operands() {
  const Problem& problem = buffers_.problem;
  buffers_.a.buffer = builder_.add_operand("a", problem.a);
  buffers_.b.buffer = builder_.add_operand("b", problem.b);
  if (problem.c) buffers_.c = builder_.add_operand("c", *problem.c);
  buffers_.d = builder_.add_operand("d", problem.d);
  if (problem.bias) buffers_.bias = builder_.add_operand("bias", *problem.bias);
  if (problem.auxiliary) buffers_.auxiliary = builder_.add_operand("auxiliary", *problem.auxiliary);
  if (problem.gradient) given_gradient_ = builder_.add_operand("gradient", *problem.gradient);
  if (problem.scale_a) buffers_.scale_a = builder_.add_operand("scale a", *problem.scale_a);
  if (problem.scale_b) buffers_.scale_b = builder_.add_operand("scale b", *problem.scale_b);
  if (problem.scale_d) buffers_.scale_d = builder_.add_operand("scale d", *problem.scale_d);
  if (problem.amax_d) given_amax_ = builder_.add_operand("amax d", *problem.amax_d);
}

// --- redistributions around the multiply

void Assembly::append_redistribution(int from, int to) {
  const Plan part = plan_redistribute(operand_of(from), operand_of(to), plan_.topology, plan_.rank,
                                      redistribution_within(buffers_.problem));
  std::vector<int> buffers{from, to};
  for (std::size_t i = 2; i < part.buffers.size(); ++i) {
    const Buffer& scratch = part.buffers[i];
    std::string name = fmt::format("{} {}", builder_.buffer(to).name, scratch.name);
    buffers.push_back(
        builder_.add_scratch(std::move(name), scratch.kind, scratch.bytes, operand_of(from).dtype));
  }
  const std::size_t first = plan_.steps.size();
  builder_.append(part, buffers);
  auto small = in_packets(operand_of(from), operand_of(to));
  if (small) packets_.push_back({first, plan_.steps.size(), from, to, *std::move(small)});
}

int Assembly::redistributed(int from, const Operand& to, const std::string& name) {
  const int buffer = builder_.add_array(name + " redistributed", to);
  append_redistribution(from, buffer);
  noted_ += fmt::format("; {} is redistributed to {}", name, to.layout.distribution().to_string());
  return buffer;
}

void Assembly::relay(bool of_a, Layout layout) {
  Operand relaid = in_scratch(buffers_.problem.input(of_a), std::move(layout));
  int& buffer = buffers_.input(of_a).buffer;
  buffer = redistributed(buffer, relaid, of_a ? "a" : "b");
  buffers_.problem.input(of_a) = std::move(relaid);
}

// Contributions are summed before they are multiplied.
void Assembly::sum_contributions() {
  if (buffers_.problem.multiplies_nothing()) return;
  for (const bool of_a : {true, false}) {
    const Layout layout = buffers_.problem.input(of_a).layout;
    if (layout.partial()) relay(of_a, slabs(layout, layout.dimensions() - 2));
  }
}

void Assembly::choose() {
  Problem seen = buffers_.problem;
  if (seen.d.layout.partial()) {
    auto d = static_cast<const Operand&>(seen.d);
    d.layout = slabs(seen.d.layout, seen.batches());
    seen.d = std::move(d);
  }
  const std::int64_t here = common_scratch_bytes();
  seen.beside_stationary = here + relayout_scratch(true);
  seen.beside_moving = here + relayout_scratch(false);
  const double seconds = take_tiling(seen);
  const bool may_relay =
      seen.options.memory_limit == 0 && (seen.options.method == MatmulMethod::automatic ||
                                         seen.options.method == MatmulMethod::communication_avoiding);
  if (may_relay && seen.ranks() >= many_ranks && multiplies() > few_multiplies)
    relay_thin_operands(seen, seconds);
}

double Assembly::take_tiling(const Problem& seen) {
  const bool idle = seen.multiplies_nothing();
  const Choice choice = idle ? Choice{tiling_of(seen, MatmulMethod::local)} : multiplication::choose(seen);
  buffers_.tiling = choice.tiling;
  if (idle) buffers_.tiling.reason = "neither A nor B is read";
  buffers_.tiles.clear();
  for (int rank = 0; rank < seen.ranks(); ++rank) {
    buffers_.tiles.push_back(buffers_.tiling.tile(rank));
    if (idle) buffers_.tiles.back().k = {};
  }
  return choice.seconds;
}

// Local multiplies of the rank that makes most, of a few.
std::int64_t Assembly::multiplies() const {
  std::size_t most = 0;
  Cutting cutting(buffers_);
  for (const int rank : {0, buffers_.problem.ranks() / 2, buffers_.problem.ranks() - 1}) {
    const Blocks blocks = cutting.blocks(rank);
    if (blocks.turns() == 0) continue;
    most =
        std::max(most, blocks.batches.size() * blocks.rows->size() * blocks.columns->size() * blocks.turns());
  }
  return static_cast<std::int64_t>(most);
}

// Many ranks hold long thin parts (slabs over thousands of ranks), of which each tile would take hundreds,
// for thousands of tiny multiplies. Moving an operand once into square parts may cost little in comparison.
void Assembly::relay_thin_operands(Problem seen, double seconds) {
  const std::array<HeldOperand*, 3> operands{&seen.a, &seen.b, &seen.d};
  std::array<bool, 3> thin{};
  double moving = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto square = static_cast<const Operand&>(*operands[i]);
    square.layout = squarest(square.layout);
    thin[i] = shortest_side(square.layout) >= 4 * shortest_side(operands[i]->layout);
    if (!thin[i]) continue;
    moving += seconds_to_redistribute(seen, *operands[i]);
    *operands[i] = std::move(square);
  }
  if (moving == 0 || moving > seconds) return;
  const MatmulBuffers before = buffers_;
  buffers_.problem = seen;
  if (moving + take_tiling(seen) > seconds) {
    buffers_ = before;
    return;
  }
  buffers_.problem = before.problem;
  if (thin[0]) relay(true, seen.a.layout);
  if (thin[1]) relay(false, seen.b.layout);
  if (thin[2]) relaid_d_ = seen.d.layout;
}

// Where D is partial, or replicas of it would each have to add up the same sums: each element is summed by
// one rank, and is sent to the holders of D afterwards.
std::optional<Operand> Assembly::summed_elsewhere(bool stationary) const {
  const Operand& d = buffers_.problem.d;
  if (relaid_d_) return in_scratch(d, *relaid_d_);
  const bool by_each_holder = d.layout.is_replicated() && !stationary;
  if (!d.layout.partial() && !by_each_holder) return std::nullopt;
  return in_scratch(d, slabs(d.layout, buffers_.problem.batches()));
}

void Assembly::gather_up_d() {
  Problem& problem = buffers_.problem;
  if (const std::optional<Operand> sums = summed_elsewhere(buffers_.tiling.stationary_d)) {
    if (puts_d_to_all()) return;
    const int buffer = builder_.add_array("d summed", *sums);
    deliveries_.push_back({buffer, buffers_.d});
    noted_ +=
        fmt::format("; d is summed as {} and then redistributed", sums->layout.distribution().to_string());
    buffers_.d = buffer;
    problem.d = *sums;
    problem.in_place = false;
  }
  find_pipeline();
}

void Assembly::find_pipeline() {
  buffers_.ring = find_ring(buffers_.problem, buffers_.tiles);
  if (!buffers_.ring) buffers_.stripes = find_stripes(buffers_.problem, buffers_.tiles);
}

// Piece by piece, into the D of every rank: nothing is left to be redistributed.
bool Assembly::puts_d_to_all() {
  Problem& problem = buffers_.problem;
  const bool lies_on_all = problem.d.layout.is_replicated() && !problem.d.layout.partial() && !relaid_d_;
  if (!lies_on_all || !readable_in_place(problem.d)) return false;
  find_pipeline();
  if (!buffers_.stripes && !buffers_.ring) return false;
  buffers_.gathers_d = true;
  noted_ += "; each rank sends its part of d to all ranks";
  problem.d =
      in_scratch(problem.d, buffers_.ring ? layout_summed(problem) : layout_made(problem, buffers_.tiles));
  problem.in_place = false;
  return true;
}

// The arrays that are read or written element by element with D, where their layout differs.
std::vector<Assembly::Relay> Assembly::relays(const Operand& d) const {
  std::vector<Relay> result;
  const auto add = [&](int MatmulBuffers::*buffer, const Operand& like, const char* name, bool written) {
    if (buffers_.*buffer < 0 || lies_as(operand_of(buffers_.*buffer), like.layout)) return;
    result.push_back({buffer, in_scratch(like, like.layout), name, written});
  };
  add(&MatmulBuffers::c, d, "c", false);
  add(&MatmulBuffers::auxiliary, d, "auxiliary", buffers_.problem.epilogue.writes_auxiliary);
  const auto add_everywhere = [&](int MatmulBuffers::*buffer, const char* name) {
    if (buffers_.*buffer < 0) return;
    Operand everywhere = operand_of(buffers_.*buffer);
    everywhere.layout = Layout(Replicated(), everywhere.layout.shape(), everywhere.layout.ranks());
    add(buffer, everywhere, name, false);
  };
  add_everywhere(&MatmulBuffers::bias, "bias");
  add_everywhere(&MatmulBuffers::scale_a, "scale a");
  add_everywhere(&MatmulBuffers::scale_b, "scale b");
  add_everywhere(&MatmulBuffers::scale_d, "scale d");
  return result;
}

void Assembly::prepare_epilogue() {
  for (const Relay& relay : relays(buffers_.problem.d)) {
    int& buffer = buffers_.*relay.buffer;
    if (!relay.written) {
      buffer = redistributed(buffer, relay.to, relay.name);
      continue;
    }
    const int scratch = builder_.add_array(relay.name + " as d", relay.to);
    deliveries_.push_back({scratch, buffer});
    buffer = scratch;
  }
}

}  // namespace partita::multiplication
