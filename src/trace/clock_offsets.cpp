#include "trace/clock_offsets.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "runtime/agree.hpp"
#include "runtime/collective.hpp"
#include "runtime/context_state.hpp"
#include "runtime/host_identity.hpp"
#include "trace/recorder.hpp"

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
  const Readings mine = read_clock(state);
  const std::string bytes(reinterpret_cast<const char*>(&mine), sizeof mine);
  std::vector<Readings> all;
  for (const std::string& received : exchange(state, "compare clocks", bytes)) {
    std::memcpy(&all.emplace_back(), received.data(), sizeof(Readings));
  }
  std::vector<double> offsets;
  for (const Readings& one : all) {
    // Of the ranks of one machine, which have one clock, the lowest stands for all.
    const auto first = std::ranges::find(all, one.boot, &Readings::boot);
    offsets.push_back(first == all.begin() ? 0 : median_difference(*first, all.front()));
  }
  return offsets;
}

}  // namespace partita
