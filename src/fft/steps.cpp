#include "fft/steps.hpp"

#include <algorithm>
#include <limits>
#include <partita/redistribute.hpp>

#include "plan/append.hpp"
#include "plan/steps.hpp"

namespace partita::fourier {

const Operand& Steps::operand(int buffer) const {
  return *plan_.buffers[static_cast<std::size_t>(buffer)].operand;
}

// --- buffers

int Steps::add_array(const Layout& layout, Dtype dtype, const Extents& axis_order) {
  Operand operand = Operand::of(layout, dtype, Order::row_major, Residency::heap);
  operand.axis_order = axis_order;
  const std::int64_t bytes = layout.largest_local_size() * size_of(dtype);
  plan_.buffers.push_back({"stage", BufferKind::shared, std::move(operand), bytes});
  return static_cast<int>(plan_.buffers.size()) - 1;
}

int Steps::add_view(int buffer, const Operand& operand) {
  plan_.buffers.push_back({"view", BufferKind::shared, operand, 0, {}, buffer});
  return static_cast<int>(plan_.buffers.size()) - 1;
}

int Steps::scratch(const char* name, Dtype dtype, std::int64_t bytes) {
  auto& buffers = plan_.buffers;
  auto found = std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& buffer) {
    return buffer.name == name && buffer.dtype == dtype;
  });
  if (found == buffers.end()) {
    buffers.push_back({name, BufferKind::scratch, {}, 0, dtype});
    found = buffers.end() - 1;
  }
  found->bytes = std::max(found->bytes, bytes);
  return static_cast<int>(found - buffers.begin());
}

// --- steps

void Steps::copy(int owner, Region region, const Place& from, const Place& to) {
  push(plan_.steps, copy_step(owner, std::move(region), from, to));
}

void Steps::move(StepKind kind, Region region, const Place& from, const Place& to) {
  if (region.empty()) return;
  Step step = copy_step(plan_.rank, std::move(region), from, to);
  step.kind = kind;
  push(plan_.steps, std::move(step));
}

void Steps::compute(Work work) {
  append_work(plan_, std::move(work));
}

void Steps::signal(int peer, Channel channel) {
  push(plan_.steps, signal_step(peer, static_cast<int>(channel)));
}

void Steps::wait(int peer, Channel channel) {
  const int number = static_cast<int>(channel);
  push(plan_.steps, wait_step(peer, number, ++waited_[{peer, number}]));
}

void Steps::settle() {
  for (const auto& [peer, channel] : expected_) wait(peer, channel);
  expected_.clear();
}

void Steps::redistribute(int from, int to, std::int64_t staging_bytes) {
  redistribute(from, to, staging_bytes, {}, [](const Region&) {});
}

void Steps::redistribute(int from, int to, std::int64_t staging_bytes, const redistribution::Parts& parts,
                         const std::function<void(const Region&)>& make) {
  settle();
  RedistributeOptions options;
  options.staging_bytes = staging_bytes;
  redistribution::PlanInParts exchange =
      redistribution::plan_in_parts(operand(from), operand(to), plan_.topology, plan_.rank, options, parts);
  Plan& part = exchange.plan;
  std::vector<int> buffers{from, to};
  for (std::size_t i = 2; i < part.buffers.size(); ++i)
    buffers.push_back(add_or_share(plan_, part.buffers[i]));
  const Region own = operand(from).layout.region(plan_.rank);
  int made = 0;
  const auto make_up_to = [&](int step) {
    for (; made < parts.count && exchange.begins[static_cast<std::size_t>(made)] <= step; ++made) {
      const Region region = redistribution::part_of(own, parts, made);
      if (!region.empty()) make(region);
    }
  };
  const std::size_t first = plan_.steps.size();
  append(plan_, std::move(part), buffers, make_up_to);
  make_up_to(std::numeric_limits<int>::max());
  for (std::size_t i = first; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    if (step.kind != StepKind::wait) continue;
    std::int64_t& most = waited_[{step.peer, step.channel}];
    most = std::max(most, step.count);
  }
}

}  // namespace partita::fourier
