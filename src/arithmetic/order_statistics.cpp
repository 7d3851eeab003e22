// Elements at given positions in the order of all elements, which are not sorted: found between two elements
// of a sample.
//
// A sample of all ranks gives bounds between which an element of a given position is with high probability
// [1]. One pass counts the elements below the lower bound and extracts those between the bounds; these, some
// percent of all, are sorted on their ranks, and the element is found digit by digit (sorted_cuts.hpp). Where
// the counts show that the element is not between the bounds, all elements are sorted.
//
// [1] R. W. Floyd, R. L. Rivest: Expected time bounds for selection. Communications of the ACM 18 (1975).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <partita/collectives.hpp>
#include <partita/quantiles.hpp>

#include "arithmetic/sorted_cuts.hpp"
#include "base/visit_dtype.hpp"
#include "context/context_state.hpp"
#include "kernels/host/order.hpp"
#include "kernels/host/sort_any.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

constexpr std::string_view selecting = "order_statistics";
/// So many elements are copied to all ranks, and of so many each rank sorts its own.
constexpr std::int64_t few_copied = 1 << 12, few_sorted = 1 << 16;
constexpr std::int64_t most_sampled = 1 << 13;
constexpr std::size_t most_sampled_for = 16;

using Positions = std::vector<std::int64_t>;

/// The elements of a rank, or some of them.
template <class T>
using Some = std::vector<T>;  // of booleans: their bytes

/// All ranks' elements among which some are looked for.
template <class T>
class Selection {
 public:
  Selection(const Context& context, Dtype dtype, std::span<const T> mine, const Positions& sizes)
      : context_(context),
        dtype_(dtype),
        mine_(mine),
        sizes_(sizes),
        size_(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})) {}

  /// `wanted`: increasing. Collective.
  Some<T> at(const Positions& wanted) const {
    if (size_ <= few_copied) return among_all(wanted);
    if (size_ <= few_sorted || wanted.size() > most_sampled_for || is_complex(dtype_))
      return among_sorted(mine_, wanted);
    const Some<T> sample = sampled();
    Some<T> found;
    for (std::size_t first = 0, last = 0; first < wanted.size(); first = last) {
      last = end_of_group(wanted, first, sample.size());
      const Some<T> some = between(sample, {wanted.begin() + static_cast<std::ptrdiff_t>(first),
                                            wanted.begin() + static_cast<std::ptrdiff_t>(last)});
      found.insert(found.end(), some.begin(), some.end());
    }
    return found;
  }

 private:
  static bool before(const T& a, const T& b) { return kernels::comes_before(a, b); }

  /// What work of this rank alone throws is thrown on all ranks.
  template <class Work>
  void here(Work&& work) const {
    runtime::check_or_tell_all(*context_.state(), selecting, work);
  }

  Some<T> gathered(const Some<T>& part, const Positions& counts) const {
    Some<T> all;
    here([&] {
      all.resize(static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})));
    });
    const auto seen = [&](const Some<T>& some) {
      return View::dense(const_cast<T*>(some.data()), dtype_, {static_cast<std::int64_t>(some.size())});
    };
    all_gather_v(context_, seen(part), seen(all), counts);
    return all;
  }

  Some<T> among_all(const Positions& wanted) const {
    Some<T> all = gathered({mine_.begin(), mine_.end()}, sizes_), found;
    std::ranges::sort(all, before);
    for (const std::int64_t position : wanted) found.push_back(all[static_cast<std::size_t>(position)]);
    return found;
  }

  /// Of elements of all ranks, each of which sorts a copy of its own.
  Some<T> among_sorted(std::span<const T> some, const Positions& wanted) const {
    std::unique_ptr<T[]> sorted;
    const auto count = static_cast<std::int64_t>(some.size());
    here([&] {
      sorted = std::make_unique_for_overwrite<T[]>(some.size());
      kernels::sort_any({{.dtype = dtype_, .count = count, .from = some.data(), .to = sorted.get()}});
    });
    const auto part = arithmetic::sorted_on_host(dtype_, false, sorted.get(), count);
    const std::vector<kernels::OrderKey> keys = arithmetic::keys_at(context_, part, wanted);
    Some<T> found(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) part.order.write_element(keys[i], &found[i]);
    return found;
  }

  /// Random elements, of each rank as many as it has a share of all; sorted.
  Some<T> sampled() const {
    Positions counts;
    for (const std::int64_t size : sizes_)
      counts.push_back(static_cast<std::int64_t>(static_cast<double>(most_sampled) *
                                                 static_cast<double>(size) / static_cast<double>(size_)));
    const int rank = context_.rank();
    std::uint64_t state = static_cast<std::uint64_t>(rank) + 1;
    Some<T> picked;
    for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(rank)]; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's generator MMIX
      const auto place = static_cast<double>(state >> 11) * 0x1p-53 * static_cast<double>(mine_.size());
      picked.push_back(mine_[std::min(static_cast<std::size_t>(place), mine_.size() - 1)]);
    }
    Some<T> sample = gathered(picked, counts);
    std::ranges::sort(sample, before);
    return sample;
  }

  double place_in(std::int64_t position, std::size_t sample) const {
    return static_cast<double>(sample) * static_cast<double>(position) / static_cast<double>(size_);
  }
  /// In elements of the sample: four standard deviations of the place.
  double margin(std::int64_t position, std::size_t sample) const {
    const double share = static_cast<double>(position) / static_cast<double>(size_);
    return 4 * std::sqrt(static_cast<double>(sample) * share * (1 - share)) + 4;
  }
  /// Neighbouring positions whose bounds overlap are found together.
  std::size_t end_of_group(const Positions& wanted, std::size_t first, std::size_t sample) const {
    std::size_t last = first;
    double end = 0;
    do {
      end = place_in(wanted[last], sample) + margin(wanted[last], sample);
      ++last;
    } while (last < wanted.size() && place_in(wanted[last], sample) - margin(wanted[last], sample) <= end);
    return last;
  }

  Some<T> between(const Some<T>& sample, const Positions& wanted) const {
    const std::size_t many = sample.size();
    const double low = std::floor(place_in(wanted.front(), many) - margin(wanted.front(), many));
    const double high = std::ceil(place_in(wanted.back(), many) + margin(wanted.back(), many));
    std::optional<T> lower, upper;
    if (low >= 0) lower = sample[static_cast<std::size_t>(low)];
    if (high < static_cast<double>(many)) upper = sample[static_cast<std::size_t>(high)];
    Some<T> inside;
    Positions counts;
    here([&] { counts = extract(lower, upper, inside); });
    all_reduce(context_, counts);
    if (wanted.front() < counts[0] || wanted.back() >= counts[0] + counts[1])
      return among_sorted(mine_, wanted);
    if (lower && upper && !before(*lower, *upper)) return Some<T>(wanted.size(), *lower);
    Positions left = wanted;
    for (std::int64_t& position : left) position -= counts[0];
    return among_sorted(inside, left);
  }

  /// Of this rank's elements those between the bounds, unless these are equal; how many are below and
  /// between. A block is compared by vectors first, of which few elements are between.
  Positions extract(const std::optional<T>& lower, const std::optional<T>& upper, Some<T>& inside) const {
    std::int64_t below = 0, between = 0;
    const bool are_equal = lower && upper && !before(*lower, *upper);
    std::array<std::uint8_t, 256> kept;
    for (std::size_t first = 0; first < mine_.size(); first += kept.size()) {
      const std::span<const T> some = mine_.subspan(first, std::min(kept.size(), mine_.size() - first));
      kept.fill(0);
      below += compare(some, lower, upper, kept.data());
      for (std::size_t word = 0; word < some.size(); word += 8) {
        std::uint64_t any = 0;
        std::memcpy(&any, &kept[word], sizeof any);
        between += std::popcount(any);
        if (any == 0 || are_equal) continue;
        for (std::size_t i = word; i < std::min(word + 8, some.size()); ++i) {
          if (kept[i] != 0) inside.push_back(some[i]);
        }
      }
    }
    return {below, between};
  }

  /// Whether elements are between the bounds, as bytes of 0 and 1; how many are below.
  static std::int64_t compare(std::span<const T> some, const std::optional<T>& lower,
                              const std::optional<T>& upper, std::uint8_t* kept) {
    std::int32_t below = 0;
    if constexpr (std::is_arithmetic_v<T>) {
      if (lower && upper && *lower == *lower && *upper == *upper) {  // numbers, without branches
        const T low = *lower, high = *upper;
        for (std::size_t i = 0; i < some.size(); ++i) {
          const T x = some[i];
          below += x < low;
          kept[i] = static_cast<std::uint8_t>((x >= low) & (x <= high));
        }
        return below;
      }
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      const bool is_below = lower && before(some[i], *lower);
      below += is_below;
      kept[i] = static_cast<std::uint8_t>(!is_below && !(upper && before(*upper, some[i])));
    }
    return below;
  }

  const Context& context_;
  Dtype dtype_;
  std::span<const T> mine_;
  const Positions& sizes_;
  std::int64_t size_;
};

}  // namespace

