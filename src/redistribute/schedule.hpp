// In which order a rank gives and takes.
#pragma once

#include <tuple>
#include <vector>

#include "redistribute/exchange.hpp"
#include "redistribute/method.hpp"

namespace partita::redistribution {

enum class Action : std::uint8_t {
  produce,  ///< a piece into its slot of the shared staging
  own,      ///< a piece that stays on the rank
  read,     ///< a piece of a peer's source, in place
  write,    ///< a piece into a peer's destination, in place
  consume,  ///< a piece out of a peer's slot
  post,     ///< a message may come from here on
  send,     ///< a packed message
  unpack,   ///< a message may be waited for from here on
};

/// One piece of one transfer. Every piece has a key, which is the same at both of its ends:
///   (turn, giving or taking, contribution c, distance o from giver to taker),
/// where the turn is the round k of the piece, but `lead` turns earlier for what goes into a ring of lead + 1
/// slots: rings are kept full, so that a rank that is late for a moment delays nobody. Every rank walks its
/// pieces by increasing key. A piece waits only for pieces of smaller keys, or for its own other end where
/// that comes first in the same key; so the rank that stands at the smallest key of all can always go on: no
/// deadlock, whatever the distributions are. And all contributions to an element are in the same round, since
/// they are cut alike: they arrive in increasing order.
struct Item {
  Action action = Action::own;
  int peer = 0;
  int contribution = 0;
  int distance = 0;
  std::int64_t round = 0;   ///< number of the piece in its transfer
  std::int64_t rounds = 1;  ///< pieces of the transfer
  std::int64_t lead = 0;    ///< turns that it comes before its round
  Region region;

  auto key() const {
    return std::tuple(round - lead, action != Action::produce, contribution, distance,
                      static_cast<int>(action));
  }
};

std::vector<Item> schedule(const Problem& problem, const Method& method, const Staging& staging,
                           const Exchange& exchange);

}  // namespace partita::redistribution
