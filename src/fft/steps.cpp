#include "fft/steps.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <partita/redistribute.hpp>

#include "redistribute/packets.hpp"

namespace partita::fourier {

int Steps::add_array(const Layout& layout, Dtype dtype, const Extents& axis_order) {
  Operand operand = Operand::of(layout, dtype, Order::row_major, Residency::heap);
  operand.axis_order = axis_order;
  operand.space = this->operand(0).space;
  return planning::PlanBuilder::add_array("stage", operand);
}

int Steps::add_view(int buffer, Operand view) {
  view.space = operand(buffer).space;
  return planning::PlanBuilder::add_view(buffer, view);
}

int Steps::scratch(const char* name, Dtype dtype, std::int64_t bytes) {
  return add_or_share({name, BufferKind::scratch, {}, bytes, dtype});
}

std::vector<int> Steps::owners(const Layout& layout, const Region& region) const {
  std::vector<int> ranks;
  if (region.empty()) return ranks;
  for (const Layout::Cell& cell : layout.cells(region)) ranks.push_back(cell.contributions.front().front());
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::erase(ranks, rank());
  return ranks;
}

void Steps::resolve() {
  for (const auto& [peer, channel] : expected_) wait(peer, channel);
  expected_.clear();
}

void Steps::redistribute(int from, int to, const redistribution::Parts& parts,
                         const std::function<void(const Region&)>& make) {
  resolve();
  RedistributeOptions options;
  options.staging_bytes = staging_bytes_;
  if (plan().grouped) options.method = RedistributeMethod::grouped;
  auto [exchange, begins] =
      redistribution::plan_in_parts(operand(from), operand(to), plan().topology, rank(), options, parts);
  const Region own = operand(from).layout.region(rank());
  int made = 0;
  const auto make_up_to = [&, first = std::move(begins)](int step) {
    for (; made < parts.count && first[static_cast<std::size_t>(made)] <= step; ++made) {
      const Region region = redistribution::part_of(own, parts, made);
      if (!region.empty()) make(region);
    }
  };
  // What packets take the place of are the steps of the exchange alone: all that is sent is made before.
  std::optional<planning::SmallExchange> small;
  if (in_packets_ && parts.count == 1)
    small = redistribution::exchange_in_packets(operand(from), operand(to), plan().topology, rank(), options);
  if (small) make_up_to(std::numeric_limits<int>::max());
  const std::size_t first_step = plan().steps.size();
  append(std::move(exchange), from, to, make_up_to);
  make_up_to(std::numeric_limits<int>::max());
  // One launch in place of copies with a grant before and a signal behind, each a launch.
  if (small) packets_.push_back({first_step, plan().steps.size(), from, to, *std::move(small)});
}

}  // namespace partita::fourier
