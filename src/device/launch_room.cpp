#include "device/launch_room.hpp"

#include <algorithm>

#include "kernels/cuda/packet_launch.hpp"

namespace partita::devices {
namespace {

/// More do not make an exchange of packets faster.
constexpr int most_packet_blocks = 128;
constexpr int most_blocks_ahead = 64;
/// Fill the links, and leave room for others.
constexpr int flag_blocks_per_multiprocessor = 2;
static_assert(flag_blocks_per_multiprocessor <= kernels::cuda::exchange_blocks_per_multiprocessor &&
              flag_blocks_per_multiprocessor <= kernels::cuda::pack_blocks_per_multiprocessor);

}  // namespace

LaunchRoom launch_room(int multiprocessors, int users) {
  const int packets = kernels::cuda::packet_blocks_per_multiprocessor * multiprocessors / users;
  const int ahead = packets / 3;
  LaunchRoom room;
  room.packets = static_cast<unsigned>(std::clamp(packets - ahead, 1, most_packet_blocks));
  room.packets_ahead = static_cast<unsigned>(std::min(ahead, most_blocks_ahead));
  room.flags = static_cast<unsigned>(std::max(flag_blocks_per_multiprocessor * multiprocessors / users, 1));
  room.solves = static_cast<unsigned>(std::max(multiprocessors / users, 1));
  return room;
}

}  // namespace partita::devices
