// Small plans written by hand, for tests that look at plans without the planners.
#pragma once

#include <partita/plan.hpp>
#include <vector>

namespace partita::hand_made {

namespace pt = partita;

inline pt::Planner planner(std::vector<pt::Plan> plans) {
  return [plans = std::move(plans)](int rank) { return plans[static_cast<std::size_t>(rank)]; };
}

inline pt::Step signal(int peer, int channel = 0) {
  pt::Step step;
  step.kind = pt::StepKind::signal;
  step.peer = peer;
  step.channel = channel;
  return step;
}

inline pt::Step wait(int peer, int channel = 0, std::int64_t count = 1) {
  pt::Step step = signal(peer, channel);
  step.kind = pt::StepKind::wait;
  step.count = count;
  return step;
}

inline pt::Step copy(pt::Region region, pt::Place from, pt::Place to, std::vector<int> after = {}) {
  pt::Step step;
  step.region = std::move(region);
  step.peer = from.rank;
  step.from = from;
  step.to = to;
  step.after = std::move(after);
  return step;
}

inline pt::Step accumulate(pt::Region region, pt::Place from, pt::Place to) {
  pt::Step step = copy(std::move(region), from, to);
  step.kind = pt::StepKind::accumulate;
  return step;
}

inline pt::Step fill(pt::Region region, pt::Place to) {
  pt::Step step = copy(std::move(region), {}, to);
  step.kind = pt::StepKind::fill;
  return step;
}

inline pt::Step send(int peer, pt::Place from, std::int64_t bytes) {
  pt::Step step;
  step.kind = pt::StepKind::send;
  step.peer = peer;
  step.from = from;
  step.bytes = bytes;
  return step;
}

inline pt::Step receive(int peer, pt::Place to, std::int64_t bytes) {
  pt::Step step = send(peer, {}, bytes);
  step.kind = pt::StepKind::receive;
  step.to = to;
  return step;
}

inline pt::Step finish(std::vector<int> after) {
  pt::Step step;
  step.kind = pt::StepKind::finish;
  step.after = std::move(after);
  return step;
}

inline pt::Place source(int rank) {
  return {0, rank, 0, {}};
}
inline pt::Place destination(int rank) {
  return {1, rank, 0, {}};
}
inline pt::Place staging(int rank, std::int64_t offset = 0) {
  return {2, rank, offset, {0, 1}};
}

/// An f64 array of two dimensions over `ranks` ranks, without steps yet.
struct Problem {
  pt::Layout from;
  pt::Layout to;
  pt::Topology topology;

  Problem(pt::Shape shape, const char* source_rule, const char* destination_rule, int ranks,
          int ranks_per_node = 0)
      : from(pt::Distribution::parse(source_rule), shape, ranks),
        to(pt::Distribution::parse(destination_rule), shape, ranks),
        topology(pt::Topology::regular(ranks, ranks_per_node)) {}

  pt::Region piece(int giver, int taker) const { return intersect(from.region(giver), to.region(taker)); }

  std::vector<pt::Plan> plans(std::vector<pt::Buffer> scratch = {},
                              pt::Residency residency = pt::Residency::heap) const {
    std::vector<pt::Plan> result;
    for (int rank = 0; rank < topology.ranks(); ++rank) {
      pt::Plan plan{"redistribute", "by hand", "a test", rank, topology, {}, {}};
      for (const auto& [name, layout] : {std::pair{"source", from}, std::pair{"destination", to}}) {
        plan.buffers.push_back({name, pt::BufferKind::operand,
                                pt::Operand::of(layout, pt::Dtype::f64, pt::Order::row_major, residency), 0});
      }
      plan.buffers.insert(plan.buffers.end(), scratch.begin(), scratch.end());
      result.push_back(std::move(plan));
    }
    return result;
  }
};

/// Every rank reads its peers' sources in place: grants on channel 0, thanks on channel 1. Steps of a rank of
/// two: 0 signal, 1 wait, 2 own copy, 3 copy from the peer, 4 signal, 5 wait.
inline std::vector<pt::Plan> direct(const Problem& problem) {
  std::vector<pt::Plan> plans = problem.plans();
  const int ranks = problem.topology.ranks();
  for (pt::Plan& plan : plans) {
    const int rank = plan.rank;
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer != rank) plan.steps.push_back(signal(peer, 0));
    }
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer != rank) plan.steps.push_back(wait(peer, 0));
    }
    plan.steps.push_back(copy(problem.piece(rank, rank), source(rank), destination(rank)));
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer == rank) continue;
      plan.steps.push_back(copy(problem.piece(peer, rank), source(peer), destination(rank)));
      plan.steps.push_back(signal(peer, 1));
    }
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer != rank) plan.steps.push_back(wait(peer, 1));
    }
  }
  return plans;
}

/// Two ranks of different nodes: pack, send, receive, unpack. Steps: 0 receive, 1 own copy, 2 pack, 3 send,
/// 4 unpack, 5 finish. What is sent is at 0, what is received at 1024.
inline std::vector<pt::Plan> messages(const Problem& problem) {
  std::vector<pt::Plan> plans = problem.plans({{"room", pt::BufferKind::scratch, {}, 2048}});
  for (pt::Plan& plan : plans) {
    const int rank = plan.rank;
    const int peer = 1 - rank;
    const pt::Region incoming = problem.piece(peer, rank);
    const pt::Region outgoing = problem.piece(rank, peer);
    plan.steps = {receive(peer, staging(rank, 1024), 8 * incoming.size()),
                  copy(problem.piece(rank, rank), source(rank), destination(rank)),
                  copy(outgoing, source(rank), staging(rank)),
                  send(peer, staging(rank), 8 * outgoing.size()),
                  copy(incoming, staging(rank, 1024), destination(rank), {0}),
                  finish({3})};
  }
  return plans;
}

/// Rows to columns on two ranks of one node, and of two nodes.
inline const Problem on_a_node({5, 3}, "slab:0", "slab:1", 2);
inline const Problem apart({5, 3}, "slab:0", "slab:1", 2, 1);

}  // namespace partita::hand_made
