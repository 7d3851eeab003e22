// Plan once, execute many times.
#include <partita/fft.hpp>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "execute/autotune.hpp"
#include "fft/operation.hpp"
#include "fft/problem.hpp"
#include "runtime/checks/agree.hpp"

namespace partita {

using fourier::check_aliasing;
using fourier::Request;
using fourier::Transformation;

struct FFT::State {
  std::shared_ptr<ContextState> context;  // declared first: it outlives the plans
  std::shared_ptr<Transformation> forward;
  std::shared_ptr<Transformation> inverse;
  Array input;
  Array output;
  Array workspace;

  const Request& request() const { return forward->request(); }
  /// An error in one rank's arrays, which are not on the heap, is raised on all ranks.
  void check_together(const Array& from, const Array& to) const {
    arrays::check_pair(*context, "fft", from, to, [&] { check_arrays(from, to); });
  }
  void check_arrays(const Array& from, const Array& to) const {
    check(from.valid() && to.valid(), "fft: an operand is an empty Array");
    arrays::check_context("fft", *context, "the plan", from, "the input");
    check_aliasing(from, to, request().in_place);
  }
  /// An output of a batch that overlaps another input would be written before that is read.
  void check_batch(const std::vector<Array>& inputs, const std::vector<Array>& outputs) const;
  /// The same on every rank.
  void check_batch_together(const std::vector<Array>& inputs, const std::vector<Array>& outputs) const;
  std::shared_ptr<Transformation> made(const std::function<Request()>& request) const {
    return execution::Operation::make<Transformation>(*context, request);
  }
  /// Of the opposite transform, planned where there is none yet.
  Transformation& backward();
};

void FFT::State::check_batch(const std::vector<Array>& inputs, const std::vector<Array>& outputs) const {
  check(inputs.size() == outputs.size(), "fft: a batch of {} inputs and {} outputs", inputs.size(),
        outputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t j = 0; j < outputs.size(); ++j) {
      if (i == j) continue;
      arrays::check_same_context("fft", inputs[i], "an input", outputs[j], "an output");
      check(!arrays::overlap(inputs[i], outputs[j]),
            "fft: input {} of the batch and output {} overlap in memory", i, j);
    }
  }
}

void FFT::State::check_batch_together(const std::vector<Array>& inputs,
                                      const std::vector<Array>& outputs) const {
  bool windows = false;
  for (const Array& from : inputs) {
    for (const Array& to : outputs) windows = windows || arrays::are_windows_of_one(from, to);
  }
  const auto check_arrays = [&] { check_batch(inputs, outputs); };
  if (windows) {
    runtime::collectively(*context, "fft", check_arrays);
  } else {
    runtime::check_or_tell_all(*context, "fft", check_arrays);
  }
}

Transformation& FFT::State::backward() {
  if (inverse) return *inverse;
  inverse = made([&]() -> Request {
    const FftOptions options = fourier::opposite(request().options, request().input.layout.shape());
    return {request().output, request().input, options, request().in_place};
  });
  if (workspace.valid()) inverse->set_workspace(workspace);
  return *inverse;
}

namespace {

void refuse_stream(const FftOptions& options) {
  check(!options.stream, "FFT: the options of a plan have a stream; pass it to execute");
}

}  // namespace

FFT::FFT(const Context& context, const Operand& input, const FftOptions& options)
    : state_(std::make_unique<State>()) {
  state_->context = context.state();
  ContextState& shared = *state_->context;
  state_->forward = state_->made([&] {
    refuse_stream(options);
    return fourier::into_new(shared, input, options);
  });
}

FFT::FFT(const Context& context, const Operand& input, const Operand& output, const FftOptions& options,
         bool in_place)
    : state_(std::make_unique<State>()) {
  state_->context = context.state();
  state_->forward = state_->made([&]() -> Request {
    refuse_stream(options);
    return {input, output, options, in_place};
  });
}

FFT::~FFT() = default;
FFT::FFT(FFT&&) noexcept = default;
FFT& FFT::operator=(FFT&&) noexcept = default;

const Operand& FFT::output() const {
  return state_->request().output;
}

