// Small exchanges of a node in one start and one way: every word travels with a number, by which its receiver
// sees that it has come. No flags beside the data, no second round. (NCCL's protocol LL; Jeaugey, GTC 2019.)
#pragma once

#include <cstdint>
#include <optional>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>
#include <span>

namespace partita {

/// Bytes of a dense view.
struct Parcel {
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
  /// What a rank may give to all its peers together. Twice as much travels, which is worth it while the time
  /// is that of starts and flights, as measured (docs/performance.md).
  static constexpr std::int64_t most_given = std::int64_t{1} << 20;

  /// Of one parcel. At least two ranks.
  static constexpr std::int64_t most_bytes(int ranks) {
    return most_given / (ranks - 1) / data_bytes * data_bytes;
  }
  static constexpr std::int64_t slot_bytes(int ranks) {
    return most_bytes(ranks) / data_bytes * packet_bytes;
  }
  static constexpr std::int64_t bytes(int ranks) { return 2 * ranks * slot_bytes(ranks); }
  /// At least one: without it nobody would know that the sender has come.
  static std::int64_t packets(std::int64_t bytes) {
    return bytes <= data_bytes ? 1 : (bytes + data_bytes - 1) / data_bytes;
  }

  std::span<char* const> of_ranks;  ///< by rank, as they are mapped here
  /// Two numbers in this device's memory, 0 at first: exchanges that are done, blocks of a launch that are.
  /// The device counts itself: a graph may repeat an exchange.
  std::uint32_t* counters = nullptr;
  /// In this device's memory; once it is not 0, waits end.
  const std::uint64_t* given_up = nullptr;
};

/// What one rank does. All ranks must make the same exchanges one after the other.
struct PacketExchange {
  PacketSlots slots;
  int rank = 0;
  const void* source = nullptr;
  void* destination = nullptr;
  std::span<const Parcel> given;  ///< by rank, of the source; this rank's own: what it keeps
  std::span<const Parcel> taken;  ///< by rank, of the destination
  /// All parcels that are taken are the same place, and joined there in the order of ranks.
  std::optional<Reduction> joined;
  Dtype dtype = Dtype::u8;
};

}  // namespace partita
