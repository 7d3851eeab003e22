#include "benchmarks/cuda_matrix.hpp"

#include <partita/partita.hpp>

namespace partita::benchmarks {

Shape matrix_of(std::int64_t elements) {
  std::int64_t rows = 1;
  while (rows * rows < elements) rows *= 2;
  return {rows, elements / rows};
}

void check_matrix(const Array& result, const std::string& name) {
  Array expected = empty(result.context(), result.layout(), result.dtype());
  fill_random(expected, 1);
  if (!compare(expected, result).equal) throw Error(name + ": the result is wrong");
}

}  // namespace partita::benchmarks
