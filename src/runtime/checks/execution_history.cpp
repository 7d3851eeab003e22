#include "runtime/checks/execution_history.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace partita::runtime {

std::uint64_t ExecutionHistory::begin(std::uint64_t hash, std::string_view operation) {
  const Word before = load(number_, std::memory_order_relaxed);
  const Word number = before + 1;
  const Word chain = mix(load(latest_[before % near], std::memory_order_relaxed), hash);
  write_text(names_[number % named], operation, std::memory_order_release);
  store(chains_[number % reach], chain);
  store(latest_[number % near], chain);
  store(number_, number);
  return chain;
}

// Execution n + size is written to the place of n after n + size - 1 has become visible: who has read the
// place and still sees an earlier number has read what belongs to n.
std::optional<std::uint64_t> ExecutionHistory::chain(std::uint64_t number) const {
  const Word now = load(number_);
  if (number == 0 || now < number) return std::nullopt;
  const auto is_kept = [number](Word latest, std::uint64_t size) { return latest - number <= size - 2; };
  if (is_kept(now, near)) {
    const Word chain = load(latest_[number % near]);
    if (is_kept(load(number_), near)) return chain;
  }
  const Word chain = load(chains_[number % reach]);
  return is_kept(load(number_), reach) ? std::optional<std::uint64_t>(chain) : std::nullopt;
}

std::string ExecutionHistory::operation(std::uint64_t number) const {
  std::string name = read_text(names_[number % named]);
  return load(number_) - number <= named - 2 ? name : "another operation";
}

std::optional<std::uint64_t> first_difference(const ExecutionHistory& mine, const ExecutionHistory& theirs) {
  const auto differ = [&](std::uint64_t number) {
    const auto a = mine.chain(number), b = theirs.chain(number);
    return a && b && *a != *b;
  };
  if (mine.agrees_at_once(theirs)) return std::nullopt;
  std::uint64_t number = std::min(mine.number(), theirs.number());
  if (!differ(number)) return std::nullopt;
  while (differ(number - 1)) --number;
  return number;
}

}  // namespace partita::runtime
