// Exchanges of packets whose data is dense: ranges that are moved or reduced, in one round or two.
#include <cstring>

#include "kernels/cuda/joining.cuh"
#include "kernels/cuda/packets.cuh"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {
namespace {

/// Ends of memory, and memory that words of 8 bytes do not suit. What is not there is 0.
__device__ __noinline__ Word load_bytes(const char* data, std::int64_t count) {
  Word word = 0;
  for (std::int64_t i = 0; i < count && i < word_bytes; ++i) {
    word |= static_cast<Word>(static_cast<unsigned char>(load_fresh(data + i))) << (8 * i);
  }
  return word;
}

__device__ __noinline__ void store_bytes(Word word, char* data, std::int64_t count) {
  for (std::int64_t i = 0; i < count && i < word_bytes; ++i) data[i] = static_cast<char>(word >> (8 * i));
}

__device__ Word load_word(const char* data, std::int64_t number, std::int64_t bytes, bool aligned) {
  const std::int64_t first = number * word_bytes;
  if (aligned && first + word_bytes <= bytes) return load_fresh(reinterpret_cast<const Word*>(data + first));
  return load_bytes(data + first, bytes - first);
}

__device__ void store_word(Word word, char* data, std::int64_t number, std::int64_t bytes, bool aligned) {
  const std::int64_t first = number * word_bytes;
  if (aligned && first + word_bytes <= bytes) {
    *reinterpret_cast<Word*>(data + first) = word;
  } else {
    store_bytes(word, data + first, bytes - first);
  }
}

template <class To, class From>
__device__ To as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// Words that are this thread's: first, first + step, ... A thread takes several at once, so that their ways
/// overlap: one after the other each would wait for its own.
struct Share {
  std::int64_t first, step;
};

/// What one thread of a launch knows.
struct Seat {
  const Packets& all;
  Share share;
  std::uint32_t exchange = 0;  // its number, once it has been counted

  __device__ int me() const { return all.seat.me; }
  __device__ int ranks() const { return all.seat.ranks; }
  __device__ bool is_peer(int rank) const { return rank < ranks() && rank != me(); }

  __device__ Word own(int receiver, std::int64_t number) const {
    return load_word(all.source + all.given_offsets[receiver], number, all.given_bytes[receiver],
                     all.aligned);
  }
  __device__ void keep(Word word, int sender, std::int64_t number) const {
    store_word(word, all.destination + all.taken_offsets[sender], number, all.taken_bytes[sender],
               all.aligned);
  }
  /// What is passed on is in the second half of a slot.
  __device__ std::int64_t second_round() const { return all.seat.slot_bytes / 2; }
  /// Where this rank puts what it gives, and finds what it is given.
  __device__ char* slot_at(int peer, std::uint32_t number) const {
    return slot_of(all.seat, number, peer, me());
  }
  __device__ const char* slot_from(int peer) const { return slot_of(all.seat, exchange, me(), peer); }
};

/// visit(i, number) of the `count` words that come next to word `first` of the share, as far as there are
/// any.
template <int count, class Visit>
__device__ void for_next(const Share& share, std::int64_t first, std::int64_t words, const Visit& visit) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const std::int64_t number = first + i * share.step;
    if (number < words) visit(i, number);
  }
}

// --- moved: a row of blocks for each peer and one for the rank itself, or fewer that take turns

constexpr int words_at_once = 4;

/// put(words, first) of all that this thread gives to `receiver`, which may be this rank: of several words
/// that have been read at once, with the number of the first.
template <class Put>
__device__ void read_own(const Seat& seat, int receiver, std::int64_t words, const Put& put) {
  for (std::int64_t i = seat.share.first; i < words; i += words_at_once * seat.share.step) {
    Word word[words_at_once];
    for_next<words_at_once>(seat.share, i, words,
                            [&](int k, std::int64_t number) { word[k] = seat.own(receiver, number); });
    put(word, i);
  }
}

__device__ void give_to(const Seat& seat, ExchangeNumber& number_of_exchange, int peer) {
  const std::int64_t words = seat.all.given_packets[peer];
  read_own(seat, peer, words, [&](const Word(&word)[words_at_once], std::int64_t first) {
    const std::uint32_t exchange = number_of_exchange();
    if (first == 0 && renews(exchange)) renew_slot(seat.all.seat, exchange, peer);
    char* const slot = seat.slot_at(peer, exchange);
    for_next<words_at_once>(seat.share, first, words,
                            [&](int k, std::int64_t number) { send(word[k], slot, number, exchange); });
  });
}

/// visit(word, number) of all that comes from a peer for this thread.
template <class Visit>
__device__ void take_from(const Seat& seat, int peer, const Visit& visit) {
  const char* const slot = seat.slot_from(peer);
  const std::int64_t words = seat.all.taken_packets[peer];
  for (std::int64_t first = seat.share.first; first < words; first += words_at_once * seat.share.step) {
    const auto number = [&](int i) { return first + i * seat.share.step; };
    await<Packet, words_at_once>(
        seat.all.seat, seat.exchange, [&](int i) { return number(i) < words; },
        [&](int i) { return Packet::look(slot, number(i)); },
        [&](int i, Word word) { visit(word, number(i)); });
  }
}

