#include "fft/operation.hpp"

#include <array>
#include <utility>

#include "array/array_state.hpp"
#include "array/device_mirror.hpp"
#include "array/pairs.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "base/contains.hpp"
#include "device/accelerator.hpp"
#include "device/device_synchronization.hpp"
#include "fft/plan.hpp"
#include "fft/problem.hpp"
#include "kernels/host/fft_planning.hpp"

namespace partita::fourier {
namespace {

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

Transformation::Transformation(ContextState& context, std::function<Request()> request)
    : Operation(context, "fft"), ask_(std::move(request)) {}

std::vector<Fact> Transformation::prepare() {
  request_ = std::exchange(ask_, nullptr)();  // what it refers to lives only as long as the call
  const auto& [input, output, options, in_place] = *request_;
  set_uses({{.name = "the input", .operand = input},
            {.name = "the output",
             .operand = output,
             .read = false,
             .written = true,
             .same_as = in_place ? 0 : -1}},
           std::exchange(request_->options.stream, std::nullopt));
  const Operand planned = arrays::as_planned(input, output.space);
  factor_ = norm_factor(make_problem(planned, context().topology(planned.space), options, context().machine));
  return {{"input", input.to_string()},
          {"output", output.to_string()},
          {"options", to_string(options) + (in_place ? " in place" : "")}};
}

/// Where the device has no kernel for lines that might be stored (shared memory of its blocks is short),
/// arrays are copied. Devices of a kind agree, and others find out that their plans differ.
FftOptions Transformation::options_here() const {
  FftOptions options = request_->options;
  const devices::DeviceTransforms* const transforms = on_device() ? context().device->transforms() : nullptr;
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

execution::Planned Transformation::plan_of(int rank) const {
  const auto& [input, output, options, in_place] = *request_;
  auto planned = plan_transform(input, output, context().topology(space()), rank, options_here(),
                                context().machine, in_place, grouped());
  return {std::move(planned.plan), std::move(planned.packets)};
}

void Transformation::before_binding() {
  // What a library loads may wait for all that the device does.
  if (on_device()) devices::finish_device(context(), name());
}

void Transformation::run(const Array& input, const Array& output, double scale,
                         const std::optional<Stream>& stream) {
  const kernels::FftPlanning planning(request_->options.measure, request_->options.wisdom_file);
  if (request_->options.overwrite_input) arrays::check_written(name(), input);
  Parameters parameters;
  parameters.scale = factor_ * scale;
  const std::array<const Array*, 2> arrays{&input, &output};
  Operation::run(arrays, parameters, stream);
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
