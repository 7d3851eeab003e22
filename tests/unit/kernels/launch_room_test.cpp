#include "device/launch_room.hpp"

#include <gtest/gtest.h>

#include "kernels/cuda/packet_launch.hpp"

namespace partita::testing {
namespace {

using devices::launch_room;
using devices::LaunchRoom;
using kernels::cuda::packet_grid;

constexpr int slices[] = {7, 14, 16, 26, 32, 60, 78, 96, 108, 132, 148};  // multiprocessors

// Blocks that wait for packets of others that found no room would wait for ever.
TEST(LaunchRoom, AllThatShareADeviceFindRoomOnIt) {
  for (const int multiprocessors : slices) {
    const int packets = kernels::cuda::packet_blocks_per_multiprocessor * multiprocessors;
    const int flags = kernels::cuda::exchange_blocks_per_multiprocessor * multiprocessors;
    for (int users = 1; users <= packets; ++users) {
      const LaunchRoom room = launch_room(multiprocessors, users);
      EXPECT_LE(static_cast<unsigned>(users) * (room.packets + room.packets_ahead),
                static_cast<unsigned>(packets))
          << users << " on " << multiprocessors;
      EXPECT_LE(static_cast<unsigned>(users) * room.flags, static_cast<unsigned>(flags))
          << users << " on " << multiprocessors;
    }
  }
}

TEST(LaunchRoom, AWholeDeviceHasAsManyBlocksAsPacketsWant) {
  EXPECT_EQ(launch_room(132, 1).packets, 128U);
  EXPECT_EQ(launch_room(132, 1).packets_ahead, 64U);
  EXPECT_EQ(launch_room(132, 1).flags, 264U);
}

TEST(LaunchRoom, NoLaunchOfPacketsIsLargerThanItsRoom) {
  for (const int multiprocessors : slices) {
    for (int users = 1; users <= 8; ++users) {
      for (int ranks = 1; ranks <= kernels::cuda::most_packet_ranks; ++ranks) {
        for (const std::int64_t packets : {1, 31, 33, 511, 513, 10000, 1000000}) {
          for (const bool apart : {false, true}) {
            kernels::cuda::PacketSeat seat;
            seat.ranks = ranks;
            seat.most_blocks = launch_room(multiprocessors, users).packets;
            const auto grid = packet_grid(seat, apart, packets, 256);
            EXPECT_GE(grid.blocks, 1U);
            EXPECT_LE(grid.blocks * grid.peers, seat.most_blocks);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace partita::testing
