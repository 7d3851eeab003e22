// Members of Array that are functions of other headers, and what inline functions of the headers call.
#include <partita/array_reductions.hpp>
#include <partita/astype.hpp>
#include <partita/elements.hpp>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"

namespace partita {

Array Array::clone() const {
  return partita::clone(*this);
}
Array Array::astype(Dtype dtype) const {
  return partita::astype(*this, dtype);
}
Array Array::redistribute(const Distribution& distribution) const {
  return partita::redistribute(*this, distribution);
}
Scalar Array::sum() const {
  return reduce(*this, ArrayReduction::sum);
}
Scalar Array::min() const {
  return reduce(*this, ArrayReduction::min);
}
Scalar Array::max() const {
  return reduce(*this, ArrayReduction::max);
}
Scalar Array::mean() const {
  return reduce(*this, ArrayReduction::mean);
}

Operand detail::operand_in(const Context& context, const Array& array, std::string_view operation) {
  arrays::check_context(operation, *context.state(), "the plan", array, "the array");
  return array.operand();
}

void detail::require_span(const Array& array) {
  const View& local = array.local();
  check(local.space == MemorySpace::host && arrays::lies_dense(local),
        "span: the local part is not dense, row-major host memory; use for_each, or a copy: clone(a, "
        "{{.space = "
        "MemorySpace::host}})");
}

void detail::require_index_count(const Array& array, int indices) {
  check(array.ndim() == indices, "fill: a function of {} indices for an array of {} dimensions", indices,
        array.ndim());
}

Array detail::wrap_elements(const Context& context, const View& elements, const Distribution& distribution,
                            const Shape& shape) {
  std::optional<Layout> layout;
  const auto local = [&] {
    layout = Layout(distribution, shape, context.size());
    View view = elements;
    view.extents = layout->local_shape(context.rank());
    check(volume(view.extents) == elements.extents[0],
          "wrap: rank {} passes {} elements, but its local part of {} has {}", context.rank(),
          elements.extents[0], layout->to_string(), volume(view.extents));
    view.strides = dense_strides(view.extents);
    return view;
  };
  return arrays::wrap_together(context, "wrap", local, [&] { return *layout; }, {});
}

void detail::read_all(const Array& array, void* elements) {
  const Array whole =
      redistribute(array, Replicated{}, {.residency = Residency::ordinary, .space = MemorySpace::host});
  copy(whole, View::dense(elements, array.dtype(), array.shape()));
}

}  // namespace partita
