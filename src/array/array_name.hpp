// An array in the facts of a collective check.
#pragma once

#include <partita/array.hpp>
#include <string>

namespace partita::arrays {

/// The operand, and which array of the context it is (Array::State::number): what all ranks must have alike.
std::string name_of(const Array& array);

}  // namespace partita::arrays
