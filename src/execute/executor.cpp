#include "execute/executor.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "array/transfer.hpp"
#include "base/check.hpp"
#include "base/hash.hpp"
#include "device/stream_work.hpp"
#include "execute/device/device_plan.hpp"
#include "execute/device/fused_plan.hpp"
#include "execute/device/grouped_plan.hpp"
#include "execute/device/library_plan.hpp"
#include "execute/device/packet_plan.hpp"
#include "execute/host/bound_plan.hpp"
#include "execute/step_clock.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/call_notes.hpp"
#include "runtime/checks/withdrawal.hpp"

namespace partita::execution {
namespace {

// Given by the caller at each execution, and not compared anywhere else.
std::array<double, 5> factors_of(const Parameters& parameters) {
  return {parameters.alpha.real(), parameters.alpha.imag(), parameters.beta.real(), parameters.beta.imag(),
          parameters.scale};
}

std::uint64_t with_factors(std::uint64_t hash, const Parameters& parameters) {
  for (const double factor : factors_of(parameters)) {
    hash = mix(hash, std::bit_cast<std::uint64_t>(factor + 0.0));  // -0 is 0
  }
  return hash;
}

}  // namespace

MemorySpace space_of(const Plan& plan) {
  MemorySpace space = MemorySpace::host;
  bool first = true;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.kind != BufferKind::operand) continue;
    check<UnsupportedError>(
        first || buffer.operand->space == space,
        "{}: some arrays are in host memory and others in device memory; copy them to one of the two",
        plan.operation);
    space = buffer.operand->space;
    first = false;
  }
  return space;
}

std::int64_t scratch_bytes(const ContextState& context, const Plan& plan) {
  const bool direct = GroupedPlan::suits(context, plan) || context.device_messages_direct;
  return scratch_places(plan, space_of(plan), direct ? MemorySpace::device : MemorySpace::host).bytes;
}

std::unique_ptr<Executor> Executor::bind(ContextState& context, Planned planned,
                                         std::optional<std::int64_t> workspace) {
  Plan& plan = planned.plan;
  if (space_of(plan) == MemorySpace::host)
    return std::make_unique<BoundPlan>(context, std::move(plan), workspace, planned.given);
  // Before this plan wants memory, and before the ranks agree on it.
  context.device->physical().collect(context.device_sharers);
  if (planned.exchange) return std::make_unique<PacketPlan>(context, std::move(plan), *planned.exchange);
  if (planned.by_library)
    return std::make_unique<LibraryPlan>(context, std::move(plan), std::move(planned.by_library));
  if (GroupedPlan::suits(context, plan))
    return std::make_unique<GroupedPlan>(context, std::move(plan), workspace);
  if (workspace || !planned.packets.empty() || planned.solve)
    return std::make_unique<DevicePlan>(context, std::move(plan), workspace, planned.packets, planned.solve);
  if (auto fused = FusedPlan::of(context, plan)) return fused;
  return std::make_unique<DevicePlan>(context, std::move(plan));
}

void Executor::connect_all(ContextState& context, std::unique_ptr<Executor>& executor) {
  const Plan& plan = executor->plan();
  const bool may_fuse = space_of(plan) == MemorySpace::device && !GroupedPlan::suits(context, plan);
  if (may_fuse && context.size() > 1) {
    const auto* const fused = dynamic_cast<const FusedPlan*>(executor.get());
    const std::vector<int> all = runtime::exchange_values(context, plan.operation, fused != nullptr ? 1 : 0);
    if (fused != nullptr && fused->needs_all_ranks() && std::ranges::min(all) == 0) {
      executor = std::make_unique<DevicePlan>(context, Plan(plan));
    }
  }
  executor->connect();
}

Executor::Executor(ContextState& context, Plan plan, MemorySpace messages,
                   std::optional<std::int64_t> workspace)
    : context_(context),
      plan_(std::move(plan)),
      memory_(context, plan_, space_of(plan_), messages, workspace),
      plan_hash_(plan_.hash()) {
  context.notes->keep(plan_hash_, plan_.operation, plan_.identity);
  if (memory_.space() == MemorySpace::device) ahead_ = devices::RunAhead::of(context);
}

void Executor::execute(std::span<const Array::State* const> operands, const Parameters& parameters) {
  const bool on_device = memory_.space() == MemorySpace::device;
  if (on_device) arrays::require_no_capture_together(context_, plan_.operation);
  enqueue(operands, parameters, {});
  if (on_device) devices::finish_device(context_, plan_.operation);
}

std::string Executor::why_not_captured() const {
  return "between nodes it uses messages, which cannot be captured into a graph";
}

void Executor::enqueue(std::span<const Array::State* const> operands, const Parameters& parameters,
                       const std::optional<Stream>& stream) {
  context_.require_usable(plan_.operation);
  const bool on_host = memory_.space() == MemorySpace::host;
  arrays::require_stream_of_device(plan_.operation, !on_host, stream);
  // A rank that has no memory, or an operand that does not suit it, is reported to all ranks: they may be
  // executing already.
  runtime::check_or_tell_all(context_, plan_.operation, [&] { memory_.bind(operands); });
  memory_.exchange_addresses();
  runtime::check_or_tell_all(context_, plan_.operation, [&] { memory_.lower([this] { relower(); }); });
  if (on_host) {
    try {
      begin(parameters, {}, false);
    } catch (const runtime::Withdrawal&) {
      runtime::withdraw(context_, plan_.operation);
    } catch (...) {  // neighbours that come to know of a DisagreementError throw it, too
      context_.fail_with_current();
      throw;
    }
    return;
  }
  if (!may_be_captured()) {
    context_.device->use();
    check<UnsupportedError>(!context_.device->captures(devices::stream_or_own(context_, stream)), "{}: {}",
                            plan_.operation, why_not_captured());
  }
  devices::put_into_stream(context_, *ahead_, plan_.operation, stream,
                           [&](Stream used, bool captured) { begin(parameters, used, captured); });
}

void Executor::begin(const Parameters& parameters, Stream stream, bool captured) {
  const std::uint64_t hash = with_factors(memory_.execution_hash(plan_hash_), parameters);
  const runtime::ExecutionNote note{plan_hash_, memory_.array_numbers(), factors_of(parameters)};
  const runtime::Executed announced = runtime::announce(context_, hash, plan_.operation, captured, note);
  StepClock* const clock = captured ? nullptr : context_.step_clock;
  if (clock != nullptr) clock->execution(plan_);
  run({announced, parameters, stream, captured, clock});
}

}  // namespace partita::execution
