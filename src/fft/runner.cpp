#include "fft/runner.hpp"

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "fft/problem.hpp"
#include "kernels/host/fft_planning.hpp"
#include "runtime/agree.hpp"

namespace partita::fourier {

Request into_new(const ContextState& context, const Operand& input, const FftOptions& options) {
  const Layout layout = result_layout(input, context.topology(), options, context.machine);
  const Problem problem = make_problem(input, context.topology(), options, context.machine);
  return {input, Operand::of(layout, problem.dtype, options.order, options.residency), options};
}

Runner::Runner(ContextState& context, const std::function<Request()>& request) : context_(context) {
  context.require_usable("fft");
  runtime::collectively(context, "fft", [&]() -> std::vector<Fact> {
    request_ = request();
    const Request& agreed = *request_;
    plan_ = plan_fft(agreed.input, agreed.output, context.topology(), context.rank(), agreed.options,
                     context.machine, agreed.in_place);
    factor_ = norm_factor(make_problem(agreed.input, context.topology(), agreed.options, context.machine));
    return plan_.identity;
  });
  context.heap->collect();  // plan creation is a named point of deferred release
}

Planner Runner::planner() const {
  return [request = *request_, topology = context_.topology(), machine = context_.machine](int rank) {
    return plan_fft(request.input, request.output, topology, rank, request.options, machine,
                    request.in_place);
  };
}

void Runner::prepare() {
  if (bound_) return;
  context_.require_usable("fft");
  std::optional<std::int64_t> workspace;
  if (workspace_.valid()) workspace = workspace_.state()->heap_offset;
  std::unique_ptr<execution::Executor> bound;
  runtime::collectively(context_, "fft scratch", [&]() -> std::vector<Fact> {
    bound = execution::Executor::bind(context_, plan_, workspace);
    return {};
  });
  bound->connect();
  bound_ = std::move(bound);
}

void Runner::run(const Array& input, const Array& output, double scale) {
  const kernels::FftPlanning planning(request_->options.measure, request_->options.wisdom_file);
  prepare();
  const std::array<const Array::State*, 2> operands{input.state().get(), output.state().get()};
  Parameters parameters;
  parameters.scale = factor_ * scale;
  bound_->execute(operands, parameters);
}

void Runner::release() {
  bound_.reset();
  context_.heap->collect();
}

std::int64_t Runner::workspace_size() const {
  return execution::scratch_places(plan_).bytes;
}

void Runner::set_workspace(const Array& workspace) {
  runtime::collectively(context_, "fft workspace", [&]() -> std::vector<Fact> {
    check(workspace.valid() && workspace.state()->heap_offset >= 0,
          "fft: a workspace must be an array on the symmetric heap");
    const std::int64_t bytes = workspace.local_size() * size_of(workspace.dtype());
    check(bytes >= workspace_size(), "fft: the workspace has {} bytes on this rank, but {} are needed", bytes,
          workspace_size());
    return {{"workspace", fmt::format("at {}", workspace.state()->heap_offset)}};
  });
  bound_.reset();
  workspace_ = workspace;
}

void check_aliasing(const Array& input, const Array& output, bool in_place) {
  check(input.valid() && output.valid(), "fft: an array is missing");
  check(input.context_state() == output.context_state(), "fft: the two arrays belong to different contexts");
  const bool same = input.state() == output.state() ||
                    (input.local().data == output.local().data && input.local_size() > 0);
  check(!same || in_place, "fft: input and output are the same array, but the plan is not in place");
  check(same || !in_place || output.local_size() == 0,
        "fft: the plan is in place, but input and output are different arrays");
}

}  // namespace partita::fourier
