#include "device/cuda_packets.hpp"

#include "device/cuda_kernel_numbers.hpp"

namespace partita {
namespace {

/// Whether words of 8 bytes can be read and written.
bool is_aligned(const PacketExchange& what) {
  std::uint64_t bits =
      reinterpret_cast<std::uintptr_t>(what.source) | reinterpret_cast<std::uintptr_t>(what.destination);
  for (const Parcel& parcel : what.given) bits |= static_cast<std::uint64_t>(parcel.offset);
  for (const Parcel& parcel : what.taken) bits |= static_cast<std::uint64_t>(parcel.offset);
  return bits % PacketSlots::data_bytes == 0;
}

}  // namespace

static_assert(cuda::most_packet_ranks == PacketSlots::most_ranks);

cuda::Packets kernel_packets(const PacketExchange& what) {
  cuda::Packets all;
  all.ranks = static_cast<int>(what.slots.of_ranks.size());
  all.me = what.rank;
  all.source = static_cast<const char*>(what.source);
  all.destination = static_cast<char*>(what.destination);
  all.slot_bytes = PacketSlots::slot_bytes(all.ranks);
  for (std::size_t rank = 0; rank < what.slots.of_ranks.size(); ++rank) {
    all.slots[rank] = what.slots.of_ranks[rank];
    all.given_offsets[rank] = what.given[rank].offset;
    all.given_bytes[rank] = what.given[rank].bytes;
    all.taken_offsets[rank] = what.taken[rank].offset;
    all.taken_bytes[rank] = what.taken[rank].bytes;
  }
  all.aligned = is_aligned(what);
  if (what.joined) {
    const KernelNumbers numbers = *kernel_numbers(what.dtype, *what.joined);
    all.joined = true;
    all.element = numbers.element;
    all.operation = numbers.operation;
  }
  all.counters = what.slots.counters;
  all.given_up = what.slots.given_up;
  return all;
}

}  // namespace partita
