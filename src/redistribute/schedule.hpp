// The transfers of one rank, in the order in which it handles them.
#pragma once

#include <vector>

#include "plan/transfers.hpp"
#include "redistribute/exchange.hpp"
#include "redistribute/method.hpp"

namespace partita::redistribution {

/// A list for each part of the exchange. A large overlap is cut into pieces, alike at both ends. Each piece
/// has a key, which is the same at both of its ends:
///   (turn, giving or taking, contribution c, distance o from giver to taker),
/// where the turn is the number k of the piece, but `slots - 1` turns earlier for what is copied into a ring
/// of slots: rings are kept full, so a rank that is late for a moment delays no other. Lists are ordered by
/// key, so there is no deadlock (planning::TransferWriter). And all contributions to an element have the same
/// k, since they are cut alike: they arrive in increasing order.
std::vector<std::vector<planning::Transfer>> schedule(const Problem& problem, const Method& method,
                                                      const Staging& staging,
                                                      const std::vector<Exchange>& parts);

}  // namespace partita::redistribution
