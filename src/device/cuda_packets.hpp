// Exchanges of packets as the kernels take them.
#pragma once

#include "device/packet_exchange.hpp"
#include "kernels/cuda/packet_launch.hpp"

namespace partita {

/// What is joined is what `kernel_numbers` knows. `sharers`: ranks that use the device.
cuda::Packets kernel_packets(const PacketExchange& what, int sharers, bool may_overlap);
cuda::PacketNests kernel_packet_nests(const PacketMoves& what, int sharers, bool may_overlap);

}  // namespace partita
