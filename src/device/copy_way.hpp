// Copy engine or kernel: how a device carries out a strided copy.
#pragma once

#include <cstdint>
#include <partita/context.hpp>
#include <span>
#include <string>

#include "device/device_work.hpp"

namespace partita::devices {

struct CopyChoice {
  CopyWay way = CopyWay::kernel;
  std::string reason;
};

/// For a simplified nest. A wish for the engine is granted only where it can do it. Pure.
/// Within one device its multiprocessors copy several times faster than its engines.
CopyChoice choose_copy_way(const kernels::StridedCopy& nest, CopyScope scope,
                           CopyWay wanted = CopyWay::automatic);

/// Between a device and pinned host memory, over a bus that its engines fill with pieces of some 256 KiB.
enum class BusWay : std::uint8_t {
  kernel,          ///< whose loads and stores cross the bus: few bytes
  engine,          ///< straight from or to where they belong: long rows
  through_device,  ///< a kernel to or from dense memory of the device, and one copy of the engine
};

struct BusChoice {
  BusWay way = BusWay::kernel;
  std::string reason;
};

/// Up to so many bytes a kernel is done before two starts are.
inline constexpr std::int64_t few_bytes_on_bus = std::int64_t{64} << 10;

/// For the simplified nests of one piece, which is dense on the host's side. Pure.
BusChoice choose_bus_way(std::span<const kernels::StridedCopy> nests, CopyWay wanted = CopyWay::automatic);

}  // namespace partita::devices
