#include "plan/cost.hpp"

#include <algorithm>

#include "plan/moves.hpp"

namespace partita::planning {
namespace {

constexpr double short_run = 64;  // bytes: a cache line
// The bandwidth of a kernel, which works page by page and stores through the cache, relative to a copy's
// (docs/performance.md).
constexpr double kernel_share = 0.7;

// A copy reads and writes each byte; accumulate reads two and writes one, fill writes only.
double weight(StepKind kind) {
  if (kind == StepKind::accumulate) return 1.5;
  if (kind == StepKind::fill) return 0.5;
  return 1;
}

bool crosses_ranks(const Plan& plan, const Step& step) {
  return step.to.rank != plan.rank || (step.kind != StepKind::fill && step.from.rank != plan.rank);
}

}  // namespace

CopyCost copy_cost(const Plan& plan, const Step& step, const Machine& machine) {
  CopyCost cost;
  cost.traffic = weight(step.kind) * static_cast<double>(moved_bytes(plan, step));
  cost.cap = machine.copy_bandwidth;
  if (crosses_ranks(plan, step)) cost.cap = std::min(cost.cap, machine.peer_bandwidth);
  if (is_pull(plan, step)) cost.cap *= kernel_share;
  if (step.kind != StepKind::fill && run_bytes(plan, step) < short_run) {
    cost.cap = std::min(cost.cap, machine.strided_bandwidth);
  }
  return cost;
}

double message_bandwidth(bool same_node, const Machine& machine) {
  if (!same_node) return machine.network_bandwidth;
  return std::min(machine.peer_bandwidth, machine.copy_bandwidth) / 2;
}

double message_latency(bool same_node, const Machine& machine) {
  return same_node ? machine.signal_latency : machine.network_latency;
}

bool is_copy(StepKind kind) {
  return kind == StepKind::copy || kind == StepKind::accumulate || kind == StepKind::fill;
}

bool is_message(StepKind kind) {
  return kind == StepKind::send || kind == StepKind::receive;
}

double transform_flops(const Machine& machine, Dtype elements) {
  if (machine.flops_transform == 0) return machine.flops;
  const bool is_double = elements == Dtype::f64 || elements == Dtype::c128;
  return is_double ? machine.flops_transform : 2 * machine.flops_transform;
}

int ranks_on_node(const Topology& topology, int rank) {
  return static_cast<int>(topology.node_ranks(topology.node(rank)).size());
}

}  // namespace partita::planning
