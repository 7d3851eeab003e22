// Copy engine or kernel: how a device carries out a strided copy.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/host/copy.hpp"

namespace partita {

enum class CopyWay : std::uint8_t {
  automatic,
  engine,  ///< the copy engine, one two-dimensional copy at a time: long rows
  kernel,  ///< a kernel with accesses as wide as both sides allow: short rows, few bytes, transpositions
};

struct CopyChoice {
  CopyWay way = CopyWay::kernel;
  std::string reason;
};

/// For a simplified nest. A wish for the engine is granted only where it can do it. Pure.
/// `inside`: within one device, whose multiprocessors copy several times faster than its engines.
CopyChoice choose_copy_way(const StridedCopy& nest, bool inside, CopyWay wanted = CopyWay::automatic);

/// PARTITA_COPY_WAY: "engine" or "kernel"; unset or "automatic": chosen. Throws ArgumentError.
CopyWay copy_way_of_environment();

}  // namespace partita