void FFT::reset(const Array& input, Array& output) {
  state_->check_arrays(input, output);
  state_->input = input;
  state_->output = output;
}

void FFT::execute(std::optional<Stream> stream) {
  check(state_->input.valid(), "fft: execute() without arrays needs reset() first");
  state_->forward->run(state_->input, state_->output, 1, stream);
}

void FFT::execute(const Array& input, Array& output, double scale, std::optional<Stream> stream) {
  state_->check_together(input, output);
  state_->forward->run(input, output, scale, stream);
}

void FFT::inverse(const Array& output, Array& input, double scale, std::optional<Stream> stream) {
  state_->check_together(output, input);
  state_->backward().run(output, input, scale, stream);
}

void FFT::execute_batch(const std::vector<Array>& inputs, std::vector<Array>& outputs, double scale,
                        std::optional<Stream> stream) {
  state_->check_batch_together(inputs, outputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) execute(inputs[i], outputs[i], scale, stream);
}

// --- autotune

namespace {

/// The methods, grids and exchanges that could suit; planning decides which of them do.
std::vector<FftOptions> variants(const FftOptions& options, int ranks, bool on_device) {
  std::vector<FftOptions> result{options};
  result.front().method = FftMethod::automatic;
  result.front().grid.clear();
  for (const FftMethod method : {FftMethod::slab, FftMethod::four_step}) {
    result.push_back(result.front());
    result.back().method = method;
  }
  for (int rows = 2; rows <= ranks / 2; ++rows) {
    if (ranks % rows != 0) continue;
    result.push_back(result.front());
    result.back().method = FftMethod::pencil;
    result.back().grid = {rows, ranks / rows};
  }
  if (options.exchange != FftExchange::automatic || !on_device) return result;
  for (std::size_t i = 0, methods = result.size(); i < methods; ++i) {
    for (const FftExchange exchange : {FftExchange::copies, FftExchange::stores}) {
      result.push_back(result[i]);
      result.back().exchange = exchange;
    }
  }
  return result;
}

Array scratch_array(const std::shared_ptr<ContextState>& context, const Operand& operand) {
  Array array = arrays::allocate_on_heap(context, operand.layout, operand.dtype, Order::row_major, "autotune",
                                         SourcePlace::current(), operand.space);
  auto like = std::make_shared<Array::State>(*array.state());
  like->operand.axis_order = operand.axis_order;
  if (operand.dense) like->local.strides = like->operand.local_strides(context->rank());
  return Array(std::move(like));
}

}  // namespace

std::string FFT::autotune(int runs) {
  ContextState& context = *state_->context;
  check(runs >= 1, "autotune needs at least one run, not {}", runs);
  const Request request = state_->request();
  const Array input = scratch_array(state_->context, request.input);
  const Array output = request.in_place ? input : scratch_array(state_->context, request.output);
  const auto make = [&](const FftOptions& options) {
    return execution::Operation::make<Transformation>(context, [&]() -> Request {
      return {request.input, request.output, options, request.in_place};
    });
  };
  const auto run = [&](Transformation& one) { one.run(input, output, 1, {}); };
  const bool on_device = request.input.space == MemorySpace::device;
  state_->forward =
      execution::fastest_of(execution::Trials(context, "fft autotune", runs),
                            variants(request.options, context.size(), on_device), make, run, [] {});
  if (state_->workspace.valid()) state_->forward->set_workspace(state_->workspace);
  state_->inverse.reset();
  return state_->forward->plan().method;
}

// --- scratch

std::int64_t FFT::workspace_size() const {
  const std::int64_t inverse = state_->inverse ? state_->inverse->scratch_bytes() : 0;
  return std::max(state_->forward->scratch_bytes(), inverse);
}

void FFT::set_workspace(const Array& workspace) {
  state_->forward->set_workspace(workspace);
  state_->workspace = workspace;
  if (state_->inverse) state_->inverse->set_workspace(workspace);
}

void FFT::release() {
  state_->forward->release();
  if (state_->inverse) state_->inverse->release();
}

const Plan& FFT::plan() const {
  return state_->forward->plan();
}

std::string FFT::explain(const ExplainOptions& options) const {
  return partita::explain(plan(), options, state_->forward->planner());
}

}  // namespace partita
