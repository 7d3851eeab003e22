// Exchanges of packets: 8 bytes of data travel with the exchange's number, twice, as 16 bytes. Either half is
// written at once, so a half with the right number has the right data.
#include <algorithm>
#include <cstring>

#include "kernels/cuda/joining.cuh"
#include "kernels/cuda/rows.cuh"

namespace partita::cuda {
namespace {

using Word = std::uint64_t;
constexpr std::int64_t word_bytes = sizeof(Word);
constexpr std::int64_t packet_bytes = 16;
/// Ranks that share a device must all find room on it: they wait for one another.
constexpr unsigned most_packet_blocks = 64;

__host__ __device__ std::int64_t words_of(std::int64_t bytes) {
  return bytes <= word_bytes ? 1 : (bytes + word_bytes - 1) / word_bytes;
}

/// What is not there is 0.
__device__ Word load_word(const char* data, std::int64_t number, std::int64_t bytes, bool aligned) {
  const std::int64_t first = number * word_bytes;
  if (aligned && first + word_bytes <= bytes) return *reinterpret_cast<const Word*>(data + first);
  Word word = 0;
  for (std::int64_t i = first; i < bytes && i < first + word_bytes; ++i) {
    word |= static_cast<Word>(static_cast<unsigned char>(data[i])) << (8 * (i - first));
  }
  return word;
}

__device__ void store_word(Word word, char* data, std::int64_t number, std::int64_t bytes, bool aligned) {
  const std::int64_t first = number * word_bytes;
  if (aligned && first + word_bytes <= bytes) {
    *reinterpret_cast<Word*>(data + first) = word;
    return;
  }
  for (std::int64_t i = first; i < bytes && i < first + word_bytes; ++i) {
    data[i] = static_cast<char>(word >> (8 * (i - first)));
  }
}

__device__ void send(Word word, char* slot, std::int64_t number, std::uint32_t exchange) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(slot + number * packet_bytes),
               "r"(static_cast<std::uint32_t>(word)), "r"(exchange),
               "r"(static_cast<std::uint32_t>(word >> 32))
               : "memory");
}

__device__ bool is_given_up(const std::uint64_t* given_up) {
  std::uint64_t value;
  asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(value) : "l"(given_up) : "memory");
  return value != 0;
}

__device__ Word await(const char* slot, std::int64_t number, std::uint32_t exchange,
                      const std::uint64_t* given_up) {
  constexpr unsigned turns_between_looks = 1024;
  for (unsigned turn = 1;; ++turn) {
    std::uint32_t low, first, high, second;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(low), "=r"(first), "=r"(high), "=r"(second)
                 : "l"(slot + number * packet_bytes)
                 : "memory");
    if (first == exchange && second == exchange) return low | static_cast<Word>(high) << 32;
    if (turn % turns_between_looks == 0 && is_given_up(given_up)) return 0;
  }
}

template <class To, class From>
__device__ To as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// What one thread of the launch knows.
struct Seat {
  const Packets& all;
  std::uint32_t exchange;
  std::int64_t first, step;  // of the words that are this thread's

  /// Where `receiver` gets what `sender` sends.
  __device__ char* slot(int receiver, int sender) const {
    return all.slots[receiver] +
           (static_cast<std::int64_t>(exchange & 1) * all.ranks + sender) * all.slot_bytes;
  }
  __device__ Word own(int receiver, std::int64_t number) const {
    return load_word(all.source + all.given_offsets[receiver], number, all.given_bytes[receiver],
                     all.aligned);
  }
  __device__ Word from(int sender, std::int64_t number) const {
    return sender == all.me ? own(all.me, number)
                            : await(slot(all.me, sender), number, exchange, all.given_up);
  }
  __device__ void keep(Word word, int sender, std::int64_t number) const {
    store_word(word, all.destination + all.taken_offsets[sender], number, all.taken_bytes[sender],
               all.aligned);
  }
};

__device__ void give(const Seat& seat) {
  for (int distance = 1; distance < seat.all.ranks; ++distance) {
    const int peer = (seat.all.me + distance) % seat.all.ranks;
    char* const slot = seat.slot(peer, seat.all.me);
    const std::int64_t words = words_of(seat.all.given_bytes[peer]);
    for (std::int64_t i = seat.first; i < words; i += seat.step)
      send(seat.own(peer, i), slot, i, seat.exchange);
  }
}

__device__ void place(const Seat& seat) {
  for (int distance = 0; distance < seat.all.ranks; ++distance) {
    const int peer = (seat.all.me - distance + seat.all.ranks) % seat.all.ranks;
    const std::int64_t words = words_of(seat.all.taken_bytes[peer]);
    for (std::int64_t i = seat.first; i < words; i += seat.step) seat.keep(seat.from(peer, i), peer, i);
  }
}

/// In the order of ranks.
struct JoinWords {
  const Seat& seat;

  template <class T, Operation operation>
  __device__ void run() const {
    using Unit = Together<T, word_bytes>;
    const std::int64_t words = words_of(seat.all.taken_bytes[seat.all.me]);
    for (std::int64_t i = seat.first; i < words; i += seat.step) {
      auto sum = as<Unit>(seat.from(0, i));
      for (int peer = 1; peer < seat.all.ranks; ++peer)
        sum = joined<operation>(sum, as<Unit>(seat.from(peer, i)));
      seat.keep(as<Word>(sum), seat.all.me, i);
    }
  }
};

/// The last block to come here counts the exchange: nobody reads the count any more.
__device__ void finish(const Packets& all, std::uint32_t exchange) {
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(&all.counters[1], 1U) != gridDim.x - 1) return;
  all.counters[1] = 0;
  all.counters[0] = exchange;
}

__global__ void exchange_packets(const __grid_constant__ Packets all) {
  const std::uint32_t exchange = all.counters[0] + 1;
  const Seat seat{all, exchange, static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
                  static_cast<std::int64_t>(gridDim.x) * blockDim.x};
  give(seat);
  if (all.joined) {
    join_as(all.element, all.operation, JoinWords{seat});
  } else {
    place(seat);
  }
  finish(all, exchange);
}

}  // namespace

int launch_packets(const Packets& packets, void* stream) {
  std::int64_t words = 1;
  for (int rank = 0; rank < packets.ranks; ++rank) {
    words = std::max({words, words_of(packets.given_bytes[rank]), words_of(packets.taken_bytes[rank])});
  }
  const auto wanted = static_cast<unsigned>((words + threads_per_block - 1) / threads_per_block);
  const unsigned blocks = std::min(wanted, most_packet_blocks);
  exchange_packets<<<blocks, threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(packets);
  return cudaGetLastError();
}

int load_packet_kernel() {
  return load(exchange_packets);
}

}  // namespace partita::cuda
