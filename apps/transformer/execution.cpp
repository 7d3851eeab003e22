#include <array>
#include <cstddef>

#include "transformer/operations.hpp"

namespace transformer {
namespace pt = partita;

void set_to_zero(Operations& operations, Tensor& tensor) {
  operations.pass({&tensor}, [&](const on_device::Queue& queue) {
    constexpr std::array<std::byte, 16> zero{};  // of any dtype
    pt::fill(tensor.array(), static_cast<const void*>(zero.data()), queue.stream);
  });
}

Tensor Execution::empty(const pt::Shape& shape, const pt::Distribution& distribution, pt::Dtype dtype,
                        pt::Order order) {
  pt::ArrayOptions options;
  options.order = order;
  const pt::Array array = pt::empty(context_, shape, distribution, dtype, options);
  return Tensor(array.operand(), array);
}

Tensor Execution::as_strided(const Tensor& tensor, const pt::Layout& layout, std::int64_t first,
                             const pt::Strides& strides) {
  pt::View view = tensor.local();
  view.data = static_cast<std::byte*>(view.data) + first * pt::size_of(view.dtype);
  view.extents = layout.local_shape(context_.rank());
  view.strides = strides;
  pt::Operand operand = pt::Operand::of(layout, view.dtype);
  operand.dense = false;
  operand.space = view.space;
  return Tensor(operand, pt::wrap(context_, view, operand, std::make_shared<pt::Array>(tensor.array())));
}

void Execution::matmul(const Tensor& a, const Tensor& b, const Tensor* c, Tensor& d,
                       const pt::MatmulOptions& options, const EpilogueTensors& tensors) {
  pt::EpilogueArrays arrays;
  if (tensors.bias != nullptr) arrays.bias = &tensors.bias->array();
  if (tensors.auxiliary != nullptr) arrays.auxiliary = &tensors.auxiliary->array();
  if (tensors.gradient != nullptr) arrays.gradient = &tensors.gradient->array();
  const pt::Array* const added = c != nullptr ? &c->array() : nullptr;
  pt::MatmulOptions in_order = options;
  in_order.stream = stream();
  pt::matmul_into(a.array(), b.array(), added, d.array(), in_order, arrays);
}

void Execution::redistribute(const Tensor& source, Tensor& destination) {
  pt::redistribute_into(source.array(), destination.array(), {.stream = stream()});
}

void Execution::pass(std::initializer_list<const Tensor*> /*tensors*/, const Body& body, double /*flops*/) {
  body(queue_);
}

}  // namespace transformer
