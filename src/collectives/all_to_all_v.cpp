// Part p of the destination of rank q = part q of the source of rank p, of counts[p][q] indices.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <partita/collectives.hpp>

#include "base/check.hpp"
#include "collectives/layouts.hpp"
#include "collectives/pairwise_exchange.hpp"
#include "collectives/parts.hpp"
#include "collectives/plans.hpp"
#include "context/context_state.hpp"

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
          "all_to_all_v: rank {} gives {} and {} counts, but there are {} ranks", rank, numbers[0],
          static_cast<std::int64_t>(numbers.size()) - 1 - numbers[0], ranks);
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      check(numbers[i] >= 0, "all_to_all_v: rank {} gives a count of {}", rank, numbers[i]);
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

std::string text_of(const Counts& counts) {
  std::vector<std::int64_t> all;
  for (const auto& row : counts) all.insert(all.end(), row.begin(), row.end());
  return counts_text(all);
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

}  // namespace

Plan plan_all_to_all_v(const Request& request, const Counts& counts) {
  const int rank = request.rank;
  const Shape& source = request.operands[0].layout.shape();
  const Shape& destination = request.operands[1].layout.shape();
  constexpr const char* names[] = {"source", "destination"};
  Chain chain(request, names, "exchange", "parts through rings and messages");
  ExchangedPieces moves;
  for (int peer = 0; peer < request.ranks(); ++peer) {
    const auto to = counts[static_cast<std::size_t>(rank)][static_cast<std::size_t>(peer)];
    const auto from = counts[static_cast<std::size_t>(peer)][static_cast<std::size_t>(rank)];
    moves.given.push_back({peer, part(rank, sent(counts, rank, peer), to, source)});
    moves.taken.push_back({peer, part(rank, received(counts, rank, peer), from, destination)});
  }
  Shape one = source;
  one[0] = 1;
  one[1] = largest_count(counts);
  append_pairwise_exchange(chain, 0, 1, moves, volume(one));
  return chain.take();
}

}  // namespace collective

void all_to_all_v(const Context& context, const View& source, const View& destination,
                  std::span<const std::int64_t> send_counts, std::span<const std::int64_t> receive_counts,
                  Stream stream) {
  using namespace collective;
  context.state()->require_usable("all_to_all_v");
  const Counts counts = agreed_counts(*context.state(), send_counts, receive_counts);
  const int ranks = context.size();
  const int rank = context.rank();
  Shape rest = source.extents;
  if (!rest.empty()) rest[0] = 0;
  Call call;
  call.operation = "all_to_all_v";
  call.facts = {{"shape without dimension 0", to_string(rest)},
                {"counts", text_of(counts)},
                {"dtype", std::string(name(source.dtype))}};
  call.dtype = source.dtype;
  call.extents_vary = true;
  for (View view : {source, destination}) {
    if (view.strides.size() < max_dimensions) view.strides = with_first(0, view.strides);
    call.views.push_back(view);
  }
  call.check = [&] {
    check_one(source, sent(counts, rank, ranks), rest, source.dtype, rank);
    check_one(destination, received(counts, rank, ranks), rest, source.dtype, rank);
    check_apart("all_to_all_v", source, destination);
  };
  call.layouts = [&] {
    check(!rest.empty(), "all_to_all_v: the parts need a dimension to stand along");
    std::vector<Layout> layouts;
    for (const auto& length : {sent, received}) {
      Shape shape = rest;
      for (int r = 0; r < ranks; ++r) shape[0] = std::max(shape[0], length(counts, r, ranks));
      layouts.push_back(by_rank(shape, ranks));
    }
    return layouts;
  };
  call.plan = [&](const Request& request) { return plan_all_to_all_v(request, counts); };
  run(context, std::move(call), stream);
}

}  // namespace partita
