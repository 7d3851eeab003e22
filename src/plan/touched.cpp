#include "plan/touched.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "plan/channels.hpp"
#include "plan/cost.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita::planning {
namespace {

constexpr std::int64_t all_bytes = std::numeric_limits<std::int64_t>::max();

class TouchedBytes {
 public:
  explicit TouchedBytes(const Plan& plan)
      : plan_(plan),
        lends_(plan.topology.has_cross_memory() && std::ranges::any_of(plan.steps, [](const Step& step) {
                 return step.kind == StepKind::signal && static_cast<Channel>(step.channel) == Channel::ready;
               })) {}

  Touched of(const Step& step) {
    Touched touched;
    if (is_copy(step.kind)) {
      const std::int64_t item = item_bytes(plan_, step);
      if (step.kind != StepKind::fill) add(step.from, step.region, item, touched.read);
      add(step.to, step.region, item, touched.written);
    }
    if (step.kind == StepKind::compute) {
      for_each_part(work_of(plan_, step), [&](const Part& part, Use use) {
        const std::int64_t item = size_of(dtype_at(plan_, part.place));
        add(part.place, part.region, item, use == Use::read ? touched.read : touched.written);
      });
    }
    if (step.kind == StepKind::send) touched.read.push_back(bytes_at(step.from, step.bytes));
    if (step.kind == StepKind::receive) touched.written.push_back(bytes_at(step.to, step.bytes));
    if (is_message(step.kind) && step.expected_bytes >= 0)
      touched.read.push_back(bytes_at(size_place(step), sizeof(std::int64_t)));
    return touched;
  }

 private:
  struct Local {
    Region owned;
    Strides strides;
  };

  void add(const Place& place, const Region& region, std::int64_t item, std::vector<MemoryRange>& ranges) {
    if (region.empty()) return;
    const Buffer& buffer = buffer_of(plan_, place);
    MemoryRange range = buffer.operand ? part_of_array(place, region, item)
                                       : bytes_at(place, packed_bytes(place, region, item));
    const bool reached =
        buffer.kind == BufferKind::operand && (buffer.operand->residency == Residency::heap || lends_);
    range.shared = buffer.kind == BufferKind::shared || reached;
    ranges.push_back(range);
  }

  MemoryRange bytes_at(const Place& place, std::int64_t bytes) const {
    return {memory_of(plan_, place), place.rank, place.offset, place.offset + bytes};
  }

  /// From the element at the first positions to the one at the last.
  MemoryRange part_of_array(const Place& place, const Region& region, std::int64_t item) {
    MemoryRange range = bytes_at(place, item);
    const Operand& operand = *buffer_of(plan_, place).operand;
    if (!operand.dense) return {range.buffer, range.rank, 0, all_bytes};
    const auto [found, is_new] = locals_.try_emplace({place.buffer, place.rank});
    Local& local = found->second;
    if (is_new) local = {operand.layout.region(place.rank), operand.local_strides(place.rank)};
    if (place.offset == 0) range.columns = columns_of(operand, local, region, item);
    for (std::size_t d = 0; d < region.sets.size(); ++d) {
      const std::int64_t stride = local.strides[static_cast<int>(d)] * item;
      range.first += local.owned.sets[d].position(region.sets[d].front()) * stride;
      range.last += local.owned.sets[d].position(region.sets[d].back()) * stride;
    }
    return range;
  }

  /// Those of a region that leaves out a part of each row, or of each plane, ..: rows of the fastest
  /// dimension that it does not take whole, and of all that are faster.
  static Columns columns_of(const Operand& operand, const Local& local, const Region& region,
                            std::int64_t item) {
    std::int64_t bytes = item;  // of one index
    for (int i = operand.axis_order.size() - 1; i > 0; --i) {
      const auto dimension = static_cast<std::size_t>(operand.axis_order[i]);
      const IndexSet &set = region.sets[dimension], &owned = local.owned.sets[dimension];
      if (set.size() != owned.size())
        return {owned.size() * bytes, owned.position(set.front()) * bytes,
                (owned.position(set.back()) + 1) * bytes};
      bytes *= owned.size();
    }
    return {};
  }

  const Plan& plan_;
  bool lends_;                                   // whether peers read ordinary memory of this rank
  std::map<std::pair<int, int>, Local> locals_;  // of arrays, by buffer and rank
};

}  // namespace

std::vector<Touched> touched_by_steps(const Plan& plan) {
  TouchedBytes search(plan);
  std::vector<Touched> touched;
  touched.reserve(plan.steps.size());
  for (const Step& step : plan.steps) touched.push_back(search.of(step));
  return touched;
}

void join_operands(const Plan& plan, std::vector<Touched>& touched) {
  const auto is_operand = [](const Buffer& buffer) { return buffer.kind == BufferKind::operand; };
  const auto first = static_cast<int>(std::ranges::find_if(plan.buffers, is_operand) - plan.buffers.begin());
  for (Touched& one : touched) {
    for (auto* const ranges : {&one.read, &one.written}) {
      for (MemoryRange& range : *ranges) {
        if (!is_operand(plan.buffers[static_cast<std::size_t>(range.buffer)])) continue;
        range = {first, range.rank, 0, all_bytes, range.shared};
      }
    }
  }
}

void LastTouch::touch(const MemoryRange& range, int step) {
  if (range.first >= range.last) return;
  Pieces& pieces = pieces_of(buffers_[{range.buffer, range.rank}], range.columns);
  cut(pieces, range.first);
  cut(pieces, range.last);
  pieces.erase(pieces.lower_bound(range.first), pieces.lower_bound(range.last));
  pieces[range.first] = {range.last, step};
}

int LastTouch::last(const MemoryRange& range) const {
  const auto found = buffers_.find({range.buffer, range.rank});
  if (found == buffers_.end() || range.first >= range.last) return -1;
  int step = -1;
  for (const Stripe& stripe : found->second) {
    if (!stripe.columns.meet(range.columns)) continue;
    const Pieces& pieces = stripe.pieces;
    auto piece = pieces.upper_bound(range.first);
    if (piece != pieces.begin()) --piece;
    for (; piece != pieces.end() && piece->first < range.last; ++piece) {
      if (piece->second.last > range.first) step = std::max(step, piece->second.step);
    }
  }
  return step;
}

/// Where there would be many, the rest counts as whole rows.
LastTouch::Pieces& LastTouch::pieces_of(Stripes& stripes, const Columns& columns) {
  constexpr std::size_t most = 16;
  const auto find = [&](const Columns& wanted) {
    return std::ranges::find(stripes, wanted, &Stripe::columns);
  };
  if (const auto found = find(columns); found != stripes.end()) return found->pieces;
  if (stripes.size() < most) return stripes.emplace_back(Stripe{columns, {}}).pieces;
  if (const auto whole = find({}); whole != stripes.end()) return whole->pieces;
  return stripes.emplace_back(Stripe{}).pieces;
}

/// Afterwards no piece extends across `at`.
void LastTouch::cut(Pieces& pieces, std::int64_t at) {
  auto behind = pieces.lower_bound(at);
  if (behind == pieces.begin()) return;
  auto& [first, piece] = *std::prev(behind);
  if (piece.last <= at) return;
  pieces.insert(behind, {at, piece});
  piece.last = at;
}

}  // namespace partita::planning
