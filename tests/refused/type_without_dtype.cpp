// Does not compile, and says why.
#include <partita/array.hpp>

void fill_with_no_number(partita::Array& array) {
  fill(array, 1.0L);
}
