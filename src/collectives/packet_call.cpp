#include "collectives/packet_call.hpp"

#include <algorithm>

#include "collectives/library_call.hpp"
#include "device/stream_work.hpp"
#include "runtime/agree.hpp"
#include "runtime/announcement.hpp"

namespace partita::collective {
namespace {

constexpr std::int64_t starts = 3;  // the packets, what packs before and what unpacks behind

bool fits(const ContextState& context, const Call& call, const ByteExchange& ranges) {
  const int ranks = context.size();
  const std::int64_t most =
      ranges.passed_on ? PacketSlots::most_slice_bytes(ranks) : PacketSlots::most_bytes(ranks);
  const auto is_small = [most](const ByteRange& range) { return range.bytes <= most; };
  return !call.logical && context.device->offers_packets(call.dtype, ranges.joined) &&
         std::ranges::all_of(ranges.given, is_small) && std::ranges::all_of(ranges.taken, is_small);
}

}  // namespace

std::shared_ptr<Runner> PacketCall::of(ContextState& context, const Call& call) {
  // These are the same on all ranks.
  const bool one_node = context.device_topology.node_count() == 1;
  const bool some_ranks = context.size() > 1 && context.size() <= PacketSlots::most_ranks;
  if (!call.ranges || !one_node || !some_ranks ||
      context.options.device_collectives == DeviceCollectives::library)
    return nullptr;
  ByteExchange ranges = call.ranges();
  bool all = true;
  for (const std::string& mine :
       exchange(context, call.operation, fits(context, call, ranges) ? "fits" : "")) {
    all = all && !mine.empty();
  }
  if (!all) return nullptr;
  return std::make_shared<PacketCall>(context, call, std::move(ranges));
}

PacketCall::PacketCall(ContextState& context, const Call& call, ByteExchange ranges)
    : context_(context),
      operation_(call.operation),
      hash_(hash_of(call, "packets")),
      dtype_(call.dtype),
      ranges_(std::move(ranges)),
      dense_(*context.device),
      board_(PacketBoard::of(context)),
      ahead_(RunAhead::of(context)) {}

void PacketCall::run(std::span<const View> views, Stream stream) {
  context_.require_usable(operation_);
  put_into_stream(context_, *ahead_, operation_, stream, [&](Stream used, bool captured) {
    put(views, used, captured);
    return starts;
  });
}

void PacketCall::put(std::span<const View> views, Stream stream, bool captured) {
  const std::span<const View> dense = dense_.pack(views, stream);
  PacketExchange all;
  all.slots = board_->slots();
  all.rank = context_.rank();
  all.source = dense.front().data;
  all.destination = dense.back().data;
  all.given = ranges_.given;
  all.taken = ranges_.taken;
  all.joined = ranges_.joined;
  all.passed_on = ranges_.passed_on;
  all.root = ranges_.root;
  all.captured = captured;
  all.dtype = dtype_;
  announce(context_, hash_, operation_, captured);
  context_.device->exchange_packets(all, stream);
  dense_.unpack(views, stream);
}

}  // namespace partita::collective
