// What errors call the functions of a binding that consist of several calls of the library, and which arrays
// these are given.
#pragma once

#include <partita/export.hpp>
#include <string>

namespace partita {

class Array;

/// `name` gives the function that the program has called on this thread, or an empty text. Errors of ranks
/// that have called different functions name these in place of the library's calls. It is called for errors
/// only, on threads that are in a call of the library. Not collective.
PARTITA_API void name_calls_by(std::string (*name)()) noexcept;

/// Which array of its context it is, as errors say: "array 12 of the context", equal on all ranks and another
/// number for each collective call that makes an array; views are their array. "a result of array 12 of the
/// context": each rank has made it alone, see `set_origin`. Empty: not known (`wrap` with an operand). A
/// binding compares it between ranks before a function that consists of several calls.
/// Throws ArgumentError for an empty array. Not collective. Thread-safe.
PARTITA_API std::string origin_of(const Array& array);

/// Says of an array that each rank has made alone (`wrap` with an operand) that it holds a result of `model`
/// on all ranks: ranks that pass results of different arrays to a collective call then get an error.
/// `empty_beside` does so. Throws ArgumentError for an empty array. Not collective.
PARTITA_API void set_origin(Array& array, const Array& model);

}  // namespace partita
