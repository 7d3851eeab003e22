// The one-line calls: plans are kept in the context, so that a call is as fast as a plan.
#include <optional>
#include <partita/matmul.hpp>
#include <utility>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "matmul/operation.hpp"
#include "matmul/problem.hpp"

namespace partita {
namespace {

using namespace multiplication;

/// The memory space of a new D, and that in which it is multiplied.
struct Spaces {
  MemorySpace of_d = MemorySpace::host;
  MemorySpace of_product = MemorySpace::host;
};

Spaces spaces_of(const Request& request, const MatmulOptions& options) {
  const MemorySpace found = space_of(request);
  const MemorySpace of_d = options.space.value_or(found);
  return {of_d, of_d == MemorySpace::device ? of_d : found};
}

/// The layout of a new D: asked for, or C's, or the cheapest.
Layout layout_of_result(const Request& request, const MatmulOptions& options) {
  const bool everywhere = parts_of(options.epilogue).everywhere;
  if (request.c.valid() && !options.distribution && !everywhere && !request.c.layout().partial()) {
    return request.c.layout();
  }
  const ContextState& context = *request.a.context_state();
  return cheapest_result(request.a.operand(), request.b.operand(),
                         context.topology(spaces_of(request, options).of_product), options, context.machine);
}

Operand new_result(const Request& request, const MatmulOptions& options) {
  check<UnsupportedError>(
      options.space != MemorySpace::device || request.a.context_state()->device != nullptr,
      "matmul: the result was requested in device memory, but this context has no device");
  Operand result = Operand::of(layout_of_result(request, options), result_dtype(request.a.dtype(), options),
                               options.order, options.residency);
  result.space = spaces_of(request, options).of_d;
  return result;
}

/// On all ranks.
void check_request(const Request& request, const MatmulOptions& options) {
  ContextState& context = *request.a.context_state();
  context.require_usable("matmul");
  check_together(context, request.alike_on_all_ranks(), [&] {
    check_arrays(request, options);
    check_factors(options.alpha, options.beta, request.a.dtype(), request.c.valid());
  });
}

/// With beta = 0 the plan does without C, which is not read. What is returned is C as it was given.
Array without_unread_c(Request& request, const MatmulOptions& options) {
  return options.beta == std::complex<double>(0) ? std::exchange(request.c, Array()) : request.c;
}

/// With alpha = 0 neither A nor B is read: another plan.
bool multiplies(const MatmulOptions& options) {
  return options.alpha != std::complex<double>(0);
}

Array into_new(Request request, const MatmulOptions& options, SourcePlace where) {
  check(request.a.valid(), "matmul: A holds no array");
  check_request(request, options);
  const Array c = without_unread_c(request, options);
  const std::shared_ptr<ContextState>& context = request.a.context_state();
  contexts::PlanKey key = key_of(request, options);
  key.add("new", options.order, options.residency, options.space, options.distribution);
  if (c.valid()) key.add(c.layout(), c.local().space);  // of an unread one, too: D may get them
  const auto product = execution::Operation::kept<Product>(*context, key, [&] {
    Request given = request;
    given.c = c;
    return Setting{operands_of(request, new_result(given, options)), options, false, multiplies(options)};
  });
  const Parameters factors{options.alpha, options.beta, 1};
  request.d = product->new_d(context, factors, where);
  product->run(request, factors, options.stream);
  return request.d;
}

void into_given(Request request, const MatmulOptions& options) {
  check(request.a.valid() && request.d.valid(), "matmul: A or D holds no array");
  check_request(request, options);
  (void)without_unread_c(request, options);
  ContextState& context = *request.a.context_state();
  const auto product = execution::Operation::kept<Product>(context, key_of(request, options), [&] {
    return Setting{operands_of(request, request.d.operand()), options, request.in_place(),
                   multiplies(options)};
  });
  product->run(request, {options.alpha, options.beta, 1}, options.stream);
}

}  // namespace

Layout cheapest_result(const Context& context, const Operand& a, const Operand& b,
                       const MatmulOptions& options) {
  check(context.state() != nullptr, "matmul: the context was moved away");
  const auto on_device = [](MemorySpace space) { return space == MemorySpace::device; };
  const bool there =
      on_device(a.space) || on_device(b.space) || options.space.value_or(a.space) == MemorySpace::device;
  const ContextState& state = *context.state();
  return cheapest_result(a, b, state.topology(there ? MemorySpace::device : MemorySpace::host), options,
                         state.machine);
}

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
  into_given(Request(a, b, c, &d, arrays), options);
}

}  // namespace partita
