#include <functional>
#include <optional>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "distribution/permutation.hpp"
#include "execute/bound_plan.hpp"
#include "redistribute/problem.hpp"
#include "runtime/agree.hpp"

namespace partita {
namespace {

Shape result_shape(const Shape& shape, const std::vector<int>& axes) {
  if (axes.empty()) return shape;
  distribution::refuse_no_permutation(axes, shape.size());
  return distribution::permuted(shape, axes);
}

std::string options_text(const RedistributeOptions& options) {
  return fmt::format("axes ({}) method {} staging {}", fmt::join(options.axes, ","),
                     static_cast<int>(options.method), options.staging_bytes);
}

/// Plans on every rank, or throws the same error on every rank. `destination` is made inside the check, since
/// making it may fail.
Plan plan_together(ContextState& context, const Operand& source, const std::function<Operand()>& destination,
                   const RedistributeOptions& options) {
  context.require_usable("redistribute");
  std::optional<Plan> plan;
  collectively(context, "redistribute", [&]() -> std::vector<Fact> {
    const Operand target = destination();
    plan = plan_redistribute(source, target, context.topology(), context.rank(), options);
    return {{"source", source.to_string()},
            {"destination", target.to_string()},
            {"options", options_text(options)}};
  });
  context.heap->collect();  // plan creation is a named point of deferred release
  return std::move(*plan);
}

/// A bound plan with its destination seen as the plan sees it: in the source's index space.
class Runner {
 public:
  Runner(ContextState& context, Plan plan, const std::vector<int>& axes, Layout destination)
      : bound_(context, std::move(plan)), destination_(std::move(destination)) {
    if (!axes.empty()) inverse_ = redistribution::inverse_axes(axes, destination_.dimensions());
  }

  const Plan& plan() const { return bound_.plan(); }
  const Layout& destination() const { return destination_; }  ///< as the caller sees it

  void run(const Array& source, const Array& destination) {
    std::shared_ptr<Array::State> seen = destination.state();
    if (!inverse_.empty()) seen = permuted(*seen, inverse_);
    const std::array<const Array::State*, 2> operands{source.state().get(), seen.get()};
    bound_.execute(operands);
  }

 private:
  BoundPlan bound_;
  Layout destination_;
  std::vector<int> inverse_;
};

/// The context's plan from `source` to what `target` describes in words, made where there is none yet.
/// Collective when it is made; otherwise without any communication.
Runner& cached_plan(ContextState& context, const Operand& source, const std::string& target,
                    const std::function<Operand()>& destination, const RedistributeOptions& options) {
  const std::string key =
      fmt::format("redistribute {} | {} | {}", source.to_string(), target, options_text(options));
  if (const auto found = context.plans.find(key)) return *std::static_pointer_cast<Runner>(found);
  Plan plan = plan_together(context, source, destination, options);
  auto made = std::make_shared<Runner>(context, std::move(plan), options.axes, destination().layout);
  context.plans.insert(key, made);
  return *made;
}

/// Into a new array on the heap; its allocation is the call's one exchange, and carries what must agree.
Array redistribute_to_new(const Array& source, const std::string& target,
                          const std::function<Layout()>& layout, const RedistributeOptions& options) {
  const std::shared_ptr<ContextState>& context = source.context();
  context->require_usable("redistribute");
  const auto destination = [&] {
    return Operand::of(layout(), source.dtype(), options.order, Residency::heap);
  };
  Runner& runner =
      cached_plan(*context, source.operand(),
                  fmt::format("new {} {}", static_cast<int>(options.order), target), destination, options);
  Array array = allocate_on_heap(context, runner.destination(), source.dtype(), options.order,
                                 "redistribute to " + target);
  runner.run(source, array);
  return array;
}

void check_apart(const Array& source, const Array& destination) {
  check(source.context() == destination.context(),
        "redistribute: the two arrays belong to different contexts");
  check(source.state() != destination.state(), "redistribute: source and destination are the same array");
}

}  // namespace

Array redistribute(const Array& source, const Layout& destination, const RedistributeOptions& options) {
  return redistribute_to_new(
      source, destination.to_string(), [&] { return destination; }, options);
}

Array redistribute(const Array& source, const Distribution& destination, const RedistributeOptions& options) {
  const auto bind = [&] {
    return Layout(destination, result_shape(source.shape(), options.axes), source.context()->size());
  };
  return redistribute_to_new(source, destination.to_string(), bind, options);
}

void redistribute(const Array& source, Array& destination, const RedistributeOptions& options) {
  check_apart(source, destination);
  Operand target = destination.operand();
  const auto given = [&] { return target; };
  cached_plan(*source.context(), source.operand(), target.to_string(), given, options)
      .run(source, destination);
}

// --- Redistribute

struct Redistribute::State {
  std::shared_ptr<ContextState> context;  // declared first: it outlives the plan
  std::unique_ptr<Runner> runner;
  Planner planner;
  Array source;
  Array destination;
};

Redistribute::Redistribute(const Context& context, const Operand& source, const Operand& destination,
                           const RedistributeOptions& options)
    : state_(std::make_unique<State>()) {
  state_->context = context.state();
  Plan plan = plan_together(
      *state_->context, source, [&] { return destination; }, options);
  state_->runner =
      std::make_unique<Runner>(*state_->context, std::move(plan), options.axes, destination.layout);
  state_->planner = [source, destination, options, topology = context.topology()](int rank) {
    return plan_redistribute(source, destination, topology, rank, options);
  };
}

Redistribute::~Redistribute() = default;
Redistribute::Redistribute(Redistribute&&) noexcept = default;
Redistribute& Redistribute::operator=(Redistribute&&) noexcept = default;

void Redistribute::reset(const Array& source, Array& destination) {
  check_apart(source, destination);
  state_->source = source;
  state_->destination = destination;
}

void Redistribute::execute() {
  check(state_->source.valid(), "redistribute: execute() without arrays needs reset() first");
  state_->runner->run(state_->source, state_->destination);
}

void Redistribute::execute(const Array& source, Array& destination) {
  check_apart(source, destination);
  state_->runner->run(source, destination);
}

const Plan& Redistribute::plan() const {
  return state_->runner->plan();
}

std::string Redistribute::explain(const ExplainOptions& options) const {
  return partita::explain(plan(), options, state_->planner);
}

}  // namespace partita
