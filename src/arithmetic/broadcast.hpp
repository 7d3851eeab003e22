// Which elements of an operand a part of the result reads, and whether they are where it is computed.
#pragma once

#include <partita/array.hpp>
#include <partita/layout.hpp>
#include <vector>

#include "arithmetic/pieces.hpp"

namespace partita::arithmetic {

/// NumPy's rule; throws ArgumentError where the shapes have no common one.
Shape broadcast(std::string_view operation, const Shape& a, const Shape& b);

/// Whether every rank has what its part of `result` reads of the operand, evenly apart.
bool suits(const Layout& operand, const Layout& result);

/// The operand, where its elements are combined with those of `array`: itself if it `suits`, else replicas.
/// Collective.
Array readable(const Array& operand, const Array& array);

/// How the operand advances along each dimension of the result's part: one step per dimension. `suits`.
std::vector<Step> steps_of(const Layout& operand, const Strides& strides, const Layout& result, int rank);

}  // namespace partita::arithmetic
