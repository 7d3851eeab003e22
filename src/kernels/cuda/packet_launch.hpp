// Exchanges of packets on a CUDA device, started by plain functions: nothing of CUDA's language shows here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/launch.hpp"

namespace partita::kernels::cuda {

inline constexpr int most_packet_ranks = 8;
inline constexpr int packet_threads = 512;
/// A multiprocessor has room for at least so many blocks of the kernels here.
inline constexpr int packet_blocks_per_multiprocessor = 2;
/// How exchanges are numbered; see partita::PacketSlots.
inline constexpr std::uint32_t packet_wrap = 2, packet_renewal = std::uint32_t{1} << 31;

/// What all launches of packets know.
struct PacketSeat {
  int ranks = 0, me = 0;
  char* slots[most_packet_ranks] = {};
  std::int64_t slot_bytes = 0;
  std::uint32_t* counters = nullptr;
  const std::uint64_t* given_up = nullptr;
  /// All ranks that share a device must find room on it: their blocks wait for one another. At least 1. Ranks
  /// may have other numbers: none has a meaning to peers.
  unsigned most_blocks = 1;
  /// A launch of so many blocks may take its place on the device before the stream has done what it was given
  /// before. 0: none may.
  unsigned most_ahead = 0;
};

/// The grid of a launch that moves or reduces ranges: `peers` rows of blocks, if there is room, each for one
/// rank.
struct PacketGrid {
  unsigned blocks = 1, peers = 1, threads = 32;
};
/// As many threads as there are packets, in whole warps.
inline unsigned packet_threads_for(std::int64_t packets, int most = packet_threads) {
  const std::int64_t warps = (packets + 31) / 32;
  return static_cast<unsigned>(std::clamp<std::int64_t>(32 * warps, 32, most));
}
inline PacketGrid packet_grid(const PacketSeat& seat, bool peers_apart, std::int64_t packets,
                              int most_threads) {
  PacketGrid grid;
  grid.threads = packet_threads_for(packets, most_threads);
  grid.peers = peers_apart ? std::min(static_cast<unsigned>(seat.ranks), seat.most_blocks) : 1;
  const auto wanted = static_cast<unsigned>((packets + grid.threads - 1) / grid.threads);
  grid.blocks = std::min(wanted, seat.most_blocks / grid.peers);
  return grid;
}

/// One rank's side of an exchange of packets; see partita::PacketExchange. Bytes, and packets: at least one.
struct Packets {
  PacketSeat seat;
  const char* source = nullptr;
  char* destination = nullptr;
  std::int64_t given_offsets[most_packet_ranks] = {}, taken_offsets[most_packet_ranks] = {};
  std::int64_t given_bytes[most_packet_ranks] = {}, taken_bytes[most_packet_ranks] = {};
  std::int64_t given_packets[most_packet_ranks] = {}, taken_packets[most_packet_ranks] = {};
  bool aligned = false;  // source, destination and all offsets to 8 bytes
  bool joined = false;
  bool passed_on = false;
  int root = -1;
  Dtype element = Dtype::f32;
  Reduction operation = Reduction::sum;
};

/// A nest between this device's memory and a message, in units; see partita::PacketMoves.
struct PacketNest {
  static constexpr int most_loops = 6;
  struct Loop {
    std::int64_t bytes;   // of memory
    std::uint32_t units;  // of the message
    std::uint32_t count;
  };
  char* memory = nullptr;
  std::uint32_t units = 0;  // in all; 0: only a sign that the sender is there
  std::uint32_t row_units = 1;
  std::uint32_t first = 0;  // number of the first in the message
  std::int16_t peer = 0, loops = 0;
  Loop loop[most_loops] = {};  // outermost first
};

/// A nest inside this device's memory.
struct KeptNest {
  struct Loop {
    std::int64_t from_bytes, to_bytes;
    std::uint32_t count;
  };
  const char* from = nullptr;
  char* to = nullptr;
  std::uint32_t units = 0, row_units = 1;
  int loops = 0;
  Loop loop[PacketNest::most_loops] = {};
};

inline constexpr int most_packet_nests = 24;
inline constexpr int most_kept_nests = 4;

struct PacketNests {
  PacketSeat seat;
  int unit_bytes = 1;    // 1, 2, 4, 8
  bool aligned = false;  // the memory of all nests to units
  int given = 0, taken = 0, kept = 0;
  unsigned parts = 1;                  // blocks that share a nest
  PacketNest nest[most_packet_nests];  // what is given, then what is taken
  KeptNest kept_nest[most_kept_nests];
};

/// Each gives a cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_packets(const Packets& packets, void* stream);
int launch_packet_nests(PacketNests& nests, void* stream);  // sets `parts`

/// See load_copy_kernels.
int load_packet_kernels();
int load_packet_nest_kernels();

}  // namespace partita::kernels::cuda
