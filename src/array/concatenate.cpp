#include <partita/create.hpp>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

/// The shape of all of them together. Throws ArgumentError.
Shape joined_shape(const std::vector<Array>& arrays, int axis) {
  const Array& first = arrays.front();
  Shape shape = first.shape();
  check(axis >= 0 && axis < shape.size(), "concatenate: axis {} of an array {}", axis, to_string(shape));
  shape[axis] = 0;
  for (const Array& one : arrays) {
    check(one.valid(), "concatenate: an operand is an empty Array");
    arrays::check_same_context("concatenate", one, "one array", first, "another one");
    arrays::check_has_values("concatenate", one);
    check(one.dtype() == first.dtype(),
          "concatenate: the dtypes differ: {} and {}; convert one of them with astype", name(first.dtype()),
          name(one.dtype()));
    Shape other = one.shape(), same = first.shape();
    check(other.size() == same.size(), "concatenate: arrays of {} and {} dimensions", same.size(),
          other.size());
    shape[axis] += other[axis];
    other[axis] = same[axis] = 0;
    check(other == same, "concatenate: the shapes {} and {} differ along other axes than {}",
          to_string(first.shape()), to_string(one.shape()), axis);
  }
  return shape;
}

}  // namespace

Array concatenate(const std::vector<Array>& arrays, int axis, const std::optional<Distribution>& distribution,
                  SourcePlace where) {
  const runtime::PublicCall call("concatenate");
  check(!arrays.empty() && arrays.front().valid(), "concatenate: there are no arrays");
  const Array& first = arrays.front();
  ContextState& context = *first.context_state();
  context.require_usable("concatenate");
  Shape shape;
  runtime::check_or_tell_all(context, "concatenate", [&] { shape = joined_shape(arrays, axis); });
  Array result = empty(first.context(), shape, distribution.value_or(first.layout().distribution()),
                       first.dtype(), {.space = first.local().space}, where);
  Index lower = Extents::filled(shape.size(), 0);
  for (const Array& one : arrays) {
    Array part = result.window(lower, one.shape());
    if (one.size() != 0) redistribute_into(one, part);
    lower[axis] += one.shape()[axis];
  }
  return result;
}

}  // namespace partita
