// Exchanges, types and reductions as the kernels take them.
#pragma once

#include <optional>

#include "device/accelerator.hpp"
#include "device/copy_way.hpp"
#include "device/launch_room.hpp"
#include "device/packet_exchange.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/packet_launch.hpp"

namespace partita::devices {

/// Throws UnsupportedError: more loops than kernels take.
kernels::cuda::Nest kernel_nest(const kernels::StridedCopy& nest);
kernels::cuda::Flags kernel_flags(std::span<const FlagOperation> operations);

/// Whether one launch does an exchange.
class ExchangeFit {
 public:
  ExchangeFit(const PeerExchange& what, CopyWay way) : what_(what), way_(way) {}
  bool one_kernel() const { return flags() && copies() && packs(); }
  bool copies() const;
  /// Whether it is a kernel that does this copy.
  static bool fits(const PlacedCopy& one, CopyWay way);

 private:
  bool flags() const;
  bool packs() const;

  const PeerExchange& what_;
  CopyWay way_;
};

/// `counters`: of a cuda::PackExchange, too.
kernels::cuda::Exchange kernel_exchange(const PeerExchange& what, unsigned* counters, unsigned most_blocks);
kernels::cuda::PackExchange kernel_pack_exchange(const PeerExchange& what, unsigned* counters,
                                                 unsigned most_blocks);

/// The type as which the joining kernels take elements: sums of complex numbers are sums of twice as many
/// real ones. Nothing where they do not join these.
std::optional<Dtype> joined_dtype(Dtype dtype, Reduction reduction);

/// Reductions support the dtypes of `joined_dtype`.
kernels::cuda::Packets kernel_packets(const PacketExchange& what, const LaunchRoom& room);
kernels::cuda::PacketNests kernel_packet_nests(const PacketMoves& what, const LaunchRoom& room);

}  // namespace partita::devices
