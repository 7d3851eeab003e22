#include "trial.hpp"

#include <algorithm>

namespace partita::scalapack {
namespace {

Way turn_of(std::size_t call) {
  return call % 2 == 0 ? Way::theirs : Way::ours;
}

using TimesOfOne = std::array<std::int64_t, Trial::timed_each>;

std::int64_t median(TimesOfOne times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

Way Trial::way() const {
  return decided_ ? winner_ : turn_of(static_cast<std::size_t>(calls_));
}

bool Trial::finish(std::int64_t nanoseconds) {
  if (calls_ >= untimed) times_[static_cast<std::size_t>(calls_ - untimed)] = nanoseconds;
  ++calls_;
  return calls_ == untimed + 2 * timed_each;
}

void Trial::decide(std::span<const std::int64_t> of_all) {
  TimesOfOne theirs{};
  TimesOfOne ours{};
  for (std::size_t i = 0; i < of_all.size(); ++i) {
    const std::size_t call = i % timed;
    std::int64_t& slowest = (turn_of(call) == Way::ours ? ours : theirs)[call / 2];
    slowest = std::max(slowest, of_all[i]);
  }
  const bool slower = static_cast<double>(median(ours)) > tie * static_cast<double>(median(theirs));
  winner_ = slower ? Way::theirs : Way::ours;
  decided_ = true;
}

Trial& Trials::of(std::uint64_t key) {
  const auto found = trials_.find(key);
  if (found != trials_.end()) return found->second;
  if (trials_.size() == most) trials_.clear();
  return trials_[key];
}

}  // namespace partita::scalapack
