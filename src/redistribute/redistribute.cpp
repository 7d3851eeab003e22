#include <fmt/format.h>

#include <functional>
#include <optional>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "array/stand_in.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "context/kept_plans.hpp"
#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "distribution/permutation.hpp"
#include "execute/executor.hpp"
#include "execute/packet_plan.hpp"
#include "redistribute/packets.hpp"
#include "redistribute/problem.hpp"
#include "redistribute/rounds.hpp"
#include "runtime/agree.hpp"

namespace partita {
namespace {

Shape result_shape(const Shape& shape, const std::vector<int>& axes) {
  if (axes.empty()) return shape;
  distribution::refuse_no_permutation(axes, shape.size());
  return distribution::permuted(shape, axes);
}

/// A plan that is bound.
struct Made {
  std::unique_ptr<execution::Executor> bound;
  bool in_packets = false;
  RedistributeOptions options;  ///< that it was made with
};

/// A plan bound on every rank, or the same error on every rank. `destination` is made inside the check, since
/// making it may fail. Where packets do not suit some rank, all go another way.
Made plan_together(ContextState& context, const Operand& source, const std::function<Operand()>& destination,
                   const RedistributeOptions& options) {
  context.require_usable("redistribute");
  std::unique_ptr<execution::PacketPlan> packets;
  Made made{nullptr, false, options};
  std::optional<Operand> from, to;
  std::vector<Fact> identity;
  const auto prepare = [&]() -> std::vector<Fact> {
    devices::require_no_capture(context, "redistribute", "making a plan");
    const Operand target = destination();
    from = arrays::as_planned(source, target.space);
    to = arrays::as_planned(target, source.space);
    identity = redistribution::facts(source, target, options);  // as the caller sees them
    return identity;
  };
  if (context.device_topology.node_count() > 1) {
    runtime::collectively(context, "redistribute", prepare);
    const bool may = from->space == MemorySpace::device && options.method == RedistributeMethod::automatic;
    const Topology& topology = context.topology(from->space);
    if (may && devices::messages_go_in_groups(context) &&
        redistribution::fits_rounds(
            redistribution::make_problem(*from, *to, topology, context.rank(), options))) {
      made.options.method = RedistributeMethod::grouped;
    }
  }
  const auto bind = [&] {
    const Topology& topology = context.topology(from->space);
    Plan plan = plan_redistribute(*from, *to, topology, context.rank(), made.options);
    plan.identity = identity;
    made.bound = execution::Executor::bind(context, std::move(plan));
  };
  runtime::collectively(context, "redistribute", [&]() -> std::vector<Fact> {
    if (!from) prepare();
    auto planned = redistribution::plan_in_packets(*from, *to, context.topology(from->space), context.rank(),
                                                   made.options);
    if (!planned) {
      bind();
    } else {
      planned->plan.identity = identity;
      packets = std::make_unique<execution::PacketPlan>(context, std::move(planned->plan), planned->exchange);
    }
    return identity;
  });
  context.heap_in(from->space).collect();  // plan creation is a named point of deferred release
  if (packets && packets->suits_all_ranks()) {
    packets->connect();
    made.bound = std::move(packets);
    made.in_packets = true;
    return made;
  }
  if (packets) runtime::collectively(context, "redistribute", bind);
  execution::Executor::connect_all(context, made.bound);
  return made;
}

/// Of a stream-ordered call. All ranks know where the arrays are.
void require_device_memory(MemorySpace source, MemorySpace destination) {
  check<UnsupportedError>(
      source == MemorySpace::device && destination == MemorySpace::device,
      "redistribute: the source or the destination is in host memory; stream-ordered calls "
      "require device arrays");
}

/// A bound plan with its destination seen as the plan sees it: in the source's index space.
class Runner {
 public:
  Runner(ContextState& context, Made made, const Operand& source, const Operand& destination,
         const RedistributeOptions& options)
      : context_(context),
        bound_(std::move(made.bound)),
        in_packets_(made.in_packets),
        destination_(destination.layout) {
    if (!options.axes.empty()) {
      inverse_ = redistribution::inverse_axes(options.axes, destination_.dimensions());
    }
    if (source.space == destination.space) return;
    if (source.space == MemorySpace::host) device_source_ = arrays::allocate_stand_in(context, source);
    if (destination.space == MemorySpace::host) {
      device_destination_ = arrays::allocate_stand_in(context, destination);
    }
  }

