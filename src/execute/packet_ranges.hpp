// Small exchanges as bytes of dense memory.
#pragma once

#include <optional>

#include "device/packet_exchange.hpp"
#include "plan/small_exchange.hpp"

namespace partita {

/// Nothing where something does not lie in one run of dense memory on this rank, or is too large. Pure.
std::optional<ByteExchange> byte_ranges(const SmallExchange& exchange);

}  // namespace partita
