#include "collectives/byte_ranges.hpp"

#include <algorithm>

namespace partita::collective {

std::vector<ByteRange> in_a_row(int ranks, std::int64_t bytes, std::span<const std::int64_t> counts) {
  std::vector<ByteRange> ranges;
  std::int64_t end = 0;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    const std::int64_t own = counts.empty() ? bytes : counts[rank] * bytes;
    ranges.push_back({end, own});
    end += own;
  }
  return ranges;
}

std::int64_t bytes_of_row(const View& view) {
  std::int64_t bytes = size_of(view.dtype);
  for (int i = 1; i < view.extents.size(); ++i) bytes *= view.extents[i];
  return bytes;
}

std::vector<ByteRange> for_each_rank(int ranks, std::int64_t bytes) {
  return std::vector<ByteRange>(static_cast<std::size_t>(ranks), ByteRange{0, bytes});
}

std::vector<ByteRange> in_slices(int ranks, std::int64_t bytes, int but) {
  constexpr std::int64_t largest_element = 16;
  const std::int64_t takers = but < 0 ? ranks : ranks - 1;
  const std::int64_t share = (bytes + takers - 1) / takers;
  const std::int64_t slice = (share + largest_element - 1) / largest_element * largest_element;
  std::vector<ByteRange> ranges;
  std::int64_t begin = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t own = rank == but ? 0 : std::min(slice, bytes - begin);
    ranges.push_back({begin, own});
    begin += own;
  }
  return ranges;
}

// Of n bytes a rank gives n (P - 1) in one round and 2 n (P - 1) / P in two; the second costs a flight.
bool prefers_slices(int ranks, std::int64_t bytes) {
  constexpr std::int64_t bytes_of_a_flight = 320 << 10;
  return bytes * (ranks - 1) * (ranks - 2) / ranks >= bytes_of_a_flight;
}

}  // namespace partita::collective
