// The object: one plan, many executions.
#include <array>
#include <optional>
#include <partita/matmul.hpp>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "execute/autotune.hpp"
#include "matmul/operation.hpp"
#include "plan/moves.hpp"

namespace partita {

using multiplication::Product;
using multiplication::Request;
using multiplication::Setting;

struct Matmul::State {
  State(std::shared_ptr<ContextState> in, Setting what) : context(std::move(in)), setting(std::move(what)) {}

  std::shared_ptr<ContextState> context;  // declared first: it outlives the plans
  Setting setting;
  std::shared_ptr<Product> product;
  std::shared_ptr<Product> scaling;  // with alpha = 0; null until it is needed
  Request request;
  bool checked = false;  // the request, on all ranks together

  Product& planned(bool multiplies) {
    if (multiplies) return *product;
    if (!scaling) {
      Setting wanted = setting;
      wanted.product = false;
      scaling = execution::Operation::make<Product>(*context, [&] { return wanted; });
    }
    return *scaling;
  }

  // What is alike on all ranks was checked by reset(); the rest is checked once, by the first execution.
  void check_once() {
    if (checked) return;
    multiplication::check_together(*context, false,
                                   [this] { multiplication::check_arrays(request, setting.options); });
    checked = true;
  }

  /// Without a stream it is done when this returns.
  void execute(std::complex<double> alpha, std::complex<double> beta, const std::optional<Stream>& stream) {
    context->require_usable("matmul");
    check(request.a.valid(), "matmul: execute() needs reset() first");
    multiplication::check_factors(alpha, beta, setting.operands.a.dtype, setting.operands.c.has_value());
    Product& chosen = planned(alpha != std::complex<double>(0));
    check_once();
    chosen.run(request, {alpha, beta, 1}, stream);
  }
};

Matmul::Matmul(const Context& context, const MatmulOperands& operands, const MatmulOptions& options,
               bool in_place)
    : state_(std::make_unique<State>(context.state(), Setting{operands, options, in_place})) {
  const auto setting = [&] {
    check(!options.stream, "Matmul: the options of a plan have a stream; pass it to execute");
    multiplication::check_factors(options.alpha, options.beta, operands.a.dtype, operands.c.has_value());
    return state_->setting;
  };
  state_->product = execution::Operation::make<Product>(*state_->context, setting);
}

Matmul::~Matmul() = default;
Matmul::Matmul(Matmul&&) noexcept = default;
Matmul& Matmul::operator=(Matmul&&) noexcept = default;

void Matmul::reset(const Array& a, const Array& b, const Array* c, Array& d, const EpilogueArrays& arrays) {
  const Request request(a, b, c, &d, arrays);
  const Setting& setting = state_->setting;
  check(a.valid() && d.valid(), "matmul: A or D holds no array");
  arrays::check_context("matmul", *state_->context, "the plan", a, "A");
  check(request.c.valid() == setting.operands.c.has_value(), "matmul: the plan was made {} C",
        setting.operands.c ? "with a" : "without");
  check(request.in_place() == setting.in_place, "matmul: the plan was made for D {} C",
        setting.in_place ? "in place of" : "apart from");
  if (request.alike_on_all_ranks()) multiplication::check_arrays(request, setting.options);
  state_->request = request;
  state_->checked = request.alike_on_all_ranks();
}

void Matmul::unbind() {
  state_->request = {};
}

void Matmul::execute(std::optional<Stream> stream) {
  state_->execute(state_->setting.options.alpha, state_->setting.options.beta, stream);
}

void Matmul::execute(std::complex<double> alpha, std::complex<double> beta, std::optional<Stream> stream) {
  state_->execute(alpha, beta, stream);
}

namespace {

constexpr std::array methods{
    MatmulMethod::local,          MatmulMethod::all_gather,
    MatmulMethod::reduce_scatter, MatmulMethod::all_reduce,
    MatmulMethod::summa_c,        MatmulMethod::summa_a,
    MatmulMethod::summa_b,        MatmulMethod::communication_avoiding,
};

/// Times every method that can be planned for the setting, on the arrays of the request, and gives the
/// fastest of the slowest rank's medians of `runs`. What is written in place is put back. Collective,
/// blocking; the same choice on every rank. Throws what planning throws where no method suits.
std::shared_ptr<Product> fastest(ContextState& context, const Setting& setting, const Request& request,
                                 int runs) {
  std::optional<Array> kept;
  runtime::collectively(context, "matmul autotune", [&]() -> std::vector<Fact> {
    check(runs > 0, "autotune needs at least one run, not {}", runs);
    if (setting.in_place) kept = arrays::copied_to_host(request.d);
    return {{"runs", std::to_string(runs)}};
  });
  const auto make = [&](MatmulMethod method) {
    Setting one = setting;
    one.options.method = method;
    return execution::Operation::make<Product>(context, [&] { return one; });
  };
  const MatmulOptions& options = setting.options;
  const auto run = [&](Product& one) { one.run(request, {options.alpha, options.beta, 1}, {}); };
  Array d = request.d;
  const auto put_back = [&] {
    if (kept) copy(*kept, d);
  };
  const std::shared_ptr<Product> best = execution::fastest_of(
      execution::Trials(context, "matmul autotune", runs), methods, make, run, put_back);
  if (best) return best;
  return execution::Operation::make<Product>(context, [&] { return setting; });
}

}  // namespace

std::string Matmul::autotune(int runs) {
  State& state = *state_;
  state.context->require_usable("matmul");
  check(state.request.a.valid(), "matmul: autotune() needs reset() first");
  state.check_once();
  state.product = fastest(*state.context, state.setting, state.request, runs);
  state.setting = state.product->setting();
  return state.product->plan().method;
}

std::int64_t Matmul::workspace_size() const {
  std::int64_t bytes = 0;
  for (const Product* const one : {state_->product.get(), state_->scaling.get()}) {
    if (one != nullptr && one->is_bound())
      bytes += planning::scratch_bytes(one->plan()) + one->mirror_bytes();
  }
  return bytes;
}

void Matmul::release() {
  state_->context->require_usable("matmul");
  state_->scaling.reset();
  state_->product->release();
}

const Plan& Matmul::plan() const {
  return state_->product->plan();
}

std::string Matmul::explain(const ExplainOptions& options) const {
  return partita::explain(plan(), options, state_->product->planner());
}

}  // namespace partita
