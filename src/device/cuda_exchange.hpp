// Exchanges as the kernels take them.
#pragma once

#include "device/accelerator.hpp"
#include "device/copy_way.hpp"
#include "kernels/cuda/launch.hpp"

namespace partita {

/// Throws UnsupportedError: more loops than kernels take.
cuda::Nest kernel_nest(const StridedCopy& nest);
cuda::Flags kernel_flags(std::span<const FlagOperation> operations);

/// Whether one launch does an exchange.
class ExchangeFit {
 public:
  ExchangeFit(const PeerExchange& what, CopyWay way) : what_(what), way_(way) {}
  bool one_kernel() const { return flags() && copies() && packs(); }
  bool copies() const;

 private:
  bool flags() const;
  bool packs() const;
  bool fits(const PlacedCopy& one) const;

  const PeerExchange& what_;
  CopyWay way_;
};

/// `counters`: of a cuda::PackExchange, too.
cuda::Exchange kernel_exchange(const PeerExchange& what, unsigned* counters, unsigned most_blocks);
cuda::PackExchange kernel_pack_exchange(const PeerExchange& what, unsigned* counters);

}  // namespace partita