  const Plan& plan() const { return bound_->plan(); }
  bool in_packets() const { return in_packets_; }
  const Layout& destination() const { return destination_; }  ///< as the caller sees it

  void run(const Array& source, const Array& destination) {
    if (bound_on_device()) arrays::require_no_capture_together(context_, "redistribute");
    if (device_source_.valid()) copy(source, device_source_);
    with_operands(source, destination, [&](auto operands) { bound_->execute(operands); });
    if (device_destination_.valid()) copy(device_destination_, destination);
  }

  void enqueue(const Array& source, const Array& destination, Stream stream) {
    require_device_memory(source.local().space, destination.local().space);
    with_operands(source, destination, [&](auto operands) { bound_->enqueue(operands, {}, stream); });
  }

 private:
  bool bound_on_device() const { return execution::space_of(plan()) == MemorySpace::device; }

  /// What it takes of memory, some rank may not have.
  void copy(const Array& from, const Array& to) {
    runtime::check_or_tell_all(context_, "redistribute",
                               [&] { arrays::copy_view(context_, from.local(), to.local()); });
  }

  template <class Body>
  void with_operands(const Array& source, const Array& destination, Body&& body) {
    std::shared_ptr<Array::State> seen =
        (device_destination_.valid() ? device_destination_ : destination).state();
    if (!inverse_.empty()) seen = arrays::permuted(*seen, inverse_);
    const Array& given = device_source_.valid() ? device_source_ : source;
    const std::array<const Array::State*, 2> operands{given.state().get(), seen.get()};
    body(std::span<const Array::State* const>(operands));
  }

  ContextState& context_;
  std::unique_ptr<execution::Executor> bound_;
  bool in_packets_;
  Layout destination_;
  std::vector<int> inverse_;
  Array device_source_;       // of the source's layout, on the device, where the source is on the host
  Array device_destination_;  // likewise of the destination
};

/// The context's plan from `source` to what `target` identifies, made where there is none yet. Collective
/// when it is made; otherwise without any communication.
template <class Target>
std::shared_ptr<Runner> cached_plan(ContextState& context, const Operand& source, const Target& target,
                                    const std::function<Operand()>& destination,
                                    const RedistributeOptions& options) {
  contexts::PlanKey key("redistribute");
  key.add(source, target);
  redistribution::for_each_option(options, [&](const char*, const auto& value) { (void)key.add(value); });
  return contexts::kept_plan<Runner>(context, key, [&] {
    Made made = plan_together(context, source, destination, options);
    return std::make_shared<Runner>(context, std::move(made), source, destination(), options);
  });
}

/// Without a stream it is done when this returns.
void run(ContextState& context, const std::shared_ptr<Runner>& runner, const Array& source,
         const Array& destination, const std::optional<Stream>& stream) {
  if (!stream) return runner->run(source, destination);
  contexts::keep_for_graph(context, *stream, runner);
  runner->enqueue(source, destination, *stream);
}

/// Into a new array; its allocation is the call's one exchange, and carries what must agree.
Array redistribute_to_new(const Array& source, const std::string& target,
                          const std::function<Layout()>& layout, const RedistributeOptions& options,
                          SourcePlace where) {
  const std::shared_ptr<ContextState>& context = source.context_state();
  context->require_usable("redistribute");
  const ArrayOptions made{options.residency, options.order, options.space.value_or(source.local().space)};
  if (options.stream) require_device_memory(source.local().space, *made.space);
  const auto destination = [&] {
    check<UnsupportedError>(
        made.space == MemorySpace::host || context->device != nullptr,
        "redistribute: the result was requested in device memory, but this context has no device");
    Operand operand = Operand::of(layout(), source.dtype(), made.order, made.residency);
    operand.space = *made.space;
    return operand;
  };
  const std::shared_ptr<Runner> runner =
      cached_plan(*context, source.operand(),
                  fmt::format("new {} {} {} {}", static_cast<int>(made.order),
                              static_cast<int>(made.residency), name(*made.space), target),
                  destination, options);
  Array array = arrays::allocate(context, runner->destination(), source.dtype(), made,
                                 "redistribute to " + target, where);
  run(*context, runner, source, array, options.stream);
  return array;
}

void check_apart(const Array& source, const Array& destination) {
  arrays::check_same_context("redistribute", source, "the source", destination, "the destination");
  check(source.state() != destination.state(), "redistribute: source and destination are the same array");
  check(!arrays::overlap(source, destination),
        "redistribute: source and destination overlap in memory; redistribute into a new array first");
  arrays::check_written("redistribute", destination);
}

std::shared_ptr<Runner> plan_into(const Array& source, const Array& destination,
                                  const RedistributeOptions& options) {
  ContextState& context = *source.context_state();
  context.require_usable("redistribute");
  arrays::check_pair(context, "redistribute", source, destination, [&] { check_apart(source, destination); });
  const Operand& target = destination.state()->operand;
  return cached_plan(
      context, source.state()->operand, target, [&] { return target; }, options);
}

}  // namespace

Array redistribute(const Array& source, const Layout& destination, const RedistributeOptions& options,
                   SourcePlace where) {
  return redistribute_to_new(
      source, destination.to_string(), [&] { return destination; }, options, where);
}

Array redistribute(const Array& source, const Distribution& destination, const RedistributeOptions& options,
                   SourcePlace where) {
  const auto bind = [&] {
    return Layout(destination, result_shape(source.shape(), options.axes), source.context_state()->size());
  };
  return redistribute_to_new(source, destination.to_string(), bind, options, where);
}

void redistribute_into(const Array& source, Array& destination, const RedistributeOptions& options) {
  run(*source.context_state(), plan_into(source, destination, options), source, destination, options.stream);
}

// --- Redistribute

struct Redistribute::State {
  std::shared_ptr<ContextState> context;  // declared first: it outlives the plan
  std::shared_ptr<Runner> runner;         // graphs may have their share
  Planner planner;
  Array source;
  Array destination;

