#include "execute/device/packet_nests.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/contains.hpp"
#include "execute/lower.hpp"

namespace partita::execution {
namespace {

/// The largest power of two up to 8 that divides all lengths, strides and offsets.
std::int64_t unit_of(const kernels::StridedCopy& nest) {
  std::int64_t bits = nest.item_bytes | nest.from_offset | nest.to_offset | devices::PacketSlots::data_bytes;
  for (const kernels::CopyLoop& loop : nest.loops) bits |= loop.from_stride | loop.to_stride;
  return std::int64_t{1} << std::countr_zero(static_cast<std::uint64_t>(bits));
}

/// Numbers of 32 bits count its units.
bool fits_kernel(const kernels::StridedCopy& nest) {
  return nest.loops.size() <= devices::PacketMoves::most_loops &&
         kernels::bytes(nest) <= std::numeric_limits<std::int32_t>::max();
}

/// Strides that no plan knows: such that no two loops become one, and no row is longer than an element.
Strides widest_strides(const Operand& operand, int rank) {
  Strides strides = operand.layout.local_shape(rank);
  std::int64_t step = 2;
  for (int i = strides.size() - 1; i >= 0; --i) step *= std::exchange(strides[i], step) + 1;
  return strides;
}

}  // namespace

PacketNests::PacketNests(const planning::SmallExchange& exchange) : exchange_(exchange) {
  for (const auto* const parts : {&exchange.given, &exchange.taken}) {
    for (const planning::SmallExchange::Part& part : *parts) {
      message_bytes_ = std::max(message_bytes_, part.region.size() * size_of(exchange.source.dtype));
    }
  }
  look_at_limits();
}

void PacketNests::look_at_limits() {
  lower(widest_strides(exchange_.source, exchange_.rank),
        widest_strides(exchange_.destination, exchange_.rank));
  bool fit = given_.parts.size() + taken_.parts.size() <= devices::PacketMoves::most_parts &&
             kept_.size() <= devices::PacketMoves::most_kept;
  for (const auto* const nests : {&given_.nests, &taken_.nests, &kept_}) {
    for (const kernels::StridedCopy& nest : *nests) {
      unit_bytes_ = std::min(unit_bytes_, unit_of(nest));
      fit = fit && fits_kernel(nest);
    }
  }
  if (!fit || exchange_.joined) unit_bytes_ = 0;
}

void PacketNests::lower(const Strides& source, const Strides& destination) {
  if (is_lowered_ && strides_[0] == source && strides_[1] == destination) return;
  is_lowered_ = false;
  lower(exchange_.given, source, true, given_);
  lower(exchange_.taken, destination, false, taken_);
  const std::int64_t item = size_of(exchange_.source.dtype);
  if (exchange_.kept) {
    kept_ = execution::lower(*exchange_.kept, side_of(exchange_.source, exchange_.rank, source, item),
                             side_of(exchange_.destination, exchange_.rank, destination, item), item);
  }
  strides_ = {source, destination};
  is_lowered_ = true;
}

void PacketNests::lower(const std::vector<planning::SmallExchange::Part>& parts, const Strides& strides,
                        bool are_given, Nests& to) const {
  to = {};
  const std::int64_t item = size_of(exchange_.source.dtype);
  const Side own =
      side_of(are_given ? exchange_.source : exchange_.destination, exchange_.rank, strides, item);
  for (const planning::SmallExchange::Part& part : parts) {
    const Side message = packed_side(part.region, exchange_.source.axis_order, item);
    for (kernels::StridedCopy& nest :
         execution::lower(part.region, are_given ? own : message, are_given ? message : own, item)) {
      to.peers.push_back(part.peer);
      to.nests.push_back(std::move(nest));
    }
  }
  for (std::size_t i = 0; i < to.nests.size(); ++i) to.parts.push_back({to.peers[i], &to.nests[i]});
  for (int peer = 0; peer < exchange_.source.layout.ranks(); ++peer) {
    if (peer != exchange_.rank && !contains(to.peers, peer)) {
      to.parts.push_back({peer, nullptr});
    }
  }
}

devices::PacketMoves PacketNests::moves() const {
  devices::PacketMoves moves;
  moves.given = given_.parts;
  moves.taken = taken_.parts;
  moves.kept = kept_;
  return moves;
}

}  // namespace partita::execution
