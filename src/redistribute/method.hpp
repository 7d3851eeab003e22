// The one visible chooser of methods, and of the scratch that they have.
#pragma once

#include <cstdint>
#include <string>

#include "redistribute/problem.hpp"

namespace partita::redistribution {

/// The same on every rank: a function of the operands, the topology and the options.
struct Method {
  RedistributeMethod inside = RedistributeMethod::automatic;  ///< between ranks of one node; never automatic
  bool node_pairs = false;     ///< some two ranks share a node, and something may pass between them
  bool network_pairs = false;  ///< some two ranks are on different nodes
  std::string name;            ///< "local", "direct", "staged+messages", ...
  std::string reason;

  bool uses_staging() const { return node_pairs && inside == RedistributeMethod::staged; }
  bool uses_messages() const {
    return network_pairs || (node_pairs && inside == RedistributeMethod::messages);
  }
  bool is_grouped() const { return network_pairs && inside == RedistributeMethod::grouped; }
  /// The taker does it, out of the giver's source.
  static bool reads(RedistributeMethod method) {
    return method == RedistributeMethod::direct || method == RedistributeMethod::pulled;
  }
  bool writes() const { return node_pairs && inside == RedistributeMethod::pushed; }
  /// How a rank and this peer exchange.
  RedistributeMethod between(const Problem& problem, int peer) const {
    return problem.topology.same_node(problem.rank, peer) ? inside : RedistributeMethod::messages;
  }
};

/// Throws ArgumentError, naming the operand, where `options.method` cannot be used.
Method choose_method(const Problem& problem);

/// How much scratch a redistribution has, and how it is cut; the same on every rank. Sizes in bytes; all
/// multiples of 64, so that every slot starts on a cache line.
struct Staging {
  std::int64_t chunk = 0;          ///< size of a piece in shared staging
  int slots = 0;                   ///< of the ring of one ordered pair
  std::int64_t shared_bytes = 0;   ///< (largest node - 1) * slots * chunk
  std::int64_t message = 0;        ///< largest message
  std::int64_t window = 0;         ///< in flight each way
  std::int64_t private_bytes = 0;  ///< 2 * window: what is sent, then what is received
  std::int64_t piece = 0;          ///< of what is accumulated in place, so that it stays in cache; 0: whole
};

/// Throws ArgumentError where `options.staging_bytes` is too small for one cache line a slot.
Staging choose_staging(const Problem& problem, const Method& method);

}  // namespace partita::redistribution
