#include "trial.hpp"

#include <algorithm>

namespace partita::scalapack {
namespace {

Way turn_of(int row) {
  return row % 2 == 0 ? Way::theirs : Way::ours;
}

}  // namespace

Way Trial::way() const {
  return decided_ ? winner_ : turn_of(calls_ / row);
}

bool Trial::finish(std::int64_t nanoseconds) {
  if (calls_ % row != 0) times_[static_cast<std::size_t>(calls_ / row)] += nanoseconds;
  ++calls_;
  return calls_ == calls;
}

void Trial::decide(std::span<const std::int64_t> of_all) {
  std::array<std::int64_t, rows> slowest{};
  for (std::size_t i = 0; i < of_all.size(); ++i) slowest[i % rows] = std::max(slowest[i % rows], of_all[i]);
  int won = 0;
  for (std::size_t round = 0; round < slowest.size(); round += 2) {
    if (static_cast<double>(slowest[round + 1]) <= tie * static_cast<double>(slowest[round])) ++won;
  }
  winner_ = won > rounds / 2 ? Way::ours : Way::theirs;
  decided_ = true;
}

Trial& Trials::of(std::uint64_t key) {
  const auto found = trials_.find(key);
  if (found != trials_.end()) return found->second;
  if (trials_.size() == most) trials_.clear();
  return trials_[key];
}

}  // namespace partita::scalapack