__device__ void keep_own(const Seat& seat) {
  const int me = seat.me();
  if (seat.all.taken_bytes[me] == 0) return;
  const std::int64_t words = seat.all.taken_packets[me];
  read_own(seat, me, words, [&](const Word(&word)[words_at_once], std::int64_t first) {
    for_next<words_at_once>(seat.share, first, words,
                            [&](int k, std::int64_t number) { seat.keep(word[k], me, number); });
  });
}

__device__ Share share_of_thread() {
  return {static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
          static_cast<std::int64_t>(gridDim.x) * blockDim.x};
}

__global__ void __launch_bounds__(packet_threads, packet_blocks_per_multiprocessor)
    move_packets(const __grid_constant__ Packets all) {
  follow_stream();
  Seat seat{all, share_of_thread()};
  ExchangeNumber number(all.seat);
  const auto first = static_cast<int>(blockIdx.y), step = static_cast<int>(gridDim.y);
  for (int distance = first; distance < seat.ranks(); distance += step) {
    if (distance == 0) {
      keep_own(seat);
    } else {
      give_to(seat, number, rank_after(all.seat, distance));
    }
  }
  seat.exchange = count_exchange(all.seat, number);
  for (int distance = first == 0 ? step : first; distance < seat.ranks(); distance += step) {
    const int peer = rank_before(all.seat, distance);
    take_from(seat, peer, [&](Word word, std::int64_t number) { seat.keep(word, peer, number); });
  }
}

// --- reduced, or passed on: a thread has the words of equal number of all peers in progress at once. For up
// to `most` ranks; what it writes it has sent before, since source and destination may be the same.

template <int most>
constexpr int numbers_at_once = 8 / most;
/// So many words under way take registers.
constexpr int joining_threads = 256;

template <int most>
__device__ void give_to_all(const Seat& seat, ExchangeNumber& number_of_exchange) {
  constexpr int at_once = numbers_at_once<most>;
  std::int64_t words = 0;
  for (int peer = 0; peer < seat.ranks(); ++peer) {
    if (peer != seat.me() && seat.all.given_packets[peer] > words) words = seat.all.given_packets[peer];
  }
  const auto is_given = [&](int peer, std::int64_t number) {
    return seat.is_peer(peer) && number < seat.all.given_packets[peer];
  };
  for (std::int64_t i = seat.share.first; i < words; i += at_once * seat.share.step) {
    Word word[at_once][most];
    for_next<at_once>(seat.share, i, words, [&](int k, std::int64_t number) {
#pragma unroll
      for (int peer = 0; peer < most; ++peer) {
        if (is_given(peer, number)) word[k][peer] = seat.own(peer, number);
      }
    });
    const std::uint32_t exchange = number_of_exchange();
    if (i == 0 && renews(exchange)) renew_slots(seat.all.seat, exchange);
    for_next<at_once>(seat.share, i, words, [&](int k, std::int64_t number) {
#pragma unroll
      for (int peer = 0; peer < most; ++peer) {
        if (is_given(peer, number)) send(word[k][peer], seat.slot_at(peer, exchange), number, exchange);
      }
    });
  }
}

/// take(k, peer, word) of the numbers first, first + step, ... of those peers for which is_taken(peer,
/// number).
template <int most, class IsTaken, class Take>
__device__ void await_all(const Seat& seat, std::int64_t first, std::int64_t round, const IsTaken& is_taken,
                          const Take& take) {
  constexpr int at_once = numbers_at_once<most>;
  const auto number = [&](int i) { return first + i / most * seat.share.step; };
  await<Packet, at_once * most>(
      seat.all.seat, seat.exchange,
      [&](int i) { return seat.is_peer(i % most) && is_taken(i % most, number(i)); },
      [&](int i) { return Packet::look(seat.slot_from(i % most) + round, number(i)); },
      [&](int i, Word word) { take(i / most, i % most, word); });
}

/// To all but one, who gets no more than a sign.
__device__ void pass_on(const Seat& seat, Word word, std::int64_t number, int but) {
  for (int distance = 1; distance < seat.ranks(); ++distance) {
    const int peer = rank_after(seat.all.seat, distance);
    if (peer == but && number > 0) continue;
    send(word, seat.slot_at(peer, seat.exchange) + seat.second_round(), number, seat.exchange);
  }
}

/// What others pass on.
template <int most>
__device__ void take_from_all(const Seat& seat, int but) {
  constexpr int at_once = numbers_at_once<most>;
  const auto words_from = [&](int peer) { return peer == but ? 0 : seat.all.taken_packets[peer]; };
  std::int64_t words = 0;
  for (int peer = 0; peer < seat.ranks(); ++peer) {
    if (peer != seat.me() && words_from(peer) > words) words = words_from(peer);
  }
  for (std::int64_t i = seat.share.first; i < words; i += at_once * seat.share.step) {
    await_all<most>(
        seat, i, seat.second_round(),
        [&](int peer, std::int64_t number) { return number < words_from(peer); },
        [&](int k, int peer, Word word) { seat.keep(word, peer, i + k * seat.share.step); });
  }
}

