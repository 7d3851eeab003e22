#include "fft/runner.hpp"

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "array/stand_in.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "base/contains.hpp"
#include "base/memory_space.hpp"
#include "device/accelerator.hpp"
#include "device/device_synchronization.hpp"
#include "fft/plan.hpp"
#include "fft/problem.hpp"
#include "kernels/host/fft_planning.hpp"
#include "runtime/agree.hpp"

namespace partita::fourier {

namespace {

MemorySpace space_of(const Request& request) {
  const bool on_device =
      request.input.space == MemorySpace::device || request.output.space == MemorySpace::device;
  return on_device ? MemorySpace::device : MemorySpace::host;
}

bool lies_on_device(const Array& array) {
  return array.local().space == MemorySpace::device;
}

/// Each element of one is that of the other with the same index.
bool are_one_memory(const Array& a, const Array& b) {
  const View &x = a.local(), &y = b.local();
  return a.state() == b.state() || (x.data == y.data && a.local_size() > 0 && x.extents == y.extents &&
                                    x.dtype == y.dtype && arrays::lies_as(x, y.strides));
}

}  // namespace

Request into_new(const ContextState& context, const Operand& input, const FftOptions& options) {
  const Topology& topology = context.topology(input.space);
  const Layout layout = result_layout(input, topology, options, context.machine);
  const Problem problem = make_problem(input, topology, options, context.machine);
  Operand output = Operand::of(layout, problem.dtype, options.order, options.residency);
  output.space = input.space;
  return {input, output, options};
}

Runner::Runner(ContextState& context, const std::function<Request()>& request) : context_(context) {
  context.require_usable("fft");
  const auto ask = [&]() -> std::vector<Fact> {
    request_ = request();
    if (on_device()) devices::require_no_capture(context, "fft", "making a plan");
    return {{"input", request_->input.to_string()}, {"output", request_->output.to_string()}};
  };
  if (context.device_topology.node_count() > 1) {
    runtime::collectively(context, "fft", ask);
    grouped_ = on_device() && devices::messages_go_in_groups(context);
  }
  runtime::collectively(context, "fft", [&]() -> std::vector<Fact> {
    if (!request_) ask();
    const Request& agreed = *request_;
    auto planned = plan_of(context.rank());
    plan_ = std::move(planned.plan);
    packets_ = std::move(planned.packets);
    factor_ = norm_factor(make_problem(arrays::as_planned(agreed.input, agreed.output.space),
                                       context.topology(space_of(agreed)), agreed.options, context.machine));
    return plan_.identity;
  });
  context.heap_in(space_of(*request_)).collect();  // plan creation is a named point of deferred release
  if (on_device()) prepare();
}

bool Runner::on_device() const {
  return space_of(*request_) == MemorySpace::device;
}

/// Where the device has no kernel for lines that might be stored (shared memory of its blocks is short),
/// arrays are copied. Devices of a kind agree, and others find out that their plans differ.
FftOptions Runner::options_here() const {
  FftOptions options = request_->options;
  const devices::DeviceTransforms* const transforms = on_device() ? context_.device->transforms() : nullptr;
  if (transforms == nullptr) return options;
  const Dtype dtype = request_->input.dtype;
  const bool single = dtype == Dtype::c64 || dtype == Dtype::f32;
  const Shape& shape = request_->input.layout.shape();
  for (std::int64_t length = 2; length <= TransformInto::longest; length *= 2) {
    const bool has_axis = contains(shape, length);
    if (has_axis && !transforms->has_lines_of(length, single)) options.exchange = FftExchange::copies;
  }
  return options;
}

TransformPlan Runner::plan_of(int rank) const {
  const Request& request = *request_;
  return plan_transform(request.input, request.output, context_.topology(space_of(request)), rank,
                        options_here(), context_.machine, request.in_place, grouped_);
}

Planner Runner::planner() const {
  return [this](int rank) { return plan_of(rank).plan; };
}

void Runner::prepare() {
  if (bound_) return;
  context_.require_usable("fft");
  std::optional<std::int64_t> workspace;
  if (workspace_.valid()) workspace = workspace_.state()->heap_offset;
  std::unique_ptr<execution::Executor> bound;
  runtime::collectively(context_, "fft scratch", [&]() -> std::vector<Fact> {
    if (on_device()) {
      devices::require_no_capture(context_, "fft", "making a plan");
      devices::finish_device(context_, "fft");  // what a library loads may wait for all that runs
    }
    bound = execution::Executor::bind(context_, plan_, workspace, packets_);
    return {};
  });
  execution::Executor::connect_all(context_, bound);
  local_workspace_bytes_ = bound->local_workspace_bytes();
  const Request& request = *request_;
  if (on_device() && request.input.space == MemorySpace::host)
    device_input_ = arrays::allocate_stand_in(context_, request.input);
  if (on_device() && request.output.space == MemorySpace::host)
    device_output_ = arrays::allocate_stand_in(context_, request.output);
  bound_ = std::move(bound);
}

Parameters Runner::parameters(double scale) const {
  Parameters parameters;
  parameters.scale = factor_ * scale;
  return parameters;
}

void Runner::execute(const Array& input, const Array& output, double scale) {
  const std::array<const Array::State*, 2> operands{input.state().get(), output.state().get()};
  bound_->execute(operands, parameters(scale));
}

void Runner::run(const Array& input, const Array& output, double scale) {
  const kernels::FftPlanning planning(request_->options.measure, request_->options.wisdom_file);
  if (request_->options.overwrite_input) arrays::check_written("fft", input);
  if (on_device()) arrays::require_no_capture_together(context_, "fft");
  prepare();
  const bool brings = device_input_.valid(), takes_back = device_output_.valid();
  if (brings) arrays::check_stands_for(request_->input, input, "fft", "the input");
  if (takes_back) arrays::check_stands_for(request_->output, output, "fft", "the output");
  const auto copy = [&](const Array& from, const Array& to) {
    runtime::check_or_tell_all(context_, "fft",
                               [&] { arrays::copy_view(context_, from.local(), to.local()); });
  };
  if (brings) copy(input, device_input_);
  execute(brings ? device_input_ : input, takes_back ? device_output_ : output, scale);
  if (takes_back) copy(device_output_, output);
}

void Runner::enqueue(const Array& input, const Array& output, double scale, Stream stream) {
  check<UnsupportedError>(
      lies_on_device(input) && lies_on_device(output),
      "fft: the input or the output is in host memory; stream-ordered calls require device arrays");
  if (request_->options.overwrite_input) arrays::check_written("fft", input);
  prepare();
  contexts::keep_for_graph(context_, stream, bound_);
  const std::array<const Array::State*, 2> operands{input.state().get(), output.state().get()};
  bound_->enqueue(operands, parameters(scale), stream);
}

void Runner::release() {
  bound_.reset();
  device_input_ = device_output_ = {};
  context_.heap_in(space_of(*request_)).collect();
}

std::int64_t Runner::workspace_size() const {
  return execution::scratch_bytes(context_, plan_) + local_workspace_bytes_;
}

void Runner::set_workspace(const Array& workspace) {
  runtime::collectively(context_, "fft workspace", [&]() -> std::vector<Fact> {
    check(workspace.valid() && workspace.state()->heap_offset >= 0,
          "fft: a workspace must be an array on the symmetric heap");
    arrays::check_context("fft", context_, "the plan", workspace, "the workspace");
    check(lies_on_device(workspace) == on_device(),
          "fft: a workspace of a plan of {} memory lies in {} memory", name(space_of(*request_)),
          name(workspace.local().space));
    const std::int64_t bytes = workspace.local_size() * size_of(workspace.dtype());
    check(bytes >= workspace_size(), "fft: the workspace has {} bytes on this rank, but {} are needed", bytes,
          workspace_size());
    return {{"workspace", fmt::format("at {}", workspace.state()->heap_offset)}};
  });
  bound_.reset();
  workspace_ = workspace;
  if (on_device()) prepare();
}

void check_aliasing(const Array& input, const Array& output, bool in_place) {
  check(input.valid() && output.valid(), "fft: an operand is an empty Array");
  arrays::check_same_context("fft", input, "the input", output, "the output");
  const bool same = are_one_memory(input, output);
  check(!same || in_place, "fft: input and output are the same array, but the plan is not in place");
  check(same || !in_place || output.local_size() == 0,
        "fft: the plan is in place, but input and output are different arrays");
  check(same || !arrays::overlap(input, output),
        "fft: input and output overlap in memory; transform into a new array, or in place");
  arrays::check_written("fft", output);
}

}  // namespace partita::fourier
