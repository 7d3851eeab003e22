// The buffers of every redistribution's plan, by number.
#pragma once

namespace partita::redistribution {

inline constexpr int source_buffer = 0;
inline constexpr int destination_buffer = 1;
inline constexpr int shared_buffer = 2;
inline constexpr int private_buffer = 3;

}  // namespace partita::redistribution