/// In the order of ranks.
template <int most>
struct JoinWords {
  const Seat& seat;

  template <class T, Reduction operation>
  __device__ void run() const {
    const std::int64_t words = seat.all.taken_packets[seat.me()];
    for (std::int64_t i = seat.share.first; i < words; i += numbers_at_once<most> * seat.share.step) {
      run_at<T, operation>(i, words);
    }
  }

  template <class T, Reduction operation>
  __device__ void run_at(std::int64_t first, std::int64_t words) const {
    constexpr int at_once = numbers_at_once<most>;
    Word own[at_once], word[at_once][most];
    for_next<at_once>(seat.share, first, words,
                      [&](int k, std::int64_t number) { own[k] = seat.own(seat.me(), number); });
    await_all<most>(
        seat, first, 0, [&](int, std::int64_t number) { return number < words; },
        [&](int k, int peer, Word theirs) { word[k][peer] = theirs; });
    for_next<at_once>(seat.share, first, words, [&](int k, std::int64_t number) {
      const Word sum = joined_words<T, operation>(word[k], own[k]);
      seat.keep(sum, seat.me(), number);
      if (seat.all.passed_on) pass_on(seat, sum, number, seat.me());
    });
  }

  template <class T, Reduction operation>
  __device__ Word joined_words(const Word (&words)[most], Word own) const {
    using Unit = Together<T, word_bytes>;
    Unit sum = as<Unit>(seat.me() == 0 ? own : words[0]);
#pragma unroll
    for (int rank = 1; rank < most; ++rank) {
      if (rank < seat.ranks()) {
        sum = joined<operation>(sum, as<Unit>(rank == seat.me() ? own : words[rank]));
      }
    }
    return as<Word>(sum);
  }
};

template <int most>
__global__ void __launch_bounds__(joining_threads, packet_blocks_per_multiprocessor)
    join_packets(const __grid_constant__ Packets all) {
  follow_stream();
  Seat seat{all, share_of_thread()};
  ExchangeNumber number(all.seat);
  give_to_all<most>(seat, number);
  seat.exchange = count_exchange(all.seat, number);
  join_as(all.element, all.operation, JoinWords<most>{seat});
  if (all.passed_on) take_from_all<most>(seat, seat.me());
}

/// The root gives each of the others a share, which they pass on to one another.
template <int most>
__global__ void __launch_bounds__(joining_threads, packet_blocks_per_multiprocessor)
    spread_packets(const __grid_constant__ Packets all) {
  follow_stream();
  Seat seat{all, share_of_thread()};
  ExchangeNumber number(all.seat);
  const bool is_root = all.root == seat.me();
  if (is_root) give_to_all<most>(seat, number);
  seat.exchange = count_exchange(all.seat, number);
  if (!is_root) {
    if (seat.share.first == 0 && renews(seat.exchange)) renew_slots(all.seat, seat.exchange);
    const std::int64_t words = all.taken_packets[seat.me()];
    const char* const slot = seat.slot_from(all.root);
    for (std::int64_t i = seat.share.first; i < words; i += words_at_once * seat.share.step) {
      const auto at = [&](int k) { return i + k * seat.share.step; };
      await<Packet, words_at_once>(
          all.seat, seat.exchange, [&](int k) { return at(k) < words; },
          [&](int k) { return Packet::look(slot, at(k)); },
          [&](int k, Word word) {
            seat.keep(word, seat.me(), at(k));
            pass_on(seat, word, at(k), all.root);
          });
    }
  }
  take_from_all<most>(seat, all.root);
}

using Kernel = void (*)(Packets);

Kernel kernel_of(const Packets& packets) {
  const int ranks = packets.seat.ranks;
  if (packets.joined) {
    return ranks <= 2 ? join_packets<2> : ranks <= 4 ? join_packets<4> : join_packets<most_packet_ranks>;
  }
  if (packets.passed_on) return ranks <= 4 ? spread_packets<4> : spread_packets<most_packet_ranks>;
  return move_packets;
}

}  // namespace

int launch_packets(const Packets& packets, void* stream) {
  std::int64_t words = 1;
  for (int rank = 0; rank < packets.seat.ranks; ++rank) {
    words = std::max({words, packets.given_packets[rank], packets.taken_packets[rank]});
  }
  const bool peers_apart = !packets.joined && !packets.passed_on;
  const PacketGrid grid =
      packet_grid(packets.seat, peers_apart, words, peers_apart ? packet_threads : joining_threads);
  return launch_in_turn(kernel_of(packets), packets, dim3(grid.blocks, grid.peers), grid.threads, stream);
}

int load_packet_kernels() {
  return load(move_packets, join_packets<2>, join_packets<4>, join_packets<8>, spread_packets<4>,
              spread_packets<8>);
}

}  // namespace partita::kernels::cuda
