#include "device/flag_board.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "device/device_runtime.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::devices {
namespace {

constexpr int probe_channel = channel_count;

}  // namespace

FlagBoard::FlagBoard(DeviceRuntime& state)
    : state_(state), ranks_(state.device_topology.node_ranks(state.device_topology.node(state.rank()))) {
  const std::size_t count = ranks_.size() * channels;
  sent_.assign(count, 0);
  seen_ = std::vector<std::atomic<std::uint64_t>>(count);
  waited_.assign(count, 0);
  // The same number of bytes on all ranks, whatever their nodes.
  const auto bytes = static_cast<std::int64_t>(sizeof(std::uint64_t) * sections * channels) * state.size();
  block_ =
      state.device_heap->allocate(bytes, memory::SymmetricHeap::Sizes::equal, "", SourcePlace::current());
  clear();
  probe();
}

std::size_t FlagBoard::number(int rank, int channel) const {
  const auto place = std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin();
  return static_cast<std::size_t>(place) * channels + static_cast<std::size_t>(channel);
}

std::uint64_t* FlagBoard::flag(int on_rank, int from, int channel) const {
  auto* const flags = static_cast<std::uint64_t*>(state_.device_heap->at(on_rank, block_.offset));
  return flags == nullptr ? nullptr : flags + number(from, channel);
}

const std::uint64_t* FlagBoard::given_up() const {
  return flag(state_.rank(), state_.rank(), 0);
}

std::uint64_t* FlagBoard::count(Count which, std::size_t number) const {
  return flag(state_.rank(), ranks_.front(), 0) + which * sent_.size() + number;
}

void FlagBoard::clear() {
  const std::vector<std::uint64_t> zeros(sent_.size(), 0);
  state_.device->physical().copy_past(flag(state_.rank(), ranks_.front(), 0), zeros.data(),
                                      static_cast<std::int64_t>(zeros.size() * sizeof(std::uint64_t)));
  runtime::barrier(state_, "start the device");
}

/// Every rank writes its number into each neighbour's memory, and looks at what the neighbours wrote.
void FlagBoard::probe() {
  const int me = state_.rank();
  PhysicalDevice& device = state_.device->physical();
  device.use();
  for (const int peer : ranks_) {
    std::uint64_t* const theirs = flag(peer, me, probe_channel);
    if (theirs == nullptr) {
      unreachable_ = fmt::format("rank {} cannot map the device memory of rank {}", me, peer);
    } else {
      const FlagOperation write{FlagOperation::Kind::write, theirs, static_cast<std::uint64_t>(me) + 1};
      state_.device->flags({&write, 1}, device.stream_past());
    }
  }
  (void)arrived();  // behind what this rank has written
  runtime::barrier(state_, "start the device");
  const std::vector<std::uint64_t> come = arrived();
  for (const int peer : ranks_) {
    const std::uint64_t found = come[number(peer, probe_channel)];
    if (found == static_cast<std::uint64_t>(peer) + 1 || !unreachable_.empty()) continue;
    unreachable_ =
        fmt::format("what rank {} wrote into the device memory of rank {} did not arrive", peer, me);
  }
}

FlagOperation FlagBoard::signal(int peer, int channel) {
  const std::size_t place = number(peer, channel);
  std::uint64_t* const theirs = flag(peer, state_.rank(), channel);
  if (device_counts_) return {FlagOperation::Kind::write, theirs, 1, count(sent, place)};
  return {FlagOperation::Kind::write, theirs, ++sent_[place]};
}

FlagOperation FlagBoard::wait(int peer, int channel, std::int64_t signals) {
  const std::size_t place = number(peer, channel);
  const auto wanted = static_cast<std::uint64_t>(signals);
  std::uint64_t* const mine = flag(state_.rank(), peer, channel);
  const std::uint64_t before = waited_[place];
  waited_[place] = std::max(before, wanted);
  if (!device_counts_) return {FlagOperation::Kind::wait, mine, seen_[place] + wanted, nullptr, given_up()};
  return {FlagOperation::Kind::wait, mine, waited_[place] - before, count(seen, place), given_up()};
}

void FlagBoard::advance() {
  for (std::size_t place = 0; place < waited_.size(); ++place) {
    if (!device_counts_) seen_[place] += waited_[place];
    waited_[place] = 0;
  }
}

void FlagBoard::count_on_device() {
  if (device_counts_) return;
  const auto bytes = static_cast<std::int64_t>(sent_.size() * sizeof(std::uint64_t));
  state_.device->physical().copy_past(count(sent, 0), sent_.data(), bytes);
  const std::vector<std::uint64_t> seen_so_far(seen_.begin(), seen_.end());
  state_.device->physical().copy_past(count(seen, 0), seen_so_far.data(), bytes);
  device_counts_ = true;
}

std::vector<std::uint64_t> FlagBoard::arrived() {
  std::vector<std::uint64_t> values(sent_.size());
  state_.device->physical().copy_past(values.data(), flag(state_.rank(), ranks_.front(), 0),
                                      static_cast<std::int64_t>(values.size() * sizeof(std::uint64_t)));
  return values;
}

std::vector<int> FlagBoard::late() {
  std::vector<int> ranks;
  if (device_counts_) return ranks;
  const std::vector<std::uint64_t> come = arrived();
  for (const int peer : ranks_) {
    if (peer == state_.rank()) continue;
    bool owes = false;
    for (int channel = 0; channel < probe_channel; ++channel) {
      owes = owes || come[number(peer, channel)] < seen_[number(peer, channel)];
    }
    if (owes) ranks.push_back(peer);
  }
  return ranks;
}

std::vector<int> FlagBoard::owing() {
  std::vector<int> ranks = late();
  if (!ranks.empty()) return ranks;
  ranks = ranks_;
  std::erase(ranks, state_.rank());
  return ranks;
}

void FlagBoard::poison() noexcept {
  try {
    state_.device->use();
    constexpr std::uint64_t yes = 1;
    state_.device->physical().copy_past(flag(state_.rank(), state_.rank(), 0), &yes, sizeof(yes));
  } catch (...) {
    // A device that does not answer any more has nothing to be released.
  }
}

}  // namespace partita::devices
