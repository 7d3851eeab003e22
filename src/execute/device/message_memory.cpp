#include "execute/device/message_memory.hpp"

#include <algorithm>

#include "execute/device/put_move.hpp"
#include "plan/moves.hpp"

namespace partita::execution {

MessageMemory::MessageMemory(ContextState& context, const Plan& plan, const MessageUse& use)
    : context_(context),
      plan_(plan),
      wanted_(context.options.copy_way),
      of_messages_(message_buffers(plan)),
      ways_(plan.steps.size(), devices::BusWay::kernel),
      resting_(plan.buffers.size()) {
  if (context.device_messages_direct) return;
  if (wanted_ == CopyWay::kernel ||
      (wanted_ == CopyWay::automatic && use.largest <= devices::few_bytes_on_bus))
    return;
  context.device->use();
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    const Buffer& buffer = plan.buffers[b];
    if (!of_messages_[b] || buffer.bytes == 0) continue;
    if (buffer.operand) continue;  // its pieces are not contiguous there
    resting_[b] = {static_cast<char*>(context.device->physical().allocate(buffer.bytes)), Release{&context}};
  }
}

void MessageMemory::lower(std::size_t step, std::span<const kernels::StridedCopy> nests) {
  const Step& move = plan_.steps[step];
  ways_[step] = devices::BusWay::kernel;
  if (context_.device_messages_direct || move.kind == StepKind::fill) return;
  const bool packs = is_for_messages(move.to);
  if (packs && (is_for_messages(move.from) || move.kind != StepKind::copy)) return;
  if (resting(packs ? move.to : move.from) == nullptr) return;
  const devices::BusWay way = devices::choose_bus_way(nests, wanted_).way;
  const bool adds = move.kind == StepKind::accumulate;  // which engines cannot
  ways_[step] = adds && way == devices::BusWay::engine ? devices::BusWay::through_device : way;
}

void MessageMemory::move(std::size_t step, std::span<const kernels::StridedCopy> nests,
                         const PlanMemory& memory, Stream stream) {
  const Step& move = plan_.steps[step];
  const char* const from = memory.address(move.from);
  char* const to = memory.address(move.to);
  devices::Accelerator& device = *context_.device;
  const auto put = [&](const char* source, char* destination) {
    put_move(device, plan_, move, nests, source, destination, devices::CopyScope::inside, stream);
  };
  if (ways_[step] == devices::BusWay::kernel) return put(from, to);
  if (ways_[step] == devices::BusWay::engine) {
    for (const kernels::StridedCopy& nest : nests) device.transfer(nest, from, to, stream);
    return;
  }
  const std::int64_t bytes = planning::moved_bytes(plan_, move);
  if (is_for_messages(move.to)) {
    put(from, resting(move.to));
    return device.copy_bytes(resting(move.to) + move.to.offset, to + move.to.offset, bytes, stream);
  }
  device.copy_bytes(from + move.from.offset, resting(move.from) + move.from.offset, bytes, stream);
  put(resting(move.from), to);
}

}  // namespace partita::execution
