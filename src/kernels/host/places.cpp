#include "kernels/host/places.hpp"

#include <algorithm>
#include <partita/half.hpp>
#include <span>

#include "base/check.hpp"
#include "base/half.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/host/fold_runs.hpp"

namespace partita::kernels {
namespace {

enum PlacePart : std::size_t { to, a };

/// As elements are compared.
template <class S>
auto comparable(S x) {
  if constexpr (is_small_float_type<S>) {
    return to_float(x);
  } else {
    return x;
  }
}

/// Whether x is taken instead of y, which comes first. After a NaN nothing is.
template <class W>
bool beats(W x, W y, bool smallest) {
  if (y != y) return false;
  return x != x || (smallest ? x < y : x > y);
}

constexpr std::int64_t block = 4096;

/// The blocks' extremes by vectors, then the first place in the first of the best ones.
template <class S>
std::int64_t place_in_run(const S* run, std::int64_t count, const PlacePass& pass) {
  const auto total = run_fold<S>(pass.dtype == Dtype::boolean ? Dtype::u8 : pass.dtype,
                                 pass.smallest ? Reduction::min : Reduction::max, RunOf::values)
                         .total;
  std::int64_t first = 0;
  S best = total(run, std::min(block, count));
  for (std::int64_t begin = block; begin < count && best == best; begin += block) {
    const S here = total(run + begin, std::min(block, count - begin));
    if (!beats(here, best, pass.smallest)) continue;
    best = here;
    first = begin;
  }
  const S* const found = std::find_if(run + first, run + std::min(first + block, count),
                                      [&](S x) { return best == best ? x == best : x != x; });
  return found - run;
}

/// Calls visit(element) for all elements of the loops, in row-major order.
template <class S, class Visit>
void for_elements(std::span<const ElementwiseLoop> loops, const S* from, const Visit& visit) {
  if (loops.empty()) return visit(*from);
  for (std::int64_t i = 0; i < loops[0].count; ++i)
    for_elements(loops.subspan(1), from + i * loops[0].strides[a], visit);
}

template <class S>
std::int64_t place_in_line(const S* line, const PlacePass& pass) {
  if constexpr (!is_small_float_type<S>) {
    if (pass.over.size() == 1 && pass.over[0].strides[a] == 1)
      return place_in_run(line, pass.over[0].count, pass);
  }
  auto best = comparable(*line);
  std::int64_t place = 0, number = 0;
  for_elements(std::span<const ElementwiseLoop>(pass.over), line, [&](S element) {
    const auto x = comparable(element);
    if (beats(x, best, pass.smallest)) {
      best = x;
      place = number;
    }
    ++number;
  });
  return place;
}

/// Lines side by side: row after row of them.
template <class S>
void find_in_columns(const ElementwiseLoop& lines, std::int64_t* places, const S* first,
                     const PlacePass& pass) {
  using W = decltype(comparable(S()));
  std::vector<W> best(static_cast<std::size_t>(std::min(block, lines.count)));
  const ElementwiseLoop& over = pass.over[0];
  for (std::int64_t begin = 0; begin < lines.count; begin += block) {
    const std::int64_t count = std::min(block, lines.count - begin);
    for (std::int64_t r = 0; r < over.count; ++r) {
      const S* const row = first + begin * lines.strides[a] + r * over.strides[a];
      for (std::int64_t k = 0; k < count; ++k) {
        const W x = comparable(row[k * lines.strides[a]]);
        W& y = best[static_cast<std::size_t>(k)];
        if (r > 0 && !beats(x, y, pass.smallest)) continue;
        y = x;
        places[(begin + k) * lines.strides[to]] = r;
      }
    }
  }
}

template <class S>
void find_in(std::span<const ElementwiseLoop> kept, std::int64_t* places, const S* from,
             const PlacePass& pass) {
  if (kept.empty()) {
    *places = place_in_line(from, pass);
    return;
  }
  const ElementwiseLoop& loop = kept[0];
  if (kept.size() == 1 && pass.over.size() == 1 &&
      std::abs(loop.strides[a]) < std::abs(pass.over[0].strides[a]))
    return find_in_columns(loop, places, from, pass);
  for (std::int64_t i = 0; i < loop.count; ++i)
    find_in(kept.subspan(1), places + i * loop.strides[to], from + i * loop.strides[a], pass);
}

/// Neighbouring loops that are one, without another order.
std::vector<ElementwiseLoop> merged(const std::vector<ElementwiseLoop>& loops) {
  std::vector<ElementwiseLoop> result;
  for (const ElementwiseLoop& loop : loops) {
    if (loop.count == 1) continue;
    if (!result.empty() && result.back().strides[a] == loop.strides[a] * loop.count) {
      result.back() = {result.back().count * loop.count, loop.strides};
    } else {
      result.push_back(loop);
    }
  }
  return result;
}

}  // namespace

PlacePass simplify(PlacePass pass) {
  pass.kept = simplified(std::move(pass.kept), to);
  pass.over = merged(pass.over);
  return pass;
}

void find_places(const PlacePass& pass) {
  auto* const places = static_cast<std::int64_t*>(pass.data[to]);
  visit_dtype(pass.dtype == Dtype::boolean ? Dtype::u8 : pass.dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (std::is_same_v<S, bool> || !(std::is_arithmetic_v<S> || is_small_float_type<S>)) {
      invariant(false, "an order of {}", name(pass.dtype));
    } else {
      find_in(std::span<const ElementwiseLoop>(pass.kept), places, static_cast<const S*>(pass.data[a]), pass);
    }
  });
}

}  // namespace partita::kernels
