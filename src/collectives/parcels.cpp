#include "collectives/parcels.hpp"

namespace partita::collective {

std::vector<Parcel> in_a_row(int ranks, std::int64_t bytes, std::span<const std::int64_t> counts) {
  std::vector<Parcel> parcels;
  std::int64_t end = 0;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    const std::int64_t own = counts.empty() ? bytes : counts[rank] * bytes;
    parcels.push_back({end, own});
    end += own;
  }
  return parcels;
}

std::int64_t bytes_of_row(const View& view) {
  std::int64_t bytes = size_of(view.dtype);
  for (int i = 1; i < view.extents.size(); ++i) bytes *= view.extents[i];
  return bytes;
}

std::vector<Parcel> for_each_rank(int ranks, std::int64_t bytes) {
  return std::vector<Parcel>(static_cast<std::size_t>(ranks), Parcel{0, bytes});
}

}  // namespace partita::collective
