#include "arithmetic/sorted_cuts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <partita/collectives.hpp>
#include <partita/functions.hpp>
#include <partita/selection.hpp>

#include "arithmetic/dense_parts.hpp"
#include "base/hash.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita::arithmetic {
namespace {

using kernels::OrderKey;
using kernels::OrderKeys;

/// At most so many candidates are counted at once, if there are not more positions.
constexpr std::int64_t most_candidates = 1 << 14;

/// The candidates of one digit of a column, one more for each of its values but 0.
std::vector<OrderKey> candidates_of(const std::vector<OrderKey>& keys, std::size_t column, int shift,
                                    int width) {
  std::vector<OrderKey> candidates;
  candidates.reserve(keys.size() << width);
  for (const OrderKey& key : keys) {
    for (std::uint64_t digit = 1; digit < std::uint64_t{1} << width; ++digit) {
      candidates.push_back(key);
      candidates.back()[column] |= digit << shift;
    }
  }
  return candidates;
}

/// The largest of these that is not above the position, of each key. `counts`: of all ranks, which increase.
void take_digits(std::vector<OrderKey>& keys, std::span<const std::int64_t> positions,
                 const std::vector<std::int64_t>& counts, std::size_t column, int shift) {
  const auto each = static_cast<std::ptrdiff_t>(counts.size() / keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto first = counts.begin() + static_cast<std::ptrdiff_t>(i) * each;
    const auto digit = std::upper_bound(first, first + each, positions[i]) - first;
    keys[i][column] |= static_cast<std::uint64_t>(digit) << shift;
  }
}

/// How many of this rank's elements are below each key, and then how many are not above it.
std::vector<std::int64_t> both_sides(const SortedPart& part, const std::vector<OrderKey>& keys) {
  std::vector<OrderKey> after = keys;
  std::vector<bool> is_last;
  for (OrderKey& key : after) is_last.push_back(!part.order.advance(key));
  std::vector<std::int64_t> counts(2 * keys.size());
  part.count_below(keys, counts.data());
  part.count_below(after, counts.data() + keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (is_last[i]) counts[keys.size() + i] = part.count;
  }
  return counts;
}

}  // namespace

SortedPart sorted_on_host(Dtype dtype, bool descending, const void* elements, std::int64_t count) {
  const OrderKeys order{dtype, descending};
  return {order, count, [=](std::span<const OrderKey> keys, std::int64_t* found) {
            kernels::count_below(order, elements, count, keys, found);
          }};
}

SortedPart sorted_on_device(const Array& ascending, bool descending) {
  const std::int64_t count = ascending.local_size();
  const OrderKeys order{ascending.dtype(), descending};
  // Elements below a key of the descending order are those not below the next one of the ascending order.
  const auto find = [=](std::span<const OrderKey> keys, std::int64_t* found) {
    const OrderKeys upwards{order.dtype, false};
    const auto item = static_cast<std::size_t>(size_of(order.dtype));
    std::vector<std::byte> elements(keys.size() * item);
    std::vector<bool> is_none(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      OrderKey key = keys[i];
      if (descending) {
        key[0] = order.most(0) - key[0];
        is_none[i] = !upwards.advance(key);
      }
      upwards.write_element(key, &elements[i * item]);
    }
    const auto many = static_cast<std::int64_t>(keys.size());
    Array values = sequence_beside(ascending, many, order.dtype, {});
    Array places = sequence_beside(ascending, many, Dtype::i64, {});
    copy(View::dense(elements.data(), order.dtype, {many}), values);
    search_part(ascending, values, places);
    copy(places, View::dense(found, Dtype::i64, {many}));
    for (std::size_t i = 0; descending && i < keys.size(); ++i) found[i] = is_none[i] ? 0 : count - found[i];
  };
  return {order, count, find};
}

std::vector<OrderKey> keys_at(const Context& context, const SortedPart& part,
                              std::span<const std::int64_t> positions) {
  std::vector<OrderKey> keys(positions.size(), OrderKey{});
  if (positions.empty()) return keys;
  const auto each = static_cast<std::uint64_t>(most_candidates) / positions.size();
  const int most = std::clamp(static_cast<int>(std::bit_width(each)) - 1, 1, 8);
  const std::vector<int> bits = part.order.bits();
  for (std::size_t column = 0; column < bits.size(); ++column) {
    for (int left = bits[column]; left > 0;) {
      const int width = std::min(most, left);
      left -= width;
      const std::vector<OrderKey> candidates = candidates_of(keys, column, left, width);
      std::vector<std::int64_t> counts(candidates.size());
      runtime::check_or_tell_all(*context.state(), "cut_sorted",
                                 [&] { part.count_below(candidates, counts.data()); });
      if (context.size() > 1) all_reduce(context, counts);
      take_digits(keys, positions, counts, column, left);
    }
  }
  return keys;
}