void order_statistics(const Context& context, const View& values, std::span<const std::int64_t> positions,
                      const View& found) {
  const runtime::PublicCall call(selecting);
  context.state()->require_usable(selecting);
  runtime::collectively(*context.state(), selecting, [&]() -> std::vector<Fact> {
    arithmetic::check_sequence(selecting, "values", values);
    arithmetic::check_sequence(selecting, "results", found);
    arithmetic::check_positions(selecting, positions);
    check(!found.read_only && found.dtype == values.dtype &&
              found.extents[0] == static_cast<std::int64_t>(positions.size()),
          "order_statistics: the results are {} of {}, but there are {} positions of {}", found.extents[0],
          name(found.dtype), positions.size(), name(values.dtype));
    return {{"dtype", std::string(name(values.dtype))}, {"positions", arithmetic::text_of(positions)}};
  });
  const std::vector<std::int64_t> sizes = arithmetic::sizes_of_ranks(context, values.extents[0]);
  const std::int64_t size = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  for (const std::int64_t position : positions)
    check(position < size, "order_statistics: position {} of {} elements", position, size);
  Positions wanted(positions.begin(), positions.end());
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  if (wanted.empty()) return;
  const Dtype seen =
      values.dtype == Dtype::boolean ? Dtype::u8 : values.dtype;  // std::vector<bool> has no bytes
  visit_dtype(seen, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool> && !kernels::is_float8_type<T>) {
      const std::span<const T> mine(static_cast<const T*>(values.data),
                                    static_cast<std::size_t>(values.extents[0]));
      const std::vector<T> elements = Selection<T>(context, seen, mine, sizes).at(wanted);
      for (std::size_t i = 0; i < positions.size(); ++i) {
        const auto place = std::ranges::lower_bound(wanted, positions[i]) - wanted.begin();
        static_cast<T*>(found.data)[i] = elements[static_cast<std::size_t>(place)];
      }
    }
  });
}

}  // namespace partita
