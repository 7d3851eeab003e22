#include "arithmetic/composed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <partita/astype.hpp>
#include <partita/elementwise.hpp>
#include <partita/functions.hpp>

#include "arithmetic/arguments.hpp"
#include "arithmetic/folding.hpp"
#include "arithmetic/reduced_layouts.hpp"
#include "array/array_name.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::arithmetic {

void begin(const Composed& call, const Array& array) {
  const std::string_view operation = call.operation;
  check(array.valid(), "{}: the array is an empty Array", operation);
  ContextState& context = *array.context_state();
  context.require_usable(operation);
  runtime::collectively(context, operation, [&]() -> std::vector<Fact> {
    check_values(operation, array);
    check_stream(operation, array, call.stream);
    check_folds(operation, array, call.stream);
    if (call.axes != nullptr) check_axes(operation, array.shape(), call.axes->list);
    const Folding folding = folding_of(call.like, array.dtype());
    check(!folding.needs_elements || (call.axes ? count_along(array, *call.axes) : array.size()) > 0,
          "{}: the array {} has no elements{}", operation, to_string(array.shape()),
          call.axes ? " along the axes" : "");
    return {{"array", arrays::name_of(array)},
            {"axes", call.axes ? fmt::format("{}", fmt::join(call.axes->list, ",")) : "all"}};
  });
  if (call.stream) array.context().synchronize(*call.stream);
}

std::int64_t count_along(const Array& array, const Axes& axes) {
  std::int64_t count = 1;
  for (const int axis : axes.list) count *= array.shape()[axis];
  return count;
}

Array averaged(const Array& array) {
  const Dtype wanted = folding_of(ArrayReduction::mean, array.dtype()).result;
  return wanted == array.dtype() ? array : astype(array, wanted);
}

Array squared(Array deviations) {
  if (is_complex(deviations.dtype())) {
    const Array x = real(deviations), y = imag(deviations);
    return x * x + y * y;
  }
  multiply(deviations, deviations, deviations);
  return deviations;
}

Array finished(Array result) {
  if (result.local().space == MemorySpace::device) result.context().synchronize();
  return result;
}

}  // namespace partita::arithmetic
