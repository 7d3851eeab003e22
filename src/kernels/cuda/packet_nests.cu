// Exchanges of packets whose data is in nests: packed into packets where it is read, unpacked from packets
// where it is written.
#include "kernels/cuda/packets.cuh"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {
namespace {

constexpr int units_at_once = 4;

/// Memory that units do not suit is read and written byte by byte.
template <class Unit>
__device__ Unit load_unit(const char* from, bool aligned) {
  if (aligned || sizeof(Unit) == 1) return load_fresh(reinterpret_cast<const Unit*>(from));
  Unit unit = 0;
  for (unsigned i = 0; i < sizeof(Unit); ++i) {
    unit = static_cast<Unit>(unit | static_cast<Unit>(static_cast<unsigned char>(load_fresh(from + i)))
                                        << (8 * i));
  }
  return unit;
}

template <class Unit>
__device__ void store_unit(Unit unit, char* to, bool aligned) {
  if (aligned || sizeof(Unit) == 1) {
    *reinterpret_cast<Unit*>(to) = unit;
    return;
  }
  for (unsigned i = 0; i < sizeof(Unit); ++i) to[i] = static_cast<char>(unit >> (8 * i));
}

/// What of a message one packet, or one half, carries.
template <class Unit>
struct Wire {
  using Kind = HalfPacket;
  using Data = std::uint32_t;
};
template <>
struct Wire<std::uint64_t> {
  using Kind = Packet;
  using Data = Word;
};

/// Where a unit is in memory, and its number in the message.
struct UnitPlace {
  char* memory;
  std::int64_t number;
};

template <class Unit>
__device__ UnitPlace place_of(const PacketNest& nest, std::uint32_t unit) {
  std::uint32_t row = unit / nest.row_units;
  const std::uint32_t in_row = unit - row * nest.row_units;
  UnitPlace place{nest.memory + in_row * sizeof(Unit), nest.first + in_row};
  for (int i = nest.loops - 1; i >= 0; --i) {
    const PacketNest::Loop& loop = nest.loop[i];
    const std::uint32_t whole = row / loop.count;
    const std::uint32_t at = row - whole * loop.count;
    place.memory += at * loop.bytes;
    place.number += at * loop.units;
    row = whole;
  }
  return place;
}

/// The units of a nest that are this thread's: several threads and blocks share it.
struct UnitShare {
  std::uint32_t first, step;
};

template <class Unit>
class NestExchange {
 public:
  __device__ explicit NestExchange(const PacketNests& all) : all_(all), number_(all.seat) {}

  /// Where units are is computed before the launch's turn has come, if it is here that early.
  __device__ void give(const PacketNest& nest, const UnitShare& share) {
    using Data = typename Wire<Unit>::Data;
    if (nest.units == 0 && share.first == 0) {
      follow_stream();
      const std::uint32_t exchange = number_();
      if (renews(exchange)) renew_slot(all_.seat, exchange, nest.peer);
      send(Data{0}, slot_at(nest.peer, exchange), 0, exchange);
    }
    for (std::uint32_t unit = share.first; unit < nest.units; unit += units_at_once * share.step) {
      UnitPlace place[units_at_once];
      Unit data[units_at_once];
#pragma unroll
      for (int i = 0; i < units_at_once; ++i) {
        if (unit + i * share.step < nest.units) place[i] = place_of<Unit>(nest, unit + i * share.step);
      }
      follow_stream();
#pragma unroll
      for (int i = 0; i < units_at_once; ++i) {
        if (unit + i * share.step < nest.units) data[i] = load_unit<Unit>(place[i].memory, all_.aligned);
      }
      const std::uint32_t exchange = number_();
      if (unit == 0 && renews(exchange)) renew_slot(all_.seat, exchange, nest.peer);
      char* const slot = slot_at(nest.peer, exchange);
#pragma unroll
      for (int i = 0; i < units_at_once; ++i) {
        if (unit + i * share.step >= nest.units) break;
        send(static_cast<Data>(data[i]), slot, place[i].number, exchange);
      }
    }
  }

  /// After all that this thread gives.
  __device__ void count() {
    follow_stream();  // it may have had nothing to give
    exchange_ = count_exchange(all_.seat, number_);
  }

