// The one visible chooser of methods.
#pragma once

#include <string>

#include "redistribute/problem.hpp"

namespace partita::redistribution {

/// The same on every rank: a function of the operands, the topology and the options.
struct Method {
  RedistributeMethod inside = RedistributeMethod::automatic;  ///< between ranks of one node; never automatic
  bool node_pairs = false;     ///< some two ranks share a node, and something may pass between them
  bool network_pairs = false;  ///< some two ranks sit on different nodes, likewise
  std::string name;            ///< "local", "direct", "staged+messages", ...
  std::string reason;

  bool uses_staging() const { return node_pairs && inside == RedistributeMethod::staged; }
  bool uses_messages() const {
    return network_pairs || (node_pairs && inside == RedistributeMethod::messages);
  }
  bool is_grouped() const { return network_pairs && inside == RedistributeMethod::grouped; }
  bool writes() const { return node_pairs && inside == RedistributeMethod::pushed; }
  /// How a rank and this peer exchange.
  RedistributeMethod between(const Problem& problem, int peer) const {
    return problem.topology.same_node(problem.rank, peer) ? inside : RedistributeMethod::messages;
  }
};

/// Throws ArgumentError, naming the operand, where `options.method` cannot be used.
Method choose_method(const Problem& problem);

}  // namespace partita::redistribution
