// Part p of the destination of rank q = part q of the source of rank p, of counts[p][q] indices.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <partita/collectives.hpp>

#include "array/transfer.hpp"
#include "base/check.hpp"
#include "collectives/collective.hpp"
#include "collectives/layouts.hpp"
#include "collectives/pairwise_exchange.hpp"
#include "collectives/parts.hpp"
#include "collectives/plans.hpp"
#include "collectives/posted_exchange.hpp"

namespace partita {
namespace collective {
namespace {

std::int64_t sent(const Counts& counts, int sender, int until) {
  const auto& row = counts[static_cast<std::size_t>(sender)];
  return std::accumulate(row.begin(), row.begin() + until, std::int64_t{0});
}

std::int64_t received(const Counts& counts, int receiver, int until) {
  std::int64_t sum = 0;
  for (int p = 0; p < until; ++p)
    sum += counts[static_cast<std::size_t>(p)][static_cast<std::size_t>(receiver)];
  return sum;
}

/// Indices [first, first + count) of rank's view, all of the rest.
Region part(int rank, std::int64_t first, std::int64_t count, const Shape& space) {
  Region region{{IndexSet::range(rank, rank + 1), IndexSet::range(first, first + count)}};
  for (int d = 2; d < space.size(); ++d) region.sets.push_back(IndexSet::range(0, space[d]));
  return region;
}

/// What a rank gives each peer, in the space of its source.
std::vector<Piece> given_by(const Counts& counts, int rank, const Shape& source) {
  std::vector<Piece> pieces;
  std::int64_t first = 0;
  for (const std::int64_t count : counts[static_cast<std::size_t>(rank)]) {
    pieces.push_back({static_cast<int>(pieces.size()), part(rank, first, count, source)});
    first += count;
  }
  return pieces;
}

std::int64_t largest_count(const Counts& counts) {
  std::int64_t largest = 0;
  for (const auto& row : counts) largest = std::max(largest, *std::max_element(row.begin(), row.end()));
  return largest;
}

/// What each rank says that it sends and expects. Collective; the same errors on every rank.
Counts agreed_counts(ContextState& context, std::span<const std::int64_t> send,
                     std::span<const std::int64_t> receive) {
  const auto ranks = static_cast<std::size_t>(context.size());
  std::vector<std::int64_t> mine{static_cast<std::int64_t>(send.size())};
  mine.insert(mine.end(), send.begin(), send.end());
  mine.insert(mine.end(), receive.begin(), receive.end());
  const Counts all = runtime::exchange_values(context, "all_to_all_v", mine);
  Counts sends, receives;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::vector<std::int64_t>& numbers = all[rank];
    check(numbers.size() == 2 * ranks + 1 && numbers[0] == static_cast<std::int64_t>(ranks),
          "all_to_all_v: rank {} passes {} and {} counts, but there are {} ranks", rank, numbers[0],
          static_cast<std::int64_t>(numbers.size()) - 1 - numbers[0], ranks);
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      check(numbers[i] >= 0, "all_to_all_v: rank {} passes a count of {}", rank, numbers[i]);
    }
    std::int64_t given = 0, taken = 0;
    for (std::size_t i = 0; i < ranks; ++i) {
      check(!__builtin_add_overflow(given, numbers[1 + i], &given) &&
                !__builtin_add_overflow(taken, numbers[1 + ranks + i], &taken),
            "all_to_all_v: the counts of rank {} are more than 2^63 - 1 together", rank);
    }
    const auto middle = numbers.begin() + 1 + static_cast<std::ptrdiff_t>(ranks);
    sends.emplace_back(numbers.begin() + 1, middle);
    receives.emplace_back(middle, numbers.end());
  }
  for (std::size_t p = 0; p < ranks; ++p) {
    for (std::size_t q = 0; q < ranks; ++q) {
      check<DisagreementError>(sends[p][q] == receives[q][p],
                               "all_to_all_v: rank {} sends {} to rank {}, which expects {}", p, sends[p][q],
                               q, receives[q][p]);
    }
  }
  return sends;
}

/// All of them, one row after the other.
std::vector<std::int64_t> in_one_row(const Counts& counts) {
  std::vector<std::int64_t> all;
  for (const auto& row : counts) all.insert(all.end(), row.begin(), row.end());
  return all;
}

Counts in_rows(std::span<const std::int64_t> all, int ranks) {
  Counts counts;
  for (std::size_t begin = 0; begin < all.size(); begin += static_cast<std::size_t>(ranks)) {
    const auto row = all.subspan(begin, static_cast<std::size_t>(ranks));
    counts.emplace_back(row.begin(), row.end());
  }
  return counts;
}

void check_one(const View& view, std::int64_t first, const Shape& rest, Dtype dtype, int rank) {
  Shape wanted = rest;
  wanted[0] = first;
  check(view.extents == wanted && view.strides.size() == wanted.size(),
        "all_to_all_v: a view of rank {} is {}, but {} is expected", rank, to_string(view.extents),
        to_string(wanted));
  check(view.dtype == dtype, "all_to_all_v: the views of rank {} are {} and {}", rank, name(dtype),
        name(view.dtype));
  check(view.data != nullptr || volume(wanted) == 0, "all_to_all_v: a view of rank {} is a null pointer",
        rank);
}

/// On a device, launches take most of the time: what fits is launched at once, in separate scratch.
constexpr std::int64_t most_at_once = std::int64_t{64} << 20;

std::int64_t most_posted_bytes(const Counts& counts, const Request& request, const Shape& source) {
  const std::int64_t item = size_of(request.operands[0].dtype);
  std::int64_t most = 0;
  for (int rank = 0; rank < request.ranks(); ++rank) {
    most = std::max(most, posted_bytes(given_by(counts, rank, source), request.topology, rank, item,
                                       MemorySpace::device));
  }
  return most;
}

/// Of the largest view of any rank, the same on all; what is refused for its size is the largest there is.
std::int64_t largest_view_bytes(const Counts& counts, const Shape& rest, Dtype dtype) {
  const int ranks = static_cast<int>(counts.size());
  std::int64_t bytes = size_of(dtype), rows = 0;
  for (int rank = 0; rank < ranks; ++rank)
    rows = std::max({rows, sent(counts, rank, ranks), received(counts, rank, ranks)});
  for (int d = 0; d < rest.size(); ++d) {
    if (__builtin_mul_overflow(bytes, d == 0 ? rows : rest[d], &bytes))
      return std::numeric_limits<std::int64_t>::max();
  }
  return bytes;
}

/// The parts of a dense view, of so many rows each.
template <class Rows>
std::vector<devices::DeviceGroup::Part> parts_of(const View& view, int ranks, const Rows& rows) {
  const std::int64_t row = view.extents[1] == 0 ? 0 : arrays::bytes_of(view) / view.extents[1];
  std::vector<devices::DeviceGroup::Part> parts;
  auto* data = static_cast<char*>(view.data);
  for (int peer = 0; peer < ranks; ++peer) {
    const std::int64_t bytes = rows(peer) * row;
    if (bytes > 0) parts.push_back({peer, data, bytes});
    data += bytes;
  }
  return parts;
}

}  // namespace

