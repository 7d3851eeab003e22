// Two operands joined element by element.
#pragma once

#include <partita/elementwise.hpp>
#include <string_view>

#include "kernels/host/elementwise.hpp"

namespace partita::arithmetic {

/// One operation as it is called. Functions of one operand have it twice.
struct Joining {
  std::string_view name;
  kernels::Arithmetic operation;
  const ArrayOrScalar& a;
  const ArrayOrScalar& b;
  const Scalar* factor = nullptr;  ///< of axpy
};

/// Into the destination. Local.
void join(const Joining& joining, Array& destination, const std::optional<Stream>& stream);
/// Into a new array. Collective.
Array joined(const Joining& joining);
/// a where the condition is true, b elsewhere. Local.
void select(std::string_view operation, const Array& condition, const ArrayOrScalar& a,
            const ArrayOrScalar& b, Array& destination, const std::optional<Stream>& stream);
/// A new array: a where the condition is true, b elsewhere. Collective.
Array selected(std::string_view operation, const Array& condition, const ArrayOrScalar& a,
               const ArrayOrScalar& b);

}  // namespace partita::arithmetic