  void check_own(const Array& array) const {
    arrays::check_context("redistribute", *context, "the plan", array, "the source");
  }
  /// The destination is in the source's context.
  void check_together(const Array& from, const Array& to) const {
    arrays::check_pair(*context, "redistribute", from, to, [&] {
      check_own(from);
      check_apart(from, to);
    });
  }
};

Redistribute::Redistribute(const Context& context, const Operand& source, const Operand& destination,
                           const RedistributeOptions& options)
    : state_(std::make_unique<State>()) {
  state_->context = context.state();
  ContextState& shared = *state_->context;
  Made made = contexts::with_room(shared, [&] {
    const auto asked = [&] {
      check(!options.stream, "Redistribute: the options of a plan have a stream; pass it to execute");
      return destination;
    };
    return plan_together(shared, source, asked, options);
  });
  const RedistributeOptions planned = made.options;
  state_->runner = std::make_shared<Runner>(*state_->context, std::move(made), source, destination, options);
  const Operand from = arrays::as_planned(source, destination.space);
  const Operand to = arrays::as_planned(destination, source.space);
  const bool in_packets = state_->runner->in_packets();
  state_->planner = [from, to, planned, in_packets,
                     topology = state_->context->topology(from.space)](int rank) {
    return in_packets ? redistribution::plan_in_packets(from, to, topology, rank, planned).value().plan
                      : plan_redistribute(from, to, topology, rank, planned);
  };
}

Redistribute::~Redistribute() = default;
Redistribute::Redistribute(Redistribute&&) noexcept = default;
Redistribute& Redistribute::operator=(Redistribute&&) noexcept = default;

void Redistribute::reset(const Array& source, Array& destination) {
  state_->check_own(source);
  check_apart(source, destination);
  state_->source = source;
  state_->destination = destination;
}

void Redistribute::execute(std::optional<Stream> stream) {
  check(state_->source.valid(), "redistribute: execute() without arrays needs reset() first");
  run(*state_->context, state_->runner, state_->source, state_->destination, stream);
}

void Redistribute::execute(const Array& source, Array& destination, std::optional<Stream> stream) {
  state_->check_together(source, destination);
  run(*state_->context, state_->runner, source, destination, stream);
}

const Plan& Redistribute::plan() const {
  return state_->runner->plan();
}

std::string Redistribute::explain(const ExplainOptions& options) const {
  return partita::explain(plan(), options, state_->planner);
}

}  // namespace partita
