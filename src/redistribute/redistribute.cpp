#include <array>
#include <functional>
#include <optional>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "distribution/permutation.hpp"
#include "redistribute/operation.hpp"
#include "redistribute/problem.hpp"

namespace partita {

using redistribution::Redistribution;

namespace {

Shape result_shape(const Shape& shape, const std::vector<int>& axes) {
  if (axes.empty()) return shape;
  distribution::refuse_no_permutation(axes, shape.size());
  return distribution::permuted(shape, axes);
}

/// The context's plan from `source` to what `target` identifies, made where there is none yet. Collective
/// when it is made; otherwise without any communication.
template <class Target>
std::shared_ptr<Redistribution> kept(ContextState& context, const Operand& source, const Target& target,
                                     const std::function<Operand()>& destination,
                                     const RedistributeOptions& options) {
  contexts::PlanKey key("redistribute");
  key.add(source, target);
  redistribution::for_each_option(options, key);
  return execution::Operation::kept<Redistribution>(context, key, source, destination, options);
}

void run(Redistribution& redistribution, const Array& source, const Array& destination,
         const std::optional<Stream>& stream) {
  const std::array<const Array*, 2> arrays{&source, &destination};
  redistribution.run(arrays, {}, stream);
}

/// Into a new array; its allocation is the call's one exchange, and carries what must agree. `target`: the
/// distribution or the layout.
template <class Target>
Array redistribute_to_new(const Array& source, const Target& target, const std::function<Layout()>& layout,
                          const RedistributeOptions& options, SourcePlace where) {
  const std::shared_ptr<ContextState>& context = source.context_state();
  context->require_usable("redistribute");
  const ArrayOptions made{.residency = options.residency,
                          .order = options.order,
                          .space = options.space.value_or(source.local().space)};
  const auto destination = [&] {
    check<UnsupportedError>(
        made.space == MemorySpace::host || context->device != nullptr,
        "redistribute: the result was requested in device memory, but this context has no device");
    Operand operand = Operand::of(layout(), source.dtype(), made.order, made.residency);
    operand.space = *made.space;
    return operand;
  };
  contexts::PlanKey result("new");
  result.add(made.order, made.residency, *made.space, target);
  const auto redistribution = kept(*context, source.state()->operand, result, destination, options);
  Array array = redistribution->result(context, 1, redistribution->purpose(), where);
  run(*redistribution, source, array, options.stream);
  return array;
}

void check_apart(const Array& source, const Array& destination) {
  arrays::check_same_context("redistribute", source, "the source", destination, "the destination");
  check(source.state() != destination.state(), "redistribute: source and destination are the same array");
  check(!arrays::overlap(source, destination),
        "redistribute: source and destination overlap in memory; redistribute into a new array first");
  arrays::check_written("redistribute", destination);
}

}  // namespace

Array redistribute(const Array& source, const Layout& destination, const RedistributeOptions& options,
                   SourcePlace where) {
  return redistribute_to_new(
      source, destination, [&] { return destination; }, options, where);
}

Array redistribute(const Array& source, const Distribution& destination, const RedistributeOptions& options,
                   SourcePlace where) {
  const auto layout = [&] {
    return Layout(destination, result_shape(source.shape(), options.axes), source.context_state()->size());
  };
  return redistribute_to_new(source, destination, layout, options, where);
}

void redistribute_into(const Array& source, Array& destination, const RedistributeOptions& options) {
  ContextState& context = *source.context_state();
  context.require_usable("redistribute");
  arrays::check_pair(context, "redistribute", source, destination, [&] { check_apart(source, destination); });
  const Operand& target = destination.state()->operand;
  const auto redistribution = kept(
      context, source.state()->operand, target, [&] { return target; }, options);
  run(*redistribution, source, destination, options.stream);
}

// --- Redistribute

struct Redistribute::State {
  std::shared_ptr<ContextState> context;  // declared first: it outlives the plan
  std::shared_ptr<Redistribution> redistribution;
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
  const auto asked = [&] {
    check(!options.stream, "Redistribute: the options of a plan have a stream; pass it to execute");
    return destination;
  };
  state_->redistribution =
      execution::Operation::make<Redistribution>(*state_->context, source, asked, options);
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
  run(*state_->redistribution, state_->source, state_->destination, stream);
}

void Redistribute::execute(const Array& source, Array& destination, std::optional<Stream> stream) {
  state_->check_together(source, destination);
  run(*state_->redistribution, source, destination, stream);
}

const Plan& Redistribute::plan() const {
  return state_->redistribution->plan();
}

std::string Redistribute::explain(const ExplainOptions& options) const {
  return partita::explain(plan(), options, state_->redistribution->planner());
}

}  // namespace partita
