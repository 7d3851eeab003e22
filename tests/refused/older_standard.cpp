// Compiled as C++17: the first error says what is required.
#include <partita/partita.hpp>
