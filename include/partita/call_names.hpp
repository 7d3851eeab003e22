// What errors call the functions of a binding that consist of several calls of the library, and which arrays
// these are given.
#pragma once

#include <cstdint>
#include <partita/export.hpp>
#include <string>

namespace partita {

class Array;

/// `name` gives the function that the program has called on this thread, or an empty text. Errors of ranks
/// that have called different functions name these in place of the library's calls. It is called for errors
/// only, on threads that are in a call of the library. Not collective.
PARTITA_API void name_calls_by(std::string (*name)()) noexcept;

/// Which array of its context it is, as errors number arrays: equal on all ranks, and another number for each
/// collective call that makes an array; views have that of their array. 0: made by each rank alone (`wrap`
/// with an operand). A binding compares it between ranks before a function that consists of several calls.
/// Throws ArgumentError for an empty array. Not collective. Thread-safe.
PARTITA_API std::uint64_t number_of(const Array& array);

}  // namespace partita
