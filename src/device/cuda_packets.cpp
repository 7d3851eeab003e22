// Exchanges of packets as the kernels take them.
#include <algorithm>

#include "device/cuda_exchange.hpp"

namespace partita::devices {
namespace {

/// Whether units of so many bytes can be read and written.
bool is_aligned(std::uint64_t bits, std::int64_t unit) {
  return bits % static_cast<std::uint64_t>(unit) == 0;
}

std::uint64_t bits_of(const void* source, const void* destination) {
  return reinterpret_cast<std::uintptr_t>(source) | reinterpret_cast<std::uintptr_t>(destination);
}

std::uint64_t bits_of(const PacketExchange& what) {
  std::uint64_t bits = bits_of(what.source, what.destination);
  for (const ByteRange& range : what.ranges->given) bits |= static_cast<std::uint64_t>(range.offset);
  for (const ByteRange& range : what.ranges->taken) bits |= static_cast<std::uint64_t>(range.offset);
  return bits;
}

kernels::cuda::PacketSeat seat_of(const PacketSlots& slots, int rank, const LaunchRoom& room, bool captured) {
  kernels::cuda::PacketSeat seat;
  seat.ranks = static_cast<int>(slots.of_ranks.size());
  seat.me = rank;
  std::ranges::copy(slots.of_ranks, seat.slots);
  seat.slot_bytes = slots.slot;
  seat.counters = slots.counters;
  seat.given_up = slots.given_up;
  seat.most_blocks = room.packets;
  seat.most_ahead = captured ? 0 : room.packets_ahead;
  return seat;
}

std::uint32_t units_of(std::int64_t bytes, std::int64_t unit) {
  return static_cast<std::uint32_t>(bytes / unit);
}

/// `nest` leads from memory to a message, or from a message to memory.
kernels::cuda::PacketNest part_of(const PacketPart& part, char* memory, bool is_given, std::int64_t unit) {
  kernels::cuda::PacketNest result;
  result.peer = static_cast<std::int16_t>(part.peer);
  if (part.nest == nullptr || part.nest->item_bytes == 0) return result;
  const kernels::StridedCopy& nest = *part.nest;
  result.memory = memory + (is_given ? nest.from_offset : nest.to_offset);
  result.first = units_of(is_given ? nest.to_offset : nest.from_offset, unit);
  result.units = units_of(kernels::bytes(nest), unit);
  result.row_units = units_of(nest.item_bytes, unit);
  for (const kernels::CopyLoop& loop : nest.loops) {
    result.loop[result.loops++] = {is_given ? loop.from_stride : loop.to_stride,
                                   units_of(is_given ? loop.to_stride : loop.from_stride, unit),
                                   static_cast<std::uint32_t>(loop.count)};
  }
  return result;
}

kernels::cuda::KeptNest kept_of(const kernels::StridedCopy& nest, const PacketMoves& what) {
  kernels::cuda::KeptNest result;
  result.from = static_cast<const char*>(what.source) + nest.from_offset;
  result.to = static_cast<char*>(what.destination) + nest.to_offset;
  result.units = units_of(kernels::bytes(nest), what.unit_bytes);
  result.row_units = std::max(units_of(nest.item_bytes, what.unit_bytes), 1U);
  for (const kernels::CopyLoop& loop : nest.loops) {
    result.loop[result.loops++] = {loop.from_stride, loop.to_stride, static_cast<std::uint32_t>(loop.count)};
  }
  return result;
}

}  // namespace

static_assert(kernels::cuda::most_packet_ranks == PacketSlots::most_ranks);
static_assert(kernels::cuda::packet_wrap == PacketSlots::wrap &&
              kernels::cuda::packet_renewal == PacketSlots::renewal);
static_assert(kernels::cuda::most_packet_nests == PacketMoves::most_parts);
static_assert(kernels::cuda::most_kept_nests == PacketMoves::most_kept);
static_assert(kernels::cuda::PacketNest::most_loops == PacketMoves::most_loops);

kernels::cuda::Packets kernel_packets(const PacketExchange& what, const LaunchRoom& room) {
  const ByteExchange& ranges = *what.ranges;
  kernels::cuda::Packets all;
  all.seat = seat_of(what.slots, what.rank, room, what.captured);
  all.source = static_cast<const char*>(what.source);
  all.destination = static_cast<char*>(what.destination);
  for (std::size_t rank = 0; rank < what.slots.of_ranks.size(); ++rank) {
    const ByteRange& given = ranges.given[rank];
    const ByteRange& taken = ranges.taken[rank];
    all.given_offsets[rank] = given.offset;
    all.given_bytes[rank] = given.bytes;
    all.given_packets[rank] = PacketSlots::packets(given.bytes);
    all.taken_offsets[rank] = taken.offset;
    all.taken_bytes[rank] = taken.bytes;
    all.taken_packets[rank] = PacketSlots::packets(taken.bytes);
  }
  all.aligned = is_aligned(bits_of(what), PacketSlots::data_bytes);
  all.passed_on = ranges.passed_on;
  all.root = ranges.root;
  if (ranges.joined) {
    all.joined = true;
    all.element = *joined_dtype(ranges.dtype, *ranges.joined);
    all.operation = *ranges.joined;
  }
  return all;
}

kernels::cuda::PacketNests kernel_packet_nests(const PacketMoves& what, const LaunchRoom& room) {
  kernels::cuda::PacketNests all;
  all.seat = seat_of(what.slots, what.rank, room, what.captured);
  all.unit_bytes = static_cast<int>(what.unit_bytes);
  all.aligned = is_aligned(bits_of(what.source, what.destination), what.unit_bytes);
  all.given = static_cast<int>(what.given.size());
  all.taken = static_cast<int>(what.taken.size());
  kernels::cuda::PacketNest* next = all.nest;
  char* const source = static_cast<char*>(const_cast<void*>(what.source));  // given parts are only read
  for (const PacketPart& part : what.given) *next++ = part_of(part, source, true, what.unit_bytes);
  for (const PacketPart& part : what.taken) {
    *next++ = part_of(part, static_cast<char*>(what.destination), false, what.unit_bytes);
  }
  for (const kernels::StridedCopy& nest : what.kept) all.kept_nest[all.kept++] = kept_of(nest, what);
  return all;
}

}  // namespace partita::devices
