// Runs of half-precision numbers to and from f32, at the machine's speed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/half.hpp"

namespace partita {

/// Converts `count` numbers; `from` and `to` need no alignment on the half-precision side and do not overlap.
/// Thread-safe.
void widen(const std::byte* from, float* to, std::int64_t count, Float16 kind);
void widen(const std::byte* from, float* to, std::int64_t count, BFloat16 kind);
void narrow(const float* from, std::byte* to, std::int64_t count, Float16 kind);
void narrow(const float* from, std::byte* to, std::int64_t count, BFloat16 kind);

}  // namespace partita
