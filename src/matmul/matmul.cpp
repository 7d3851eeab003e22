// The one-line calls: plans are kept in the context, so that a call is as fast as a plan.
#include <partita/matmul.hpp>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "matmul/dtypes.hpp"
#include "matmul/problem.hpp"
#include "matmul/runner.hpp"

namespace partita {
namespace {

using namespace multiplication;

/// The layout of a new D: asked for, or C's, or the cheapest.
Layout layout_of_result(const Request& request, const MatmulOptions& options) {
  const bool everywhere = parts_of(options.epilogue).everywhere;
  if (request.c.valid() && !options.distribution && !everywhere && !request.c.layout().partial()) {
    return request.c.layout();
  }
  const ContextState& context = *request.a.context_state();
  return cheapest_result(request.a.operand(), request.b.operand(),
                         context.topology(request.a.operand().space), options, context.machine);
}

Operand new_result(const Request& request, const MatmulOptions& options) {
  Operand result = Operand::of(layout_of_result(request, options), result_dtype(request.a.dtype(), options),
                               options.order, options.residency);
  result.space = request.a.operand().space;
  return result;
}

/// The context's plan for these arrays, made where there is none yet. Collective when it is made; otherwise
/// without any communication.
std::shared_ptr<Runner> cached_plan(ContextState& context, const std::string& key,
                                    const std::function<Setting()>& setting) {
  return context.plans.find_or_make<Runner>(key, [&] { return plan_together(context, setting); });
}

/// The request as it is read, its arrays checked on all ranks. C is not read with beta = 0, so that the plan
/// does without it. Its layout may still be wanted.
Request checked(Request request, const MatmulOptions& options) {
  ContextState& context = *request.a.context_state();
  context.require_usable("matmul");
  check_together(context, request.alike_on_all_ranks(), [&] {
    check_arrays(request, options);
    check_factors(options.alpha, options.beta, request.a.dtype(), request.c.valid());
  });
  if (options.beta == std::complex<double>(0)) request.c = Array();
  return request;
}

/// With alpha = 0 neither A nor B is read: another plan.
bool multiplies(const MatmulOptions& options) {
  return options.alpha != std::complex<double>(0);
}

void run(Runner& runner, const Request& request, const MatmulOptions& options) {
  runner.run(in_plan_order(request, options), {options.alpha, options.beta, 1});
}

Array into_new(const Request& request, const MatmulOptions& options, SourcePlace where) {
  check(request.a.valid(), "matmul: A holds no array");
  Request read = checked(request, options);
  const std::shared_ptr<ContextState>& context = request.a.context_state();
  std::vector<Fact> asked = facts(operands_of(read, request.a.operand()), options, false);
  asked.push_back(
      {"new",
       fmt::format("new {} {} {} c {}", static_cast<int>(options.order), static_cast<int>(options.residency),
                   options.distribution ? options.distribution->to_string() : "any",
                   request.c.valid() && !options.distribution ? request.c.layout().to_string() : "none")});
  const std::string key = key_of(asked);
  const std::shared_ptr<Runner> runner = cached_plan(*context, key, [&] {
    return Setting{operands_of(read, new_result(request, options)), options, false, multiplies(options)};
  });
  const Operand& d = runner->setting().operands.d;
  read.d = arrays::allocate(context, d.layout, d.dtype, {options.residency, options.order, d.space},
                            fmt::format("matmul alpha {}{:+}i beta {}{:+}i {}", options.alpha.real(),
                                        options.alpha.imag(), options.beta.real(), options.beta.imag(), key),
                            where);
  run(*runner, read, options);
  return read.d;
}

}  // namespace

Array matmul(const Array& a, const Array& b, const MatmulOptions& options, const EpilogueArrays& arrays,
             SourcePlace where) {
  return into_new(Request(a, b, nullptr, nullptr, arrays), options, where);
}

Array matmul(const Array& a, const Array& b, const Array& c, const MatmulOptions& options,
             const EpilogueArrays& arrays, SourcePlace where) {
  return into_new(Request(a, b, &c, nullptr, arrays), options, where);
}

void matmul_into(const Array& a, const Array& b, const Array* c, Array& d, const MatmulOptions& options,
                 const EpilogueArrays& arrays) {
  const Request request(a, b, c, &d, arrays);
  check(a.valid() && d.valid(), "matmul: A or D holds no array");
  const Request read = checked(request, options);
  const MatmulOperands operands = operands_of(read, d.operand());
  const std::string key = key_of(facts(operands, options, read.in_place()));
  const auto runner = cached_plan(*a.context_state(), key, [&] {
    return Setting{operands, options, read.in_place(), multiplies(options)};
  });
  run(*runner, read, options);
}

}  // namespace partita
