// Small exchanges as bytes of dense memory.
#pragma once

#include <optional>

#include "device/packet_exchange.hpp"
#include "plan/small_exchange.hpp"

namespace partita::execution {

/// Empty if any data is not contiguous on this rank, or too large: a rank sends at most `most_given` bytes to
/// all peers together. Pure.
std::optional<devices::ByteExchange> byte_ranges(const planning::SmallExchange& exchange,
                                                 std::int64_t most_given = devices::PacketSlots::most_given);

}  // namespace partita::execution