SortedCuts cut_parts(const Context& context, const SortedPart& part, std::span<const std::int64_t> positions,
                     std::span<const std::int64_t> sizes) {
  const auto ranks = static_cast<std::size_t>(context.size()), many = positions.size();
  const std::int64_t size = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  std::vector<std::int64_t> inside;
  std::ranges::copy_if(positions, std::back_inserter(inside),
                       [&](std::int64_t position) { return position > 0 && position < size; });
  const std::vector<OrderKey> keys = keys_at(context, part, inside);
  std::vector<std::int64_t> mine;
  runtime::check_or_tell_all(*context.state(), "cut_sorted", [&] { mine = both_sides(part, keys); });
  std::vector<std::int64_t> all(ranks * mine.size());
  if (!mine.empty()) all_gather(context, view(mine), view(all));
  SortedCuts result{static_cast<int>(many), std::vector<std::int64_t>(ranks * many), {}};
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < many; ++i) result.cuts[rank * many + i] = positions[i] > 0 ? sizes[rank] : 0;
  }
  result.below = result.cuts;
  std::size_t next = 0;
  for (std::size_t i = 0; i < many; ++i) {
    if (positions[i] == 0 || positions[i] >= size) continue;
    std::int64_t missing = positions[i];
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      result.below[rank * many + i] = all[rank * mine.size() + next];
      missing -= result.below[rank * many + i];
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {  // the first ranks give what is missing
      const std::int64_t below = result.below[rank * many + i];
      const std::int64_t equal = all[rank * mine.size() + inside.size() + next] - below;
      const std::int64_t taken = std::min(missing, equal);
      result.cuts[rank * many + i] = below + taken;
      missing -= taken;
    }
    ++next;
  }
  return result;
}

ExchangedElements::ExchangedElements(const Context& context, const SortedCuts& cuts) {
  const auto rank = static_cast<std::size_t>(context.rank()),
             ranks = static_cast<std::size_t>(context.size());
  const auto cut = [&](std::size_t of, std::size_t i) {
    return cuts.cuts[of * static_cast<std::size_t>(cuts.positions) + i];
  };
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    sent.push_back(cut(rank, peer + 1) - cut(rank, peer));
    received.push_back(cut(peer, rank + 1) - cut(peer, rank));
  }
}

std::vector<std::int64_t> sizes_of_ranks(const Context& context, std::int64_t mine) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(context.size()), mine), own{mine};
  if (context.size() > 1) all_gather(context, view(own), view(sizes));
  return sizes;
}

void check_sequence(std::string_view operation, std::string_view what, const View& view) {
  check(view.extents.size() == 1 && view.space == MemorySpace::host &&
            (view.extents[0] < 2 || view.strides[0] == 1),
        "{}: the {} are {} of {} memory: expected a dense view of one dimension in host memory", operation,
        what, to_string(view.extents), name(view.space));
  check(!is_float8(view.dtype), "{}: {} have no order here; use astype", operation, name(view.dtype));
}

void check_positions(std::string_view operation, std::span<const std::int64_t> positions) {
  for (const std::int64_t position : positions)
    check(position >= 0, "{}: position {}; positions are counted from 0", operation, position);
}

std::string text_of(std::span<const std::int64_t> positions) {
  if (positions.size() <= 16) return fmt::format("{}", fmt::join(positions, ","));
  std::uint64_t hash = 0;
  for (const std::int64_t position : positions) hash = mix(hash, static_cast<std::uint64_t>(position));
  return fmt::format("{} positions with hash {:x}", positions.size(), hash);
}

}  // namespace partita::arithmetic

namespace partita {

SortedCuts cut_sorted(const Context& context, const View& sorted, std::span<const std::int64_t> positions,
                      bool descending) {
  constexpr std::string_view operation = "cut_sorted";
  const runtime::PublicCall call(operation);
  context.state()->require_usable(operation);
  runtime::collectively(*context.state(), operation, [&]() -> std::vector<Fact> {
    arithmetic::check_sequence(operation, "elements", sorted);
    arithmetic::check_positions(operation, positions);
    return {{"dtype", std::string(name(sorted.dtype))},
            {"positions", arithmetic::text_of(positions)},
            {"descending", descending ? "true" : "false"}};
  });
  const std::int64_t count = sorted.extents[0];
  const auto part = arithmetic::sorted_on_host(sorted.dtype, descending, sorted.data, count);
  return arithmetic::cut_parts(context, part, positions, arithmetic::sizes_of_ranks(context, count));
}

}  // namespace partita
