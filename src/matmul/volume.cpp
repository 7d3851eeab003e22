// What the ranks of a multiply receive by a plan, and the least by any.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <partita/matmul.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/check.hpp"
#include "base/round.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita {
namespace {

/// What of this rank's memory a step reads or writes.
template <class Visit>
void for_each_own_part(const Plan& plan, const Step& step, const Visit& visit) {
  const auto own = [&](const Part& part, planning::Use use) {
    if (part.place.rank == plan.rank) visit(part, use);
  };
  if (step.kind == StepKind::compute) return planning::for_each_part(planning::work_of(plan, step), own);
  if (step.kind != StepKind::copy && step.kind != StepKind::accumulate) return;
  own({step.region, step.from}, planning::Use::read);
  own({step.region, step.to}, planning::Use::written);
}

bool is_shared_scratch(const Plan& plan, const Place& place) {
  const Buffer& buffer = planning::buffer_of(plan, place);
  return buffer.kind == BufferKind::shared && !buffer.operand;
}

/// What neighbours have put into this rank's scratch, where it writes nothing itself. Counted once, however
/// often it is read.
std::int64_t put_by_neighbours(const Plan& plan) {
  std::set<int> own;
  std::set<std::tuple<int, std::int64_t, std::string>> seen;
  std::int64_t elements = 0;
  for (const Step& step : plan.steps) {
    for_each_own_part(plan, step, [&](const Part& part, planning::Use use) {
      if (use != planning::Use::read) own.insert(part.place.buffer);
    });
  }
  for (const Step& step : plan.steps) {
    for_each_own_part(plan, step, [&](const Part& part, planning::Use use) {
      const Place& place = part.place;
      if (use != planning::Use::read || own.contains(place.buffer) || !is_shared_scratch(plan, place)) return;
      if (seen.emplace(place.buffer, place.offset, to_string(part.region)).second)
        elements += part.region.size();
    });
  }
  return elements;
}

bool is_panel(const Plan& plan, const Place& place) {
  return planning::buffer_of(plan, place).filled_beside;
}

/// What neighbours have put into this rank's panels: what is read of them but for what it has copied itself.
std::int64_t put_into_panels(const Plan& plan) {
  std::map<int, std::vector<Region>> read;  // by buffer; none within another
  std::int64_t elements = 0;
  const auto holds = [](const Region& all, const Region& region) {
    return intersect(all, region).size() == region.size();
  };
  for (const Step& step : plan.steps) {
    for_each_own_part(plan, step, [&](const Part& part, planning::Use use) {
      if (!is_panel(plan, part.place)) return;
      if (use != planning::Use::read) elements -= part.region.size();
      std::vector<Region>& regions = read[part.place.buffer];
      if (use != planning::Use::read ||
          std::ranges::any_of(regions, [&](const Region& one) { return holds(one, part.region); }))
        return;
      std::erase_if(regions, [&](const Region& one) { return holds(part.region, one); });
      regions.push_back(part.region);
    });
  }
  for (const auto& [buffer, regions] : read) {
    for (const Region& region : regions) elements += region.size();
  }
  return elements;
}

/// Elements that come in from other ranks. What works read in place again and again is counted once.
std::int64_t incoming(const Plan& plan) {
  std::int64_t elements = put_by_neighbours(plan) + put_into_panels(plan);
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::copy || step.kind == StepKind::accumulate) {
      const bool leaves =
          step.to.rank != plan.rank && (is_shared_scratch(plan, step.to) || is_panel(plan, step.to));
      const bool crosses = step.from.rank != plan.rank || step.to.rank != plan.rank;
      if (crosses && !leaves) elements += step.region.size();
    } else if (step.kind == StepKind::receive) {
      elements += step.bytes / size_of(planning::dtype_at(plan, step.to));
    }
  }
  for (const Part& part : planning::parts_read_from_peers(plan)) elements += part.region.size();
  return elements;
}

using OfEach = std::array<double, 3>;  // of A, B and D

