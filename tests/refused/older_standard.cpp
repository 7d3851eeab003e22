// Compiled as C++17: the first error says what is wanted.
#include <partita/partita.hpp>
