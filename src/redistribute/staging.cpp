#include "redistribute/staging.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/check.hpp"
#include "plan/message_window.hpp"

namespace partita::redistribution {

namespace {

constexpr std::int64_t kibibyte = 1024;
constexpr std::int64_t mebibyte = 1024 * kibibyte;
constexpr std::int64_t line = 64;

// Shared staging: the slots of a rank stay in its second-level cache, and a chunk is long enough that a
// handshake costs little.
constexpr std::int64_t ring_bytes = 32 * mebibyte;
constexpr std::int64_t largest_chunk = 2 * mebibyte;
constexpr std::int64_t short_chunk = 64 * kibibyte;  // below it, fewer slots rather than shorter chunks
constexpr std::int64_t smallest_chunk = 32 * kibibyte;
constexpr std::int64_t most_ring_bytes = 64 * mebibyte;  // which ends what the smallest chunk asks for

// Messages: eight of the largest in flight each way, many more where they are small.
constexpr std::int64_t window_bytes = 8 * mebibyte;
constexpr std::int64_t largest_message = mebibyte;
constexpr std::int64_t window_messages = 8;
// Of device memory, a message costs some starts; twice as much of it was slower (docs/performance.md).
constexpr std::int64_t device_window_bytes = 16 * mebibyte;
constexpr std::int64_t largest_device_message = 2 * mebibyte;

std::int64_t round_down(std::int64_t bytes) {
  return bytes / line * line;
}
std::int64_t round_up(std::int64_t bytes) {
  return (bytes + line - 1) / line * line;
}

std::int64_t largest_node(const Topology& topology) {
  std::unordered_map<int, std::int64_t> ranks_of;
  std::int64_t result = 0;
  for (int rank = 0; rank < topology.ranks(); ++rank) {
    result = std::max(result, ++ranks_of[topology.node(rank)]);
  }
  return result;
}

// No transfer is larger than the smaller of the two local parts.
std::int64_t largest_transfer(const Problem& problem) {
  const std::int64_t elements =
      std::min(problem.source.layout.largest_local_size(), problem.destination.layout.largest_local_size());
  return std::max(round_up(elements * problem.item_bytes()), line);
}

void choose_shared(Staging& staging, std::int64_t peers, std::int64_t bound, std::int64_t transfer) {
  const std::int64_t budget = bound > 0 ? bound : ring_bytes;
  staging.slots = 4;
  staging.chunk = round_down(budget / (peers * staging.slots));
  if (staging.chunk < short_chunk) {
    staging.slots = 2;
    staging.chunk = round_down(budget / (peers * staging.slots));
  }
  if (bound == 0) {
    const std::int64_t affordable = std::max(round_down(most_ring_bytes / (peers * staging.slots)), line);
    staging.chunk = std::max(staging.chunk, std::min(smallest_chunk, affordable));
  }
  staging.chunk = std::min({staging.chunk, largest_chunk, transfer});
  staging.shared_bytes = peers * staging.slots * staging.chunk;
}

void choose_private(Staging& staging, const Problem& problem, std::int64_t bound, std::int64_t transfer) {
  const std::int64_t ranks = problem.topology.ranks();
  const bool on_device = problem.source.space == MemorySpace::device;
  const std::int64_t room = on_device ? device_window_bytes : window_bytes;
  const std::int64_t budget = bound > 0 ? round_down(bound / 2) : room;
  const std::int64_t longest = std::max(round_down(budget / window_messages), std::min(budget, line));
  const std::int64_t most = on_device ? largest_device_message : largest_message;
  staging.message = std::min({longest, most, transfer});
  // Little to send needs little room: every peer's messages at once, at most as many as may be in flight.
  const std::int64_t useful =
      staging.message * std::clamp<std::int64_t>(2 * ranks, window_messages,
                                                 static_cast<std::int64_t>(FifoWindow::most_pieces));
  staging.window = std::min(budget, useful);
  staging.private_bytes = 2 * staging.window;
}

}  // namespace

Staging choose_staging(const Problem& problem, const Method& method) {
  Staging staging;
  const bool shared = method.uses_staging();
  const bool messages = method.uses_messages();
  const std::int64_t peers = shared ? largest_node(problem.topology) - 1 : 0;
  const std::int64_t bound = problem.options.staging_bytes;
  const std::int64_t least = (shared ? 2 * peers * line : 0) + (messages ? 2 * line : 0);
  check(bound == 0 || bound >= 2 * least, "staging_bytes is {}, but this redistribution needs at least {}",
        bound, 2 * least);
  const std::int64_t share = shared && messages ? bound / 2 : bound;
  const std::int64_t transfer = largest_transfer(problem);
  if (shared) choose_shared(staging, peers, share, transfer);
  if (messages) choose_private(staging, problem, share, transfer);
  if (!problem.accumulates) return staging;
  // Contributions meet piece by piece, whichever way each came: all ways cut alike.
  staging.piece = largest_chunk;
  if (shared) staging.piece = std::min(staging.piece, staging.chunk);
  if (messages) staging.piece = std::min(staging.piece, staging.message);
  if (shared) staging.chunk = staging.piece;
  if (messages) staging.message = staging.piece;
  return staging;
}

}  // namespace partita::redistribution