double product_of(const OfEach& numbers) {
  return numbers[0] * numbers[1] * numbers[2];
}

/// A multiply, and what a rank owns of its operands.
struct DividedProduct {
  OfEach whole;  ///< elements of A, B and D
  OfEach uses;   ///< multiplications that each of their elements takes part in: n, m, k
  OfEach owned;

  /// Elements that a rank needs at least for so many multiplications and does not own: the least x + y + z
  /// with xyz >= V^2, where none is less than is owned (that is there anyhow) or than V over its uses. There
  /// all that are not held by such a limit are equal.
  double received(double multiplications) const {
    OfEach least{};
    for (std::size_t i = 0; i < least.size(); ++i)
      least[i] = std::min(whole[i], std::max(owned[i], multiplications / uses[i]));
    const auto needed = [&](double level) {
      OfEach elements{};
      for (std::size_t i = 0; i < elements.size(); ++i)
        elements[i] = std::max(least[i], std::min(level, whole[i]));
      return elements;
    };
    const double wanted = multiplications * multiplications;
    double low = 0, high = *std::ranges::max_element(whole);
    for (int halvings = 0; halvings < 200 && low < high; ++halvings) {
      const double level = low + (high - low) / 2;
      (product_of(needed(level)) < wanted ? low : high) = level;
    }
    double elements = 0;
    const OfEach found = needed(low);
    for (std::size_t i = 0; i < found.size(); ++i) elements += std::max(0.0, found[i] - owned[i]);
    return elements;
  }

  /// Multiplications that a rank can make at most of what it owns.
  double without_receiving() const {
    double most = std::sqrt(product_of(owned));
    for (std::size_t i = 0; i < owned.size(); ++i) most = std::min(most, owned[i] * uses[i]);
    return most;
  }
};

/// Of all ranks on average, which make `even` multiplications, none of them more than `most`. What one
/// receives is nothing up to some number, and a concave function of it beyond: least in all where some ranks
/// make that number and the others the most.
double received_on_average(const DividedProduct& product, double even, double most) {
  const double free = product.without_receiving();
  if (even <= free) return 0;
  return product.received(most) * (even - free) / (most - free);
}

}  // namespace

MatmulVolume matmul_volume(const Plan& plan) {
  MatmulVolume result;
  result.received = incoming(plan);
  const bool known = !plan.buffers.empty() && plan.buffers.front().operand;
  const std::int64_t item = known ? size_of(plan.buffers.front().operand->dtype) : 1;
  result.scratch = ceil_divide(planning::scratch_bytes(plan), item);
  return result;
}

double matmul_volume_bound(std::int64_t m, std::int64_t n, std::int64_t k, int ranks, std::int64_t scratch,
                           const MatmulShares& shares) {
  check(m >= 0 && n >= 0 && k >= 0, "a product of {}x{} by {}x{} has negative extents", m, k, k, n);
  check(ranks >= 1, "a bound for at least one rank, not {}", ranks);
  check(scratch >= 0, "scratch must not be negative, but is {}", scratch);
  if (m == 0 || n == 0 || k == 0) return 0;
  const auto rows = static_cast<double>(m), columns = static_cast<double>(n), depth = static_cast<double>(k);
  DividedProduct product{{rows * depth, depth * columns, rows * columns},
                         {columns, rows, depth},
                         {shares.a, shares.b, shares.d}};
  double owned = 0;
  for (std::size_t i = 0; i < product.owned.size(); ++i) {
    double& share = product.owned[i];
    share = std::min(product.whole[i], std::max(share, product.whole[i] / ranks));
    owned += share;
  }
  const double even = rows * columns * depth / ranks;
  const double bound = received_on_average(product, even, std::max(even, shares.multiplications));
  if (scratch == 0) return bound;
  const double held = owned + static_cast<double>(scratch);
  return std::max(bound, 2 * even / std::sqrt(held) - owned);
}

}  // namespace partita
