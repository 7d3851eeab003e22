// Small exchanges inside a node with one kernel launch and one transfer: every word is sent with a number, by
// which the receiver recognises its arrival. No separate flags, no second round. (NCCL's protocol LL;
// Jeaugey, GTC 2019.)
#pragma once

#include <cstdint>
#include <optional>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>
#include <span>
#include <vector>

#include "base/round.hpp"
#include "kernels/host/copy.hpp"

namespace partita::devices {

/// Bytes of a dense view.
struct ByteRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// Where packets arrive. A packet is 16 bytes: 4 of data, 4 of the exchange's number, and both again. A rank
/// has a slot for each sender in each of two halves, which exchanges use in turn: who has received the
/// packets of an exchange knows that their senders have done with the one before, whose half may be written
/// again.
struct PacketSlots {
  static constexpr int most_ranks = 8;
  static constexpr std::int64_t data_bytes = 8;
  static constexpr std::int64_t packet_bytes = 16;
  /// What a rank gives to all its peers together. Twice as much travels, which is worth it while the time is
  /// that of starts and flights, as measured (docs/performance.md).
  static constexpr std::int64_t most_given = std::int64_t{1} << 20;
  /// The same where the alternative has several starts.
  static constexpr std::int64_t most_given_at_once = 4 * most_given;

  /// Of one range, where a rank gives `given` in all. At least two ranks.
  static constexpr std::int64_t most_bytes(int ranks, std::int64_t given = most_given) {
    return round_down(given / (ranks - 1), data_bytes);
  }
  /// Of a slice of `given` bytes that are cut for all ranks, in an exchange of two rounds.
  static constexpr std::int64_t most_slice_bytes(int ranks, std::int64_t given = most_given) {
    constexpr std::int64_t line = 128 / packet_bytes * data_bytes;
    const std::int64_t slice = round_down(ceil_divide(given, ranks), data_bytes);
    return (slice + line) / line * line;
  }
  /// What a rank is given in the second round begins in the middle of a slot.
  static constexpr std::int64_t slot_bytes(int ranks, std::int64_t given) {
    constexpr std::int64_t rounds = 2;
    return rounds * (most_slice_bytes(ranks, given) / data_bytes * packet_bytes);
  }
  static constexpr std::int64_t bytes(int ranks, std::int64_t given) {
    return 2 * ranks * slot_bytes(ranks, given);
  }
  /// At least one, so that the receiver can recognise the sender's arrival.
  static std::int64_t packets(std::int64_t bytes) { return bytes <= 0 ? 1 : ceil_divide(bytes, data_bytes); }

  /// Exchanges are numbered from 1 with 32 bits, which wrap around after hours. 0 is never used: it marks
  /// memory that has not been written. The number after the largest is 2, which has the same parity as 0,
  /// because the halves alternate.
  static constexpr std::uint32_t wrap = 2;
  static constexpr std::uint32_t number_after(std::uint32_t number) {
    return number == ~std::uint32_t{0} ? wrap : number + 1;
  }
  /// A number must not recur while a slot still contains it from the previous cycle. In these two exchanges,
  /// one of each half, a rank therefore clears the half of the previous exchange, which it has received,
  /// before it sends: no peer writes there until it has received what this rank sends now.
  static constexpr std::uint32_t renewal = std::uint32_t{1} << 31U;
  static constexpr bool renews(std::uint32_t number) { return number - renewal < 2; }

  std::span<char* const> of_ranks;  ///< by rank, as they are mapped here
  std::int64_t slot = 0;            ///< bytes of one
  /// Two numbers in this device's memory, 0 at first: exchanges that are done, blocks of a launch that are.
  /// The device counts itself: a graph may repeat an exchange.
  std::uint32_t* counters = nullptr;
  /// In this device's memory; once it is not 0, waits end.
  const std::uint64_t* given_up = nullptr;
};

/// The data between one rank and its peers, in bytes of dense memory.
struct ByteExchange {
  std::vector<ByteRange> given;  ///< by rank, of the source; this rank's own: what it keeps
  std::vector<ByteRange> taken;  ///< by rank, of the destination
  /// If set, received data is reduced into the place of the rank's own data, in rank order. Without a second
  /// round all received ranges are that place.
  std::optional<Reduction> joined = {};
  Dtype dtype = Dtype::u8;
  /// A second round in the same kernel: each rank sends the result of its range to all peers, which store
  /// it in the place of that rank's range. (Reduce-scatter and all-gather; with a root, scatter and
  /// all-gather.)
  bool passed_on = false;
  int root = -1;  ///< without a reduction: the rank that owns all the data and receives none
};

/// What one rank does. All ranks must make the same exchanges one after the other.
struct PacketExchange {
  PacketSlots slots;
  int rank = 0;
  const void* source = nullptr;
  void* destination = nullptr;
  const ByteExchange* ranges = nullptr;
  bool captured = false;  ///< the stream is being captured
};

/// Part of a message between this rank and a peer. Messages are dense; `nest` leads from memory to the
/// message or back, with the same loops at both ends as far as bytes go. Null: the message is empty.
struct PacketPart {
  int peer = 0;
  const kernels::StridedCopy* nest = nullptr;
};

/// An exchange of strided data. Every peer has at least one part in each direction, so that the receiver can
/// recognise the sender's arrival.
struct PacketMoves {
  static constexpr std::size_t most_parts = 24;  ///< given and taken
  static constexpr std::size_t most_kept = 4;
  static constexpr std::size_t most_loops = 6;  ///< of a nest

  PacketSlots slots;
  int rank = 0;
  const void* source = nullptr;
  void* destination = nullptr;
  std::span<const PacketPart> given, taken;    ///< of the source, of the destination
  std::span<const kernels::StridedCopy> kept;  ///< from source to destination
  /// 1, 2, 4 or 8; all lengths, strides and offsets of nests are multiples. 8 bytes are a packet, fewer half
  /// a packet.
  std::int64_t unit_bytes = 1;
  bool captured = false;

  /// What a message needs of a slot.
  static constexpr std::int64_t wire_bytes(std::int64_t message_bytes, std::int64_t unit) {
    constexpr std::int64_t half = PacketSlots::packet_bytes / 2;
    return message_bytes / unit * (unit == PacketSlots::data_bytes ? PacketSlots::packet_bytes : half);
  }
};

}  // namespace partita::devices
