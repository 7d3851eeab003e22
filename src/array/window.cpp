// Arrays on the memory of others: sub-arrays, transposed ones, real and imaginary parts.
#include <numeric>
#include <partita/functions.hpp>

#include "array/array_state.hpp"
#include "base/check.hpp"

namespace partita {
namespace {

/// The strides are each rank's own: what the operand says of the order in memory means nothing, and operands
/// that differ in nothing else are one.
void make_strided(Operand& operand) {
  operand.axis_order = Operand::of(operand.layout, operand.dtype).axis_order;
  operand.dense = false;
}

/// The part of `whole`, which has the layout `layout`, in its sub-array `part` from `lower` on.
View sub_view(const View& whole, const Layout& layout, const Layout& part, const Index& lower, int rank) {
  View view = whole;
  view.extents = part.local_shape(rank);
  if (volume(view.extents) == 0) return view;
  const Region all = layout.region(rank), seen = part.region(rank);
  std::int64_t offset = 0;
  for (int d = 0; d < lower.size(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    offset += all.sets[i].position(lower[d] + seen.sets[i].front()) * view.strides[d];
  }
  view.data = static_cast<char*>(view.data) + offset * size_of(view.dtype);
  return view;
}

/// Every second number of an array of complex ones.
Array numbers_of(const Array& array, bool imaginary) {
  auto seen = std::make_shared<Array::State>(*array.state());
  View& local = seen->local;
  local.dtype = array.dtype() == Dtype::c64 ? Dtype::f32 : Dtype::f64;
  for (std::int64_t& stride : local.strides) stride *= 2;
  if (imaginary && volume(local.extents) != 0)
    local.data = static_cast<char*>(local.data) + size_of(local.dtype);
  seen->operand.dtype = local.dtype;
  seen->operand.residency = Residency::ordinary;
  seen->heap_offset = -1;
  make_strided(seen->operand);
  return Array(std::move(seen));
}

}  // namespace

Array real(const Array& array) {
  return is_complex(array.dtype()) ? numbers_of(array, false) : array;
}

Array imag(const Array& array) {
  check(is_complex(array.dtype()), "imag: the array is {}: its imaginary part is zero, see zeros_like",
        name(array.dtype()));
  return numbers_of(array, true);
}

Array Array::window(const Index& lower, const Shape& shape) const {
  const Layout part = layout().window(lower, shape);
  if (shape == this->shape()) return *this;
  auto seen = std::make_shared<State>(*state_);
  seen->local = sub_view(local(), layout(), part, lower, state_->context->rank());
  seen->operand.layout = part;
  seen->operand.residency = Residency::ordinary;
  seen->heap_offset = -1;
  make_strided(seen->operand);
  return Array(std::move(seen));
}

Array Array::permuted(const std::vector<int>& axes) const {
  check(valid(), "this Array holds no array");
  const auto seen = arrays::permuted(*state_, axes);
  if (!seen->operand.dense) make_strided(seen->operand);
  return Array(seen);
}

Array Array::transposed() const {
  std::vector<int> axes(static_cast<std::size_t>(ndim()));
  std::iota(axes.rbegin(), axes.rend(), 0);
  return permuted(axes);
}

Array Array::slice(int axis, std::int64_t from, std::int64_t to) const {
  check(axis >= 0 && axis < ndim(), "slice: axis {} of an array {}", axis, to_string(shape()));
  check(from >= 0 && from <= to && to <= shape()[axis], "slice: [{}, {}) along axis {} of an array {}", from,
        to, axis, to_string(shape()));
  Index lower = Extents::filled(ndim(), 0);
  Shape extents = shape();
  lower[axis] = from;
  extents[axis] = to - from;
  return window(lower, extents);
}

std::shared_ptr<Array::State> arrays::permuted(const Array::State& array, std::span<const int> axes) {
  auto result = std::make_shared<Array::State>(array);
  result->operand = array.operand.permuted(axes);
  // A rank that has nothing of a scalar has one extent of 0.
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int to = static_cast<int>(i), from = axes[i];
    result->local.extents[to] = array.local.extents[from];
    result->local.strides[to] = array.local.strides[from];
  }
  return result;
}

}  // namespace partita
