#include "trace/clock_offsets.hpp"

#include <algorithm>
#include <array>

#include "base/host_clock.hpp"
#include "context/context_state.hpp"
#include "runtime/agree.hpp"
#include "runtime/host_identity.hpp"

namespace partita {
namespace {

constexpr int barriers = 15;

/// Whose clock it is, and what it said whenever its rank had left a barrier.
struct Readings {
  std::array<char, 40> boot{};
  std::array<double, barriers> seconds{};
};

Readings read_clock(ContextState& state) {
  Readings mine;
  mine.boot = this_host().boot;
  for (double& seconds : mine.seconds) {
    barrier(state, "compare clocks");
    seconds = host_clock();
  }
  return mine;
}

double median_difference(const Readings& one, const Readings& other) {
  std::array<double, barriers> differences{};
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] = one.seconds[i] - other.seconds[i];
  std::ranges::sort(differences);
  return differences[differences.size() / 2];
}

}  // namespace

std::vector<double> clock_offsets(ContextState& state) {
  const std::vector<Readings> all = exchange_values(state, "compare clocks", read_clock(state));
  std::vector<double> offsets;
  for (const Readings& one : all) {
    // Of the ranks of one machine, which have one clock, the lowest stands for all.
    const auto first = std::ranges::find(all, one.boot, &Readings::boot);
    offsets.push_back(first == all.begin() ? 0 : median_difference(*first, all.front()));
  }
  return offsets;
}

}  // namespace partita
