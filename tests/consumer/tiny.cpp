// The least program: stands in for examples/first.cpp where there is none.
#include <iostream>
#include <partita/dtype.hpp>
#include <partita/version.hpp>

int main() {
  const partita::Dtype dtype = partita::parse_dtype("float64");
  std::cout << PARTITA_VERSION << ' ' << partita::name(dtype) << '\n';
  return partita::size_of(dtype) == 8 ? 0 : 1;
}
