// Small exchanges as bytes of dense memory.
#pragma once

#include <optional>

#include "device/packet_exchange.hpp"
#include "plan/small_exchange.hpp"

namespace partita::execution {

/// Nothing where something does not lie in one run of dense memory on this rank, or is too large: a rank
/// gives `most_given` bytes to all others together at most. Pure.
std::optional<devices::ByteExchange> byte_ranges(const planning::SmallExchange& exchange,
                                                 std::int64_t most_given = devices::PacketSlots::most_given);

}  // namespace partita::execution
