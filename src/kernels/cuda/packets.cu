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
/// Ranks that share a device must all find room on it: they wait for one another. Devices of 96
/// multiprocessors and more have room for so many blocks.
constexpr int blocks_per_multiprocessor = 2;
constexpr unsigned blocks_of_all_ranks = 96 * blocks_per_multiprocessor;

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

/// Words that a thread takes at once, so that their ways overlap: one after the other each would wait for its
/// own.
constexpr int most_at_once = 4;
struct Words {
  Word word[most_at_once];
};

/// Numbers of words: `first`, `first + step`, ..., `count` of them.
struct Numbers {
  std::int64_t first, step;
  int count;
  __device__ std::int64_t operator[](int i) const { return first + i * step; }
};

__device__ void send(Word word, char* slot, std::int64_t number, std::uint32_t exchange) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(slot + number * packet_bytes),
               "r"(static_cast<std::uint32_t>(word)), "r"(exchange),
               "r"(static_cast<std::uint32_t>(word >> 32))
               : "memory");
}

struct Packet {
  std::uint32_t low, first, high, second;
};
__device__ Packet look(const char* slot, std::int64_t number) {
  Packet packet;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(packet.low), "=r"(packet.first), "=r"(packet.high), "=r"(packet.second)
               : "l"(slot + number * packet_bytes)
               : "memory");
  return packet;
}

__device__ bool is_given_up(const std::uint64_t* given_up) {
  std::uint64_t value;
  asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(value) : "l"(given_up) : "memory");
  return value != 0;
}

/// Anything where the exchange has been given up.
__device__ Words await(const char* slot, const Numbers& numbers, std::uint32_t exchange,
                       const std::uint64_t* given_up) {
  constexpr unsigned turns_between_looks = 1024;
  for (unsigned turn = 1;; ++turn) {
    Packet packets[most_at_once];
#pragma unroll
    for (int i = 0; i < most_at_once; ++i) {
      if (i < numbers.count) packets[i] = look(slot, numbers[i]);
    }
    Words words;
    bool all = true;
#pragma unroll
    for (int i = 0; i < most_at_once; ++i) {
      if (i >= numbers.count) break;
      all = all && packets[i].first == exchange && packets[i].second == exchange;
      words.word[i] = packets[i].low | static_cast<Word>(packets[i].high) << 32;
    }
    if (all || (turn % turns_between_looks == 0 && is_given_up(given_up))) return words;
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
  __device__ Words own(int receiver, const Numbers& numbers) const {
    Words words;
#pragma unroll
    for (int i = 0; i < most_at_once; ++i) {
      if (i < numbers.count)
        words.word[i] = load_word(all.source + all.given_offsets[receiver], numbers[i],
                                  all.given_bytes[receiver], all.aligned);
    }
    return words;
  }
  __device__ Words from(int sender, const Numbers& numbers) const {
    return sender == all.me ? own(all.me, numbers)
                            : await(slot(all.me, sender), numbers, exchange, all.given_up);
  }
  __device__ void keep(const Words& words, int sender, const Numbers& numbers) const {
#pragma unroll
    for (int i = 0; i < most_at_once; ++i) {
      if (i < numbers.count)
        store_word(words.word[i], all.destination + all.taken_offsets[sender], numbers[i],
                   all.taken_bytes[sender], all.aligned);
    }
  }
  /// visit(numbers) of the thread's own among so many words.
  template <class Visit>
  __device__ void for_each(std::int64_t words, Visit&& visit) const {
    for (std::int64_t i = first; i < words; i += most_at_once * step) {
      const std::int64_t left = (words - i + step - 1) / step;
      visit(Numbers{i, step, left < most_at_once ? static_cast<int>(left) : most_at_once});
    }
  }
};

__device__ void give(const Seat& seat) {
  for (int distance = 1; distance < seat.all.ranks; ++distance) {
    const int peer = (seat.all.me + distance) % seat.all.ranks;
    char* const slot = seat.slot(peer, seat.all.me);
    seat.for_each(words_of(seat.all.given_bytes[peer]), [&](const Numbers& numbers) {
      const Words words = seat.own(peer, numbers);
#pragma unroll
      for (int i = 0; i < most_at_once; ++i) {
        if (i < numbers.count) send(words.word[i], slot, numbers[i], seat.exchange);
      }
    });
  }
}

__device__ void place(const Seat& seat) {
  for (int distance = 0; distance < seat.all.ranks; ++distance) {
    const int peer = (seat.all.me - distance + seat.all.ranks) % seat.all.ranks;
    seat.for_each(words_of(seat.all.taken_bytes[peer]),
                  [&](const Numbers& numbers) { seat.keep(seat.from(peer, numbers), peer, numbers); });
  }
}

/// In the order of ranks. The own words are on their way while those of others are awaited.
struct JoinWords {
  const Seat& seat;

  template <class T, Operation operation>
  __device__ void run() const {
    seat.for_each(words_of(seat.all.taken_bytes[seat.all.me]), [&](const Numbers& numbers) {
      const Words own = seat.own(seat.all.me, numbers);
      Words sums;
      for (int peer = 0; peer < seat.all.ranks; ++peer) {
        const Words theirs = peer == seat.all.me ? own : seat.from(peer, numbers);
        sums = peer == 0 ? theirs : joined_words<T, operation>(sums, theirs);
      }
      seat.keep(sums, seat.all.me, numbers);
    });
  }

  template <class T, Operation operation>
  __device__ static Words joined_words(const Words& a, const Words& b) {
    using Unit = Together<T, word_bytes>;
    Words sums;
#pragma unroll
    for (int i = 0; i < most_at_once; ++i)
      sums.word[i] = as<Word>(joined<operation>(as<Unit>(a.word[i]), as<Unit>(b.word[i])));
    return sums;
  }
};

/// The last block to come here counts the exchange: nobody reads the count any more.
__device__ void finish(const Packets& all, std::uint32_t exchange) {
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(&all.counters[1], 1U) != gridDim.x - 1) return;
  all.counters[1] = 0;
  all.counters[0] = exchange;
}

__global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
    exchange_packets(const __grid_constant__ Packets all) {
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
  const unsigned blocks = std::min(wanted, blocks_of_all_ranks / static_cast<unsigned>(packets.ranks));
  exchange_packets<<<blocks, threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(packets);
  return cudaGetLastError();
}

int load_packet_kernel() {
  return load(exchange_packets);
}

}  // namespace partita::cuda
