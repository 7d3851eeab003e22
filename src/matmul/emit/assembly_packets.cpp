// Few sums, to all of which every rank contributes: in packets the contributions go whole to all that need
// them, and each rank does the last pass over what it holds of D. Otherwise one rank would sum each element,
// and give it to the holders.
#include <optional>
#include <utility>

#include "matmul/choose/scratch_account.hpp"
#include "matmul/emit/assembly.hpp"
#include "matmul/emit/last_pass.hpp"
#include "redistribute/packets.hpp"

namespace partita::multiplication {
namespace {

/// D as it comes out of the packets.
Operand contributions_summed(const Problem& problem) {
  Operand sums = in_scratch(problem.d, problem.d.layout);
  sums.dtype = problem.reduced;
  return sums;
}

}  // namespace

// A contribution to all of D.
Operand Assembly::contribution_of_a_rank() const {
  Operand share = share_of_a_rank(buffers_.problem.d, Reduction::sum);
  share.axis_order = buffers_.problem.d.axis_order;
  share.dtype = buffers_.problem.reduced;
  return share;
}

// Behind a product packets have more starts to make up for than alone.
std::optional<planning::SmallExchange> Assembly::in_packets(const Operand& from, const Operand& to) const {
  const Problem& problem = buffers_.problem;
  return redistribution::exchange_in_packets(from, to, problem.topology, plan_.rank,
                                             redistribution_within(problem),
                                             devices::PacketSlots::most_given_at_once);
}

bool Assembly::every_rank_contributes() const {
  const Problem& problem = buffers_.problem;
  if (buffers_.tiling.stationary_d || !problem.on_device() || problem.multiplies_nothing() ||
      problem.options.memory_limit != 0 || problem.scales_product() || buffers_.amax >= 0 || relaid_d_ ||
      problem.d.layout.partial()) {
    return false;
  }
  const Region whole = Layout(Replicated(), problem.d.layout.shape(), problem.ranks()).region(0);
  Demand demand;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Tile& tile = buffers_.tile(rank);
    if (tile.empty() || region_of_d(tile) != whole) return false;
    demand.add(problem, tile, rank, true);
  }
  return !demand.moves_a && !demand.moves_b &&
         in_packets(contribution_of_a_rank(), contributions_summed(problem));
}

void Assembly::contribute() {
  last_ = buffers_;
  const Operand share = contribution_of_a_rank();
  Problem& problem = buffers_.problem;
  buffers_.d = builder_.add_array("d of a rank", share);
  Operand here = share;
  here.layout = Layout(Replicated(), share.layout.shape(), share.layout.ranks());
  problem.d = here;
  problem.epilogue = {};
  problem.in_place = false;
  buffers_.c = buffers_.bias = buffers_.auxiliary = buffers_.scale_d = -1;
  buffers_.tiling.stationary_d = true;
}

void Assembly::sum_in_packets() {
  LastPass last(*last_, builder_);
  noted_ += "; products are sent to all ranks that need them, and each rank sums its part of d";
  const Operand& d = operand_of(last_->d);
  if (!last.changes_sums(last_->c >= 0) && d.dtype == last_->problem.reduced && d.dense)
    return append_redistribution(buffers_.d, last_->d);
  const int sums = builder_.add_array("d summed", contributions_summed(last_->problem));
  append_redistribution(buffers_.d, sums);
  last.write_all(sums, true);
}

// Steps in packets have the plan in one stream, where transfers would not overlap with products.
void Assembly::drop_packets_beside_transfers() {
  if (buffers_.a.moves || buffers_.b.moves || buffers_.delivers) packets_.clear();
}

}  // namespace partita::multiplication
