// Compiled without NDEBUG, as a user's debug build is: an index beyond the dimensions is an error.
#include <cstdio>
#include <partita/error.hpp>
#include <partita/extents.hpp>

int main() {
  partita::Extents extents{4, 5};
  extents[1] = 6;
  try {
    extents[2] = 7;
  } catch (const partita::ArgumentError& error) {
    std::puts(error.what());
    return extents == partita::Extents{4, 6} ? 0 : 1;
  }
  std::puts("an index beyond the dimensions was taken");
  return 1;
}
