#include "execute/works/device_works.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/round.hpp"
#include "device/stream_work.hpp"
#include "plan/lanes.hpp"
#include "plan/work.hpp"
#include "runtime/groups/kept_until_exit.hpp"

namespace partita::execution {
namespace {

/// Dense operands are not needed here; the others are assumed to have the worst layout.
std::vector<Strides> strides_for_trial(const Plan& plan) {
  std::vector<Strides> strides;
  for (const Buffer& buffer : plan.buffers) {
    strides.emplace_back();
    if (!buffer.operand || buffer.operand->dense) continue;
    strides.back() = dense_strides(buffer.operand->layout.local_shape(plan.rank));
    for (std::int64_t& stride : strides.back()) stride *= 2;
  }
  return strides;
}

std::vector<bool> works_in_lanes(const Plan& plan) {
  std::vector<bool> found(plan.works.size());
  const std::vector<int> lanes = planning::lanes_of(plan);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.kind == StepKind::compute && lanes[i] != planning::in_order)
      found[static_cast<std::size_t>(step.work)] = true;
  }
  return found;
}

}  // namespace

DeviceWorks::DeviceWorks(ContextState& context, const Plan& plan, std::span<const planning::Touched> touched,
                         devices::LastUse& use, std::optional<std::int64_t> given)
    : context_(context), plan_(plan), use_(use) {
  if (plan.works.empty()) return;
  context.device->use();
  places_.operation = plan.operation;
  places_.rank = plan.rank;
  places_.buffers = plan.buffers;
  for (int dtype = 0; dtype < dtype_count; ++dtype) {
    places_.buffers.push_back({"workspace", BufferKind::scratch, {}, 0, static_cast<Dtype>(dtype)});
  }
  places_.buffers.push_back({"counters", BufferKind::scratch, {}, 0, Dtype::i32});
  if (given) given_ = static_cast<char*>(context.heap_in(MemorySpace::device).at(context.rank(), *given));
  put_to_peers_ = planning::put_to_peers(plan);
  ended_ = find_ended_multiplies(plan, touched);
  in_lanes_ = works_in_lanes(plan);
  lower(strides_for_trial(plan), true);
}

DeviceWorks::~DeviceWorks() {
  use_.await();
  if (!context_.failed()) return;
  outgrown_.push_back(std::move(workspace_));
  outgrown_.push_back(std::move(counters_));
  runtime::keep_until_exit(std::make_shared<std::vector<devices::DeviceMemory>>(std::move(outgrown_)));
}

char* DeviceWorks::workspace(std::size_t work) const {
  char* const start = workspace_.bytes() > 0 ? static_cast<char*>(workspace_.data()) : given_;
  return in_lanes_[work] ? start + of_lanes_ : start;
}

void DeviceWorks::join_ended(std::vector<planning::Touched>& touched) const {
  for (std::size_t i = 0; i + 1 < touched.size(); ++i) {
    const int work = plan_.steps[i].work;
    if (work < 0 || !ended_[static_cast<std::size_t>(work)]) continue;
    planning::Touched &one = touched[i], &next = touched[i + 1];
    one.read.insert(one.read.end(), next.read.begin(), next.read.end());
    one.written.insert(one.written.end(), next.written.begin(), next.written.end());
  }
}

void DeviceWorks::lower(const std::vector<Strides>& strides, bool may_try) {
  if (plan_.works.empty()) return;
  std::vector<Strides> all = strides;
  all.resize(places_.buffers.size());
  const WorkBinding memory{places_, all};
  DeviceWorkBinding binding{memory, *context_.device, 0, 0, {}, false, {}};
  binding.workspaces = static_cast<int>(plan_.buffers.size());
  binding.counters = {static_cast<int>(places_.buffers.size()) - 1, plan_.rank, 0, {}};
  binding.may_try = may_try;
  binding.put_to_peers = put_to_peers_;
  // What they have prepared is there as long as they are, and found again.
  const std::vector<std::unique_ptr<DeviceBoundWork>> before = std::move(works_);
  works_.clear();
  std::int64_t in_order = 0, in_lanes = 0;
  for (std::size_t i = 0; i < plan_.works.size(); ++i) {
    binding.work = static_cast<int>(i);
    works_.push_back(ended_[i] ? bind_ended_multiply(plan_, static_cast<int>(i), *ended_[i], binding)
                               : bind_device_work(plan_.works[i], binding));
    std::int64_t& most = in_lanes_[i] ? in_lanes : in_order;
    most = std::max(most, works_.back()->workspace_bytes());
    binding.counters.offset += works_.back()->counters() * size_of(Dtype::i32);
  }
  for (const auto& ended : ended_) {
    if (ended) works_[static_cast<std::size_t>(ended->epilogue)].reset();
  }
  take_counters(binding.counters.offset / size_of(Dtype::i32));
  of_lanes_ = in_lanes > 0 ? round_up(in_order, workspace_alignment) : 0;
  const std::int64_t bytes = in_lanes > 0 ? of_lanes_ + in_lanes : in_order;
  if (given_ != nullptr && may_try) given_bytes_ = bytes;
  if (bytes <= workspace_bytes()) return;
  if (in_graphs_) {
    outgrown_.push_back(std::move(workspace_));
    in_graphs_ = false;
  } else {
    use_.await();
    workspace_.reset();
  }
  workspace_ = devices::DeviceMemory(*context_.device, bytes);
}

void DeviceWorks::take_counters(std::int64_t count) {
  if (count == 0 || counters_.bytes() > 0) return;
  const std::vector<std::uint64_t> zeros(static_cast<std::size_t>(count + 1) / 2);
  const auto bytes = static_cast<std::int64_t>(zeros.size() * sizeof(std::uint64_t));
  counters_ = devices::DeviceMemory(*context_.device, bytes);
  context_.device->physical().copy_past(counters_.data(), zeros.data(), bytes);
}

void DeviceWorks::enqueue(const Step& step, const PlanMemory& memory, const Parameters& parameters,
                          Stream stream, bool captured) {
  in_graphs_ = in_graphs_ || captured;
  const auto number = static_cast<std::size_t>(step.work);
  const AddressOf address = [this, &memory, number](const Place& place) {
    const auto buffer = static_cast<std::size_t>(place.buffer);
    if (buffer < plan_.buffers.size()) return memory.address(place);
    return buffer + 1 < places_.buffers.size() ? workspace(number) : static_cast<char*>(counters_.data());
  };
  DeviceBoundWork* const work = works_[number].get();
  if (work != nullptr) work->enqueue(address, parameters, stream);
}

}  // namespace partita::execution
