#include "redistribute/method.hpp"

#include <unordered_set>

#include "base/check.hpp"

namespace partita::redistribution {

namespace {

bool in_place(const Operand& operand) {
  return operand.residency == Residency::heap && operand.dense;
}

std::string why_not_in_place(const Operand& operand) {
  return operand.residency == Residency::heap ? "is strided, not dense" : "is ordinary memory";
}

std::string_view name_of(RedistributeMethod method) {
  switch (method) {
    case RedistributeMethod::direct:
      return "direct";
    case RedistributeMethod::pushed:
      return "pushed";
    case RedistributeMethod::staged:
      return "staged";
    case RedistributeMethod::messages:
      return "messages";
    case RedistributeMethod::grouped:
      return "grouped";
    case RedistributeMethod::automatic:
      break;
  }
  return "automatic";
}

// Whether what one rank takes of another lies there in short runs with gaps, as in the rows of a block-cyclic
// array. A reader would fetch what lies between for nothing (the processor reads ahead); the owner, who
// writes to all its peers in turn, reads each row once and in order. Judged by the ranks that own the first
// element, so alike on all ranks.
bool reads_with_gaps(const Problem& problem) {
  constexpr std::int64_t long_run = 8192;  // bytes
  const Layout& source = problem.source.layout;
  if (source.dimensions() == 0 || volume(source.shape()) == 0) return false;
  const Index first = Extents::filled(source.dimensions(), 0);
  const auto fastest = static_cast<std::size_t>(problem.source.axis_order[source.dimensions() - 1]);
  const IndexSet owned = source.region(source.owner(first)).sets[fastest];
  const Layout& destination = problem.destination.layout;
  const IndexSet wanted = destination.region(destination.owner(first)).sets[fastest];
  const IndexSet common = intersect(owned, wanted);
  const Interval& run = common.intervals().front();
  const bool gaps = owned.position(common.back()) - owned.position(common.front()) + 1 > common.size();
  return gaps && run.length * problem.item_bytes() < long_run;
}

struct Choice {
  RedistributeMethod method;
  std::string reason;
};

// Inside a node, the first that applies:
//
//   source           destination      source partial   method   each byte is copied
//   heap and dense,  heap and dense   no               pushed   once: devices store faster than they load
//     on a device
//   heap and dense,  heap and dense   no               pushed   once: the source writes it in place, in order
//     with gaps
//   heap and dense   any              any              direct   once: the destination reads it in place
//   otherwise        heap and dense   no               pushed   once: the source writes it in place
//   otherwise        otherwise        -                staged   twice
//   otherwise        any              yes              staged   likewise: only the taker accumulates
//
// `messages` is never chosen inside a node; between nodes it is the only way.
Choice choose_inside(const Problem& problem) {
  if (in_place(problem.source)) {
    const bool may_push = in_place(problem.destination) && !problem.accumulates;
    if (may_push && problem.source.space == MemorySpace::device) {
      return {RedistributeMethod::pushed,
              "between devices stores are faster than loads: the source writes into the destination"};
    }
    if (may_push && reads_with_gaps(problem)) {
      return {
          RedistributeMethod::pushed,
          "the source lies in short runs with gaps: it writes into the destination on the symmetric heap"};
    }
    return {RedistributeMethod::direct,
            "the source is on the symmetric heap: the destination reads it in place"};
  }
  const std::string source = "the source " + why_not_in_place(problem.source);
  if (!in_place(problem.destination)) {
    return {RedistributeMethod::staged, source + ": staged through shared buffers"};
  }
  if (problem.accumulates) {
    return {RedistributeMethod::staged, source + " and has to be reduced: staged through shared buffers"};
  }
  return {RedistributeMethod::pushed, source + ": it writes into the destination on the symmetric heap"};
}

Choice forced(const Problem& problem) {
  const RedistributeMethod method = problem.options.method;
  if (method == RedistributeMethod::direct) {
    check(in_place(problem.source),
          "method direct needs a dense source on the symmetric heap, but the source ({}) {}",
          problem.source.to_string(), why_not_in_place(problem.source));
  }
  if (method == RedistributeMethod::pushed) {
    check(in_place(problem.destination),
          "method pushed needs a dense destination on the symmetric heap, but the destination ({}) {}",
          problem.destination.to_string(), why_not_in_place(problem.destination));
    check(!problem.accumulates, "method pushed cannot accumulate, but the source ({}) is partial",
          problem.source.to_string());
  }
  return {method, "asked for by the caller"};
}

Choice choose(const Problem& problem) {
  return problem.options.method == RedistributeMethod::automatic ? choose_inside(problem) : forced(problem);
}

// Some node numbers may be used by no rank.
int nodes_in_use(const Topology& topology) {
  std::unordered_set<int> nodes;
  for (int rank = 0; rank < topology.ranks(); ++rank) nodes.insert(topology.node(rank));
  return static_cast<int>(nodes.size());
}

}  // namespace

Method choose_method(const Problem& problem) {
  const Choice choice = choose(problem);
  const int ranks = problem.topology.ranks();
  if (ranks == 1 || problem.same_layout) {
    return {choice.method, false, false, "local",
            ranks == 1 ? "there is one rank" : "every rank already holds what it wants"};
  }
  if (choice.method == RedistributeMethod::grouped) {
    return {choice.method, false, true, "grouped",
            "messages in rounds, each one group of sends and receives"};
  }
  const int nodes = nodes_in_use(problem.topology);
  Method result{choice.method, nodes<ranks, nodes> 1, std::string(name_of(choice.method)), choice.reason};
  if (!result.node_pairs) {
    result.name = "messages";
    result.reason = "no two ranks share a node";
  } else if (result.network_pairs && choice.method != RedistributeMethod::messages) {
    result.name += "+messages";
    result.reason += "; messages between nodes";
  }
  return result;
}

}  // namespace partita::redistribution
