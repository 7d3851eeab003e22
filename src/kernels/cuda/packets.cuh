// What the kernels that exchange packets have in common. A packet: 4 bytes of data, 4 of the exchange's
// number, twice. Either half is written at once, so a half with the right number has the right data.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/given_up.cuh"
#include "kernels/cuda/packet_launch.hpp"

namespace partita::kernels::cuda {

using Word = std::uint64_t;
constexpr std::int64_t word_bytes = sizeof(Word);
constexpr std::int64_t packet_bytes = 16;

/// Nothing that the stream did before may be read or written before this, the count of exchanges least of
/// all: the launch before writes it. What comes next in the stream may take its place on the device from here
/// on.
__device__ inline void follow_stream() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Past the multiprocessor's own cache: a launch that took its place early might find there what the one
/// before has read, and others of that launch have written since.
template <class Value>
__device__ Value load_fresh(const Value* from) {
  return *const_cast<const volatile Value*>(from);
}

/// As PacketSlots counts.
__device__ inline std::uint32_t number_after(std::uint32_t number) {
  return number == ~0U ? packet_wrap : number + 1;
}
__device__ inline bool renews(std::uint32_t number) {
  return number - packet_renewal < 2;
}

/// The number of this launch's exchange, read when a thread asks for it first: what it reads before need not
/// wait for that. For what is given; `count_exchange` tells it for all that follows.
class ExchangeNumber {
 public:
  __device__ explicit ExchangeNumber(const PacketSeat& seat) : counters_(seat.counters) {}

  __device__ std::uint32_t operator()() {
    if (number_ == 0) number_ = number_after(load_fresh(counters_));
    return number_;
  }

 private:
  const std::uint32_t* counters_;
  std::uint32_t number_ = 0;  // 0: not yet read
};

/// By all threads of all blocks, once they have given all: the last block to come here counts the exchange.
/// It is over only with the launch, but no thread of this launch reads the count any more.
__device__ inline std::uint32_t count_exchange(const PacketSeat& seat, ExchangeNumber& number) {
  const std::uint32_t exchange = number();
  __syncthreads();
  const unsigned last = gridDim.x * gridDim.y - 1;
  if (threadIdx.x == 0 && atomicInc(&seat.counters[1], last) == last) seat.counters[0] = exchange;
  return exchange;
}

/// Where `receiver` gets what `sender` sends.
__device__ inline char* slot_of(const PacketSeat& seat, std::uint32_t exchange, int receiver, int sender) {
  const std::int64_t half = static_cast<std::int64_t>(exchange & 1U) * seat.ranks;
  return seat.slots[receiver] + (half + sender) * seat.slot_bytes;
}

__device__ inline int rank_after(const PacketSeat& seat, int distance) {
  const int rank = seat.me + distance;
  return rank < seat.ranks ? rank : rank - seat.ranks;
}
__device__ inline int rank_before(const PacketSeat& seat, int distance) {
  const int rank = seat.me - distance;
  return rank < 0 ? rank + seat.ranks : rank;
}

/// Forgets what `peer` has sent in the exchange before this one, in whose half it sends next. It does so only
/// when it has received all that it is given in this exchange: so by the thread that gives it the first
/// packet, before that. One thread takes its time, but that is once in hours.
__device__ inline void renew_slot(const PacketSeat& seat, std::uint32_t exchange, int peer) {
  char* const slot = slot_of(seat, exchange + 1, seat.me, peer);
  for (std::int64_t at = 0; at < seat.slot_bytes; at += packet_bytes) {
    *reinterpret_cast<uint4*>(slot + at) = uint4{0, 0, 0, 0};
  }
  __threadfence_system();
}
__device__ inline void renew_slots(const PacketSeat& seat, std::uint32_t exchange) {
  for (int peer = 0; peer < seat.ranks; ++peer) {
    if (peer != seat.me) renew_slot(seat, exchange, peer);
  }
}

/// 8 bytes, as a packet.
__device__ inline void send(Word word, char* slot, std::int64_t number, std::uint32_t exchange) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(slot + number * packet_bytes),
               "r"(static_cast<std::uint32_t>(word)), "r"(exchange),
               "r"(static_cast<std::uint32_t>(word >> 32)), "r"(exchange)
               : "memory");
}
/// Up to 4 bytes, as half a packet.
__device__ inline void send(std::uint32_t data, char* slot, std::int64_t number, std::uint32_t exchange) {
  asm volatile("st.volatile.global.v2.u32 [%0], {%1, %2};" ::"l"(slot + number * packet_bytes / 2), "r"(data),
               "r"(exchange)
               : "memory");
}

struct Packet {
  std::uint32_t low, first, high, second;

  __device__ static Packet look(const char* slot, std::int64_t number) {
    Packet packet;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(packet.low), "=r"(packet.first), "=r"(packet.high), "=r"(packet.second)
                 : "l"(slot + number * packet_bytes)
                 : "memory");
    return packet;
  }
  __device__ bool is_of(std::uint32_t exchange) const { return first == exchange && second == exchange; }
  __device__ Word data() const { return low | static_cast<Word>(high) << 32; }
};

struct HalfPacket {
  std::uint32_t low, first;

  __device__ static HalfPacket look(const char* slot, std::int64_t number) {
    HalfPacket packet;
    asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(packet.low), "=r"(packet.first)
                 : "l"(slot + number * packet_bytes / 2)
                 : "memory");
    return packet;
  }
  __device__ bool is_of(std::uint32_t exchange) const { return first == exchange; }
  __device__ std::uint32_t data() const { return low; }
};

/// Packets i of `count` for which `wanted(i)`: `look(i)` until all are of this exchange, all on their way at
/// once; then `take(i, packet)`. Anything where the exchange has been given up.
template <class Kind, int count, class Wanted, class Look, class Take>
__device__ void await(const PacketSeat& seat, std::uint32_t exchange, const Wanted& wanted, const Look& look,
                      const Take& take) {
  Kind packets[count];
  for (unsigned turn = 1;; ++turn) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if (wanted(i)) packets[i] = look(i);
    }
    bool all = true;
#pragma unroll
    for (int i = 0; i < count; ++i) all = all && (!wanted(i) || packets[i].is_of(exchange));
    if (all || (turn % turns_between_looks == 0 && is_given_up(seat.given_up))) break;
  }
#pragma unroll
  for (int i = 0; i < count; ++i) {
    if (wanted(i)) take(i, packets[i].data());
  }
}

/// In the order of the stream; may be started before its turn, which `follow_stream` waits for.
template <class Argument>
int launch_in_turn(void (*kernel)(Argument), const Argument& argument, dim3 blocks, unsigned threads,
                   void* stream) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch{};
  launch.gridDim = blocks;
  launch.blockDim = dim3(threads);
  launch.stream = static_cast<cudaStream_t>(stream);
  launch.attrs = &overlap;
  launch.numAttrs = blocks.x * blocks.y <= argument.seat.most_ahead ? 1 : 0;
  return cudaLaunchKernelEx(&launch, kernel, argument);
}

}  // namespace partita::kernels::cuda
