// Exchanges of packets as the kernel takes them.
#pragma once

#include "device/packet_exchange.hpp"
#include "kernels/cuda/launch.hpp"

namespace partita {

/// What is joined is what `kernel_numbers` knows.
cuda::Packets kernel_packets(const PacketExchange& what);

}  // namespace partita
