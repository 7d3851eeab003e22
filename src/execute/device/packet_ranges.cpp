#include "execute/device/packet_ranges.hpp"

#include <algorithm>

#include "base/round.hpp"
#include "execute/lower.hpp"

namespace partita::execution {
namespace {

/// Slices of so many bytes, one a rank, some of them empty; of multiples of every element's size. `but`: a
/// rank that gets none.
std::vector<devices::ByteRange> in_slices(int ranks, std::int64_t bytes, int but) {
  constexpr std::int64_t largest_element = 16;
  const std::int64_t takers = but < 0 ? ranks : ranks - 1;
  const std::int64_t slice = round_up(ceil_divide(bytes, takers), largest_element);
  std::vector<devices::ByteRange> ranges;
  std::int64_t begin = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t own = rank == but ? 0 : std::min(slice, bytes - begin);
    ranges.push_back({begin, own});
    begin += own;
  }
  return ranges;
}

/// The offsets of regions in an operand, as long as each is one run, in the order of messages.
class Runs {
 public:
  Runs(const Operand& operand, const planning::SmallExchange& exchange)
      : item_bytes_(size_of(operand.dtype)),
        side_(side_of(operand, exchange.rank, {}, item_bytes_)),
        order_(exchange.source.axis_order),
        ranges_(static_cast<std::size_t>(operand.layout.ranks())) {}

  bool add(int peer, const Region& region) {
    const std::vector<kernels::StridedCopy> nests =
        lower(region, side_, packed_side(region, order_, item_bytes_), item_bytes_);
    if (nests.empty()) return true;
    if (nests.size() > 1 || !nests.front().loops.empty()) return false;
    ranges_[static_cast<std::size_t>(peer)] = {nests.front().from_offset, nests.front().item_bytes};
    return true;
  }
  bool add(const std::vector<planning::SmallExchange::Part>& parts) {
    return std::ranges::all_of(parts, [this](const auto& part) { return add(part.peer, part.region); });
  }
  std::vector<devices::ByteRange> take() { return std::move(ranges_); }

 private:
  std::int64_t item_bytes_;
  Side side_;
  Extents order_;
  std::vector<devices::ByteRange> ranges_;
};

}  // namespace

std::optional<devices::ByteExchange> byte_ranges(const planning::SmallExchange& exchange,
                                                 std::int64_t most_given) {
  if (!exchange.source.dense || !exchange.destination.dense) return std::nullopt;
  Runs given(exchange.source, exchange), taken(exchange.destination, exchange);
  bool in_runs = given.add(exchange.given) && taken.add(exchange.taken);
  for (Runs* const runs : {&given, &taken}) {
    in_runs = in_runs && (!exchange.kept || runs->add(exchange.rank, *exchange.kept));
  }
  if (!in_runs) return std::nullopt;
  devices::ByteExchange ranges{given.take(),          taken.take(),       exchange.joined,
                               exchange.source.dtype, exchange.passed_on, exchange.root};
  const int ranks = exchange.source.layout.ranks();
  if (exchange.passed_on) {
    const std::int64_t bytes = volume(exchange.source.layout.shape()) * size_of(exchange.source.dtype);
    if (exchange.joined || exchange.rank == exchange.root)
      ranges.given = in_slices(ranks, bytes, exchange.root);
    if (exchange.rank != exchange.root) ranges.taken = in_slices(ranks, bytes, exchange.root);
  }
  const std::int64_t most = exchange.passed_on ? devices::PacketSlots::most_slice_bytes(ranks, most_given)
                                               : devices::PacketSlots::most_bytes(ranks, most_given);
  const auto is_small = [most](const devices::ByteRange& range) { return range.bytes <= most; };
  if (!std::ranges::all_of(ranges.given, is_small) || !std::ranges::all_of(ranges.taken, is_small)) {
    return std::nullopt;
  }
  return ranges;
}

}  // namespace partita::execution
