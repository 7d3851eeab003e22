#include "execute/packet_messages.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "execute/lower.hpp"
#include "plan/moves.hpp"

namespace partita {
namespace {

/// The largest power of two up to 8 that divides all lengths, strides and offsets.
std::int64_t unit_of(const StridedCopy& nest) {
  std::int64_t bits = nest.item_bytes | nest.from_offset | nest.to_offset | PacketSlots::data_bytes;
  for (const CopyLoop& loop : nest.loops) bits |= loop.from_stride | loop.to_stride;
  return std::int64_t{1} << std::countr_zero(static_cast<std::uint64_t>(bits));
}

/// Numbers of 32 bits count its units.
bool fits_kernel(const StridedCopy& nest) {
  return nest.loops.size() <= PacketMoves::most_loops &&
         bytes(nest) <= std::numeric_limits<std::int32_t>::max();
}

bool is_operand(const Plan& plan, const Place& place) {
  return buffer_of(plan, place).kind == BufferKind::operand;
}

template <class Parts>
bool names_twice(const Parts& parts) {
  std::vector<int> peers;
  for (const auto& part : parts) peers.push_back(part.peer);
  std::ranges::sort(peers);
  return std::ranges::adjacent_find(peers) != peers.end();
}

}  // namespace

PacketMessages::PacketMessages(const Plan& plan) : plan_(plan) {
  fits_ = sort_steps();
  if (fits_) look_at_limits();
}

bool PacketMessages::sort_steps() {
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    switch (plan_.steps[i].kind) {
      case StepKind::copy:
        if (!sort_copy(i)) return false;
        break;
      case StepKind::send:
      case StepKind::receive:
      case StepKind::finish:
        break;
      default:
        return false;
    }
  }
  return !names_twice(packs_) && !names_twice(unpacks_);
}

/// A message is packed right before it is sent; what is unpacked names the step that receives it.
bool PacketMessages::sort_copy(std::size_t index) {
  const Step& step = plan_.steps[index];
  if (is_operand(plan_, step.from) && is_operand(plan_, step.to)) {
    own_.push_back(index);
    return step.from.rank == plan_.rank && step.to.rank == plan_.rank;
  }
  if (is_operand(plan_, step.from)) {
    if (index + 1 >= plan_.steps.size() || plan_.steps[index + 1].kind != StepKind::send) return false;
    packs_.push_back({plan_.steps[index + 1].peer, index, step.to.offset});
  } else {
    if (step.after.size() != 1) return false;
    unpacks_.push_back(
        {plan_.steps[static_cast<std::size_t>(step.after.front())].peer, index, step.from.offset});
  }
  message_bytes_ = std::max(message_bytes_, moved_bytes(plan_, step));
  return true;
}

/// Of operands whose strides no plan knows: such that no two loops become one, and no row is longer than an
/// element.
std::vector<Strides> PacketMessages::widest_strides() const {
  std::vector<Strides> result;
  for (const Buffer& buffer : plan_.buffers) {
    Strides& strides = result.emplace_back();
    if (!buffer.operand) continue;
    strides = buffer.operand->layout.local_shape(plan_.rank);
    std::int64_t step = 2;
    for (int i = strides.size() - 1; i >= 0; --i) step *= std::exchange(strides[i], step) + 1;
  }
  return result;
}

void PacketMessages::look_at_limits() {
  lower(widest_strides());
  unit_bytes_ = PacketSlots::data_bytes;
  for (const auto* const nests : {&given_.nests, &taken_.nests, &kept_}) {
    for (const StridedCopy& nest : *nests) {
      unit_bytes_ = std::min(unit_bytes_, unit_of(nest));
      fits_ = fits_ && fits_kernel(nest);
    }
  }
  fits_ = fits_ && given_.parts.size() + taken_.parts.size() <= PacketMoves::most_parts &&
          kept_.size() <= PacketMoves::most_kept;
}

void PacketMessages::lower(const std::vector<Strides>& strides) {
  lower(packs_, true, strides, given_);
  lower(unpacks_, false, strides, taken_);
  kept_.clear();
  for (const std::size_t step : own_) {
    for (StridedCopy& nest : partita::lower(plan_, plan_.steps[step], strides))
      kept_.push_back(std::move(nest));
  }
}

void PacketMessages::lower(const std::vector<Part>& parts, bool are_given,
                           const std::vector<Strides>& strides, Nests& to) const {
  to = {};
  for (const Part& part : parts) {
    for (StridedCopy& nest : partita::lower(plan_, plan_.steps[part.step], strides)) {
      (are_given ? nest.to_offset : nest.from_offset) -= part.offset;
      to.peers.push_back(part.peer);
      to.nests.push_back(std::move(nest));
    }
  }
  for (std::size_t i = 0; i < to.nests.size(); ++i) to.parts.push_back({to.peers[i], &to.nests[i]});
  for (int peer = 0; peer < plan_.topology.ranks(); ++peer) {
    if (peer != plan_.rank && std::ranges::find(to.peers, peer) == to.peers.end()) {
      to.parts.push_back({peer, nullptr});
    }
  }
}

PacketMoves PacketMessages::moves() const {
  PacketMoves moves;
  moves.given = given_.parts;
  moves.taken = taken_.parts;
  moves.kept = kept_;
  return moves;
}

}  // namespace partita
