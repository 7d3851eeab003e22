#include "plan/moves.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace partita::planning {
namespace {

const Extents& axis_order(const Plan& plan, const Place& place) {
  const Buffer& buffer = buffer_of(plan, place);
  return buffer.operand ? buffer.operand->axis_order : place.axis_order;
}

// Whether the place's memory holds along this dimension the indices of the region and no others.
bool holds_only(const Plan& plan, const Place& place, const Region& region, std::size_t dimension) {
  const Buffer& buffer = buffer_of(plan, place);
  if (!buffer.operand) return true;
  if (!buffer.operand->dense) return false;
  return buffer.operand->layout.local_shape(place.rank)[static_cast<int>(dimension)] ==
         region.sets[dimension].size();
}

double average_run(const IndexSet& set) {
  std::int64_t runs = 0;
  for (const Interval& interval : set.intervals()) runs += interval.count;
  return static_cast<double>(set.size()) / static_cast<double>(std::max<std::int64_t>(runs, 1));
}

// The dimensions along which the region extends, fastest first.
std::vector<std::size_t> fastest_first(const Extents& order, const Region& region) {
  std::vector<std::size_t> result;
  for (int i = order.size() - 1; i >= 0; --i) {
    const auto dimension = static_cast<std::size_t>(order[i]);
    if (region.sets[dimension].size() > 1) result.push_back(dimension);
  }
  return result;
}

}  // namespace

const Buffer& buffer_of(const Plan& plan, const Place& place) {
  const auto index = static_cast<std::size_t>(place.buffer);
  check(index < plan.buffers.size(), "a plan of {} buffers has no buffer {}", plan.buffers.size(),
        place.buffer);
  return plan.buffers[index];
}

bool is_scratch(const Plan& plan, const Place& place) {
  return buffer_of(plan, place).kind != BufferKind::operand;
}

int memory_of(const Plan& plan, const Place& place) {
  const int viewed = plan.buffers[static_cast<std::size_t>(place.buffer)].view_of;
  return viewed >= 0 ? viewed : place.buffer;
}

bool is_private(const Plan& plan, const Place& place) {
  return plan.buffers[static_cast<std::size_t>(memory_of(plan, place))].kind == BufferKind::scratch;
}

bool is_pull(const Plan& plan, const Step& step) {
  if (step.kind != StepKind::copy || step.from.rank == plan.rank) return false;
  const Buffer& buffer = buffer_of(plan, step.from);
  return buffer.kind == BufferKind::operand && buffer.operand->residency == Residency::ordinary;
}

int other_rank(const Plan& plan, const Step& step) {
  const bool names_peer = step.kind == StepKind::signal || step.kind == StepKind::wait ||
                          step.kind == StepKind::send || step.kind == StepKind::receive;
  if (names_peer) return step.peer;
  return step.to.rank != plan.rank ? step.to.rank : step.from.rank;
}

std::int64_t scratch_bytes(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.kind != BufferKind::operand) bytes += buffer.bytes;
  }
  return bytes;
}

std::int64_t packed_bytes(const Place& place, const Region& region, std::int64_t item_bytes) {
  std::int64_t elements = region.size();
  if (place.pitch > 0 && elements > 0) {
    const std::int64_t fastest = place.axis_order[place.axis_order.size() - 1];
    const std::int64_t line = region.sets[static_cast<std::size_t>(fastest)].size();
    elements = (elements / line - 1) * place.pitch + line;
  }
  return elements * item_bytes;
}

std::int64_t item_bytes(const Plan& plan, const Step& step) {
  for (const Place* place : {&step.from, &step.to}) {
    const Buffer& buffer = buffer_of(plan, *place);
    if (buffer.operand) return size_of(buffer.operand->dtype);
    if (buffer.dtype) return size_of(*buffer.dtype);
  }
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.operand) return size_of(buffer.operand->dtype);
  }
  return 1;
}

std::int64_t moved_bytes(const Plan& plan, const Step& step) {
  return step.region.size() * item_bytes(plan, step);
}

std::int64_t expected_bytes(const Step& step) {
  return step.expected_bytes < 0 ? step.bytes : step.expected_bytes;
}

const Place& size_place(const Step& step) {
  return step.kind == StepKind::send ? step.to : step.from;
}

double run_bytes(const Plan& plan, const Step& step) {
  const auto from = fastest_first(axis_order(plan, step.from), step.region);
  const auto to = fastest_first(axis_order(plan, step.to), step.region);
  auto run = static_cast<double>(item_bytes(plan, step));
  for (std::size_t i = 0; i < std::min(from.size(), to.size()) && from[i] == to[i]; ++i) {
    const IndexSet& set = step.region.sets[from[i]];
    const bool whole =
        holds_only(plan, step.from, step.region, from[i]) && holds_only(plan, step.to, step.region, from[i]);
    run *= whole ? static_cast<double>(set.size()) : average_run(set);
    if (!whole) break;
  }
  return run;
}

}  // namespace partita::planning
