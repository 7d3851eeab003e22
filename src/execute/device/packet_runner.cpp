#include "execute/device/packet_runner.hpp"

#include <algorithm>

#include "execute/device/packet_ranges.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/node_questions.hpp"

namespace partita::execution {
namespace {

/// What a rank says of its part.
struct PacketCapabilities {
  std::int64_t in_ranges = 0;   // 0: its layout does not allow it
  std::int64_t unit_bytes = 0;  // of nests; 0: they do not fit
  std::int64_t message_bytes = 0;
  std::int64_t range_bytes = 0;
};

std::int64_t largest_range(const std::optional<devices::ByteExchange>& exchange) {
  std::int64_t most = 0;
  if (!exchange) return most;
  for (const auto* const ranges : {&exchange->given, &exchange->taken}) {
    for (const devices::ByteRange& range : *ranges) most = std::max(most, range.bytes);
  }
  return most;
}

}  // namespace

PacketRunner::PacketRunner(ContextState& context, std::string operation,
                           const planning::SmallExchange& exchange, std::int64_t most_given)
    : context_(context),
      operation_(std::move(operation)),
      ranges_(byte_ranges(exchange, most_given)),
      nests_(exchange),
      most_given_(most_given) {
  offered_ = context.device->offers_packets(exchange.source.dtype, exchange.joined);
}

bool PacketRunner::suits_all_ranks(bool may) {
  PacketCapabilities mine;
  if (may && offered_)
    mine = {ranges_ ? 1 : 0, nests_.unit_bytes(), nests_.message_bytes(), largest_range(ranges_)};
  bool in_ranges = true;
  std::int64_t most = 0, most_in_ranges = 0;
  unit_bytes_ = mine.unit_bytes;
  for (const PacketCapabilities& offer : runtime::exchange_values(context_, operation_, mine)) {
    in_ranges = in_ranges && offer.in_ranges != 0;
    unit_bytes_ = std::min(unit_bytes_, offer.unit_bytes);
    most = std::max(most, offer.message_bytes);
    most_in_ranges = std::max(most_in_ranges, offer.range_bytes);
  }
  if (in_ranges) {
    most = most_in_ranges;
  } else {
    ranges_.reset();
    if (unit_bytes_ == 0 || !fits(most, most_given_)) return false;
  }
  if (fits(most, devices::PacketSlots::most_given)) most_given_ = devices::PacketSlots::most_given;
  return true;
}

/// Messages, or ranges where those are used.
bool PacketRunner::fits(std::int64_t most, std::int64_t given) const {
  using Slots = devices::PacketSlots;
  const int ranks = context_.size();
  if (ranges_)
    return most <=
           (ranges_->passed_on ? Slots::most_slice_bytes(ranks, given) : Slots::most_bytes(ranks, given));
  constexpr std::int64_t wire_of_a_byte = Slots::packet_bytes / Slots::data_bytes;
  return devices::PacketMoves::wire_bytes(most, unit_bytes_) <=
         wire_of_a_byte * Slots::most_bytes(ranks, given);
}

void PacketRunner::lower(const Strides& source, const Strides& destination) {
  if (!ranges_) nests_.lower(source, destination);
}

void PacketRunner::exchange(const void* source, void* destination, Stream stream, bool captured) {
  if (!captured) runtime::note_work_of_all(context_);
  if (ranges_) {
    return context_.device->exchange_packets(
        {board_->slots(), context_.rank(), source, destination, &*ranges_, captured}, stream);
  }
  devices::PacketMoves all = nests_.moves();
  all.slots = board_->slots();
  all.rank = context_.rank();
  all.source = source;
  all.destination = destination;
  all.unit_bytes = unit_bytes_;
  all.captured = captured;
  context_.device->move_packets(all, stream);
}

}  // namespace partita::execution