Plan plan_all_to_all_v(const Request& request, const Counts& counts) {
  const int rank = request.rank;
  const Shape& source = request.operands[0].layout.shape();
  const Shape& destination = request.operands[1].layout.shape();
  constexpr const char* names[] = {"source", "destination"};
  Chain chain(request, names, "exchange", "parts through rings and messages");
  ExchangedPieces moves{given_by(counts, rank, source), {}};
  for (int peer = 0; peer < request.ranks(); ++peer) {
    const auto from = counts[static_cast<std::size_t>(peer)][static_cast<std::size_t>(rank)];
    moves.taken.push_back({peer, part(rank, received(counts, rank, peer), from, destination)});
  }
  if (request.operands[0].space == MemorySpace::device && !request.grouped) {
    const std::int64_t bytes = most_posted_bytes(counts, request, source);
    if (bytes <= most_at_once) {
      append_posted_exchange(
          chain, 0, 1, moves, [&](int giver) { return given_by(counts, giver, source); }, bytes);
      return chain.take();
    }
  }
  Shape one = source;
  one[0] = 1;
  one[1] = largest_count(counts);
  append_pairwise_exchange(chain, 0, 1, moves, volume(one));
  return chain.take();
}

namespace {

class AllToAllV final : public Collective {
 public:
  AllToAllV(ContextState& context, const Call& call, const HeapOffsets& places)
      : Collective(context, call, places), matrix_(in_rows(counts(), context.size())) {}

 private:
  std::vector<Layout> layouts() const override {
    check(!call().shape.empty(), "all_to_all_v: the parts need at least one dimension");
    std::vector<Layout> result;
    for (const auto& length : {sent, received}) {
      Shape shape = call().shape;
      for (int r = 0; r < ranks(); ++r) shape[0] = std::max(shape[0], length(matrix_, r, ranks()));
      result.push_back(by_rank(shape, ranks()));
    }
    return result;
  }
  Plan make_plan(const Request& request) const override { return plan_all_to_all_v(request, matrix_); }
  void check_own(const Views& views) const override {
    const auto& [source, destination] = views;
    check_one(source, sent(matrix_, rank(), ranks()), call().shape, call().dtype, rank());
    check_one(destination, received(matrix_, rank(), ranks()), call().shape, call().dtype, rank());
    check_apart("all_to_all_v", source, destination);
  }
  View planned(std::size_t /*operand*/, const View& view) const override { return with_rank(view); }
  bool has_extents_of_layouts() const override { return false; }
  bool is_redistribution() const override { return false; }
  bool is_offered_by(const devices::DeviceGroup& /*library*/) const override { return true; }
  void put(devices::DeviceGroup& library, std::span<const View> views, Stream stream) const override {
    const auto own = static_cast<std::size_t>(rank());
    const auto given = [&](int peer) { return matrix_[own][static_cast<std::size_t>(peer)]; };
    const auto taken = [&](int peer) { return matrix_[static_cast<std::size_t>(peer)][own]; };
    library.exchange(parts_of(views[0], ranks(), given), parts_of(views[1], ranks(), taken), stream);
  }

  Counts matrix_;
};

}  // namespace
}  // namespace collective

void all_to_all_v(const Context& context, const View& source, const View& destination,
                  std::span<const std::int64_t> send_counts, std::span<const std::int64_t> receive_counts,
                  std::optional<Stream> stream) {
  using namespace collective;
  context.state()->require_usable("all_to_all_v");
  const Counts counts = agreed_counts(*context.state(), send_counts, receive_counts);
  const std::vector<std::int64_t> all = in_one_row(counts);
  Call call{.operation = "all_to_all_v",
            .shape_name = "shape without dimension 0",
            .shape = source.extents,
            .dtype = source.dtype,
            .counts = all,
            .stream = stream,
            .views = {source, destination}};
  if (!call.shape.empty()) call.shape[0] = 0;
  if (space_of(call.views) == MemorySpace::device)
    call.bytes = largest_view_bytes(counts, call.shape, source.dtype);
  run<AllToAllV>(context, call);
}

}  // namespace partita
