// What errors call the functions of a binding that consist of several calls of the library.
#pragma once

#include <partita/export.hpp>
#include <string>

namespace partita {

/// `name` gives the function that the program has called on this thread, or an empty text. Errors of ranks
/// that have called different functions name these in place of the library's calls. It is called for errors
/// only, on threads that are in a call of the library. Not collective.
PARTITA_API void name_calls_by(std::string (*name)()) noexcept;

}  // namespace partita
