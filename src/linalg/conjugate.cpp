#include "linalg/conjugate.hpp"

#include <partita/elementwise.hpp>

namespace partita::linear {

// The imaginary parts are an array of real numbers with twice the strides.
void conjugate(Array& a) {
  if (!is_complex(a.dtype())) return;
  Operand operand = a.operand();
  operand.dtype = a.dtype() == Dtype::c64 ? Dtype::f32 : Dtype::f64;
  operand.dense = false;
  operand.residency = Residency::ordinary;
  View imaginary = a.local();
  imaginary.dtype = operand.dtype;
  if (imaginary.data != nullptr) imaginary.data = static_cast<char*>(imaginary.data) + size_of(operand.dtype);
  for (std::int64_t& stride : imaginary.strides) stride *= 2;
  Array parts = wrap(a.context(), imaginary, operand);
  scale(parts, -1);
}

}  // namespace partita::linear
