#include "memory/descriptor_exchange.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/check.hpp"
#include "memory/descriptor_mailbox.hpp"
#include "memory/node_places.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/runtime.hpp"

namespace partita::memory {
namespace {

/// A process of a user with 1024 files may have so many descriptors on their way; all ranks of a node
/// together stay well below.
constexpr int most_on_their_way = 512;

/// What a rank tells all others: where it runs, and its mailbox.
struct Card {
  std::string place;
  std::string address;
};
auto members_of(is_a<Card> auto& card) {
  return std::tie(card.place, card.address);
}

void deliver_to(int peer, const Card& card, int sender, const std::vector<int>& descriptors) {
  try {
    DescriptorMailbox::deliver(card.address, sender, descriptors);
  } catch (const Error& error) {
    throw Error(fmt::format(
        "rank {} ({}), which shares this rank's node, {}. If the ranks run in several containers (network "
        "namespaces), start them in one, or set PARTITA_RANKS_PER_NODE=1 so that they exchange messages",
        peer, card.place, error.what()));
  }
}

/// The exchange among the ranks of a node in rounds: in each, every rank delivers to the next few after it
/// and then takes out what the few before it delivered. All have delivered before any rank looks, so no rank
/// waits for a socket.
class Rounds {
 public:
  Rounds(runtime::Runtime& state, std::string_view operation, const std::vector<int>& mine)
      : state_(state),
        operation_(operation),
        mine_(mine),
        ranks_(state.neighbours()),
        me_(static_cast<int>(std::find(ranks_.begin(), ranks_.end(), state.rank()) - ranks_.begin())) {}

  std::vector<std::vector<FileDescriptor>> run() {
    std::vector<std::vector<FileDescriptor>> result(static_cast<std::size_t>(state_.size()));
    const int most = most_ranks_of_a_node(state_.topology());
    if (most == 1) return result;
    width_ = std::clamp(most_on_their_way / most, 1, 64);
    introduce();
    for (int first = 1; first < most; first += width_) {
      runtime::collectively(state_, operation_, [&] { deliver(first); });
      runtime::collectively(state_, operation_, [&] { collect(first, result); });
    }
    return result;
  }

 private:
  void introduce() {
    runtime::collectively(state_, operation_, [&] { mailbox_.emplace(width_); });
    const Card mine{state_.group->place(), mailbox_->address()};
    const auto all = runtime::exchange_values(state_, operation_, mine);
    for (const int rank : ranks_) cards_.push_back(all[static_cast<std::size_t>(rank)]);
  }

  /// The ranks of the node at the distances of the round that begins at `first`, forwards or backwards.
  std::vector<int> at_distances(int first, int direction) const {
    const int count = static_cast<int>(ranks_.size());
    std::vector<int> result;
    for (int distance = first; distance < std::min(count, first + width_); ++distance) {
      result.push_back((me_ + direction * distance + count) % count);
    }
    return result;
  }

  void deliver(int first) const {
    for (const int place : at_distances(first, +1)) {
      const auto index = static_cast<std::size_t>(place);
      deliver_to(ranks_[index], cards_[index], state_.rank(), mine_);
    }
  }

  void collect(int first, std::vector<std::vector<FileDescriptor>>& result) {
    auto arrived = mailbox_->collect();
    for (const int place : at_distances(first, -1)) {
      const int rank = ranks_[static_cast<std::size_t>(place)];
      const auto delivery = arrived.find(rank);
      check<Error>(delivery != arrived.end(), "the descriptor of rank {} did not arrive", rank);
      result[static_cast<std::size_t>(rank)] = std::move(delivery->second);
    }
  }

  runtime::Runtime& state_;
  std::string_view operation_;
  const std::vector<int>& mine_;
  std::vector<int> ranks_;  // of this node
  int me_;                  // my place among them
  int width_ = 1;           // distances a round
  std::optional<DescriptorMailbox> mailbox_;
  std::vector<Card> cards_;
};

}  // namespace

std::vector<std::vector<FileDescriptor>> exchange_descriptors(runtime::Runtime& state,
                                                              std::string_view operation,
                                                              const std::vector<int>& mine) {
  return Rounds(state, operation, mine).run();
}

}  // namespace partita::memory