  __device__ void take(const PacketNest& nest, const UnitShare& share) const {
    using Kind = typename Wire<Unit>::Kind;
    const char* const slot = slot_of(all_.seat, exchange_, all_.seat.me, nest.peer);
    const std::uint32_t units = nest.units == 0 ? 1 : nest.units;
    for (std::uint32_t unit = share.first; unit < units; unit += units_at_once * share.step) {
      const auto is_there = [&](int i) { return unit + i * share.step < units; };
      UnitPlace place[units_at_once];
#pragma unroll
      for (int i = 0; i < units_at_once; ++i) {
        if (is_there(i)) place[i] = place_of<Unit>(nest, unit + i * share.step);
      }
      await<Kind, units_at_once>(
          all_.seat, exchange_, is_there, [&](int i) { return Kind::look(slot, place[i].number); },
          [&](int i, typename Wire<Unit>::Data data) {
            if (nest.units > 0) store_unit(static_cast<Unit>(data), place[i].memory, all_.aligned);
          });
    }
  }

  __device__ void keep(const KeptNest& nest, const UnitShare& share) const {
    for (std::uint32_t unit = share.first; unit < nest.units; unit += share.step) {
      std::uint32_t row = unit / nest.row_units;
      const std::uint32_t in_row = (unit - row * nest.row_units) * static_cast<std::uint32_t>(sizeof(Unit));
      std::int64_t from = in_row, to = in_row;
      for (int i = nest.loops - 1; i >= 0; --i) {
        const KeptNest::Loop& loop = nest.loop[i];
        const std::uint32_t whole = row / loop.count;
        const std::uint32_t at = row - whole * loop.count;
        from += at * loop.from_bytes;
        to += at * loop.to_bytes;
        row = whole;
      }
      store_unit(load_unit<Unit>(nest.from + from, all_.aligned), nest.to + to, all_.aligned);
    }
  }

 private:
  __device__ char* slot_at(int peer, std::uint32_t exchange) const {
    return slot_of(all_.seat, exchange, peer, all_.seat.me);
  }

  const PacketNests& all_;
  ExchangeNumber number_;
  std::uint32_t exchange_ = 0;  // once it has been counted
};

/// visit(nest, share) of so many nests, `parts` blocks for each.
template <class Visit>
__device__ void for_each_nest(int nests, unsigned parts, const Visit& visit) {
  const unsigned tasks = static_cast<unsigned>(nests) * parts;
  for (unsigned task = blockIdx.x; task < tasks; task += gridDim.x) {
    const unsigned nest = task / parts;
    visit(static_cast<int>(nest),
          UnitShare{(task - nest * parts) * blockDim.x + threadIdx.x, parts * blockDim.x});
  }
}

/// Every block gives all that it has to give before it waits.
template <class Unit>
__global__ void __launch_bounds__(packet_threads, packet_blocks_per_multiprocessor)
    exchange_nests(const __grid_constant__ PacketNests all) {
  const unsigned parts = all.parts;
  NestExchange<Unit> mine(all);
  for_each_nest(all.given, parts,
                [&](int nest, const UnitShare& share) { mine.give(all.nest[nest], share); });
  mine.count();
  for_each_nest(all.taken + all.kept, parts, [&](int nest, const UnitShare& share) {
    if (nest >= all.taken) {
      mine.keep(all.kept_nest[nest - all.taken], share);
    } else {
      mine.take(all.nest[all.given + nest], share);
    }
  });
}

std::uint32_t most_units(const PacketNests& nests) {
  std::uint32_t most = 1;
  for (int i = 0; i < nests.given + nests.taken; ++i) most = std::max(most, nests.nest[i].units);
  for (int i = 0; i < nests.kept; ++i) most = std::max(most, nests.kept_nest[i].units);
  return most;
}

template <class Unit>
int launch_in_units(PacketNests& nests, void* stream) {
  const std::uint32_t units = most_units(nests);
  const unsigned threads = packet_threads_for(units);
  const auto rows = static_cast<unsigned>(std::max({nests.given, nests.taken + nests.kept, 1}));
  const unsigned wanted = (units + threads - 1) / threads;
  nests.parts = std::min(wanted, std::max(nests.seat.most_blocks / rows, 1U));
  const unsigned blocks = std::min(rows * nests.parts, nests.seat.most_blocks);
  return launch_in_turn(exchange_nests<Unit>, nests, dim3(blocks), threads, stream);
}

}  // namespace

int launch_packet_nests(PacketNests& nests, void* stream) {
  switch (nests.unit_bytes) {
    case 8:
      return launch_in_units<std::uint64_t>(nests, stream);
    case 4:
      return launch_in_units<std::uint32_t>(nests, stream);
    case 2:
      return launch_in_units<std::uint16_t>(nests, stream);
    default:
      return launch_in_units<std::uint8_t>(nests, stream);
  }
}

int load_packet_nest_kernels() {
  return load(exchange_nests<std::uint64_t>, exchange_nests<std::uint32_t>, exchange_nests<std::uint16_t>,
              exchange_nests<std::uint8_t>);
}

}  // namespace partita::kernels::cuda
