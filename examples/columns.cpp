// Normalises the columns of a matrix in an HDF5 file, and stores the result in the same file.
#include <cmath>
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

int main() {
  const pt::Context context = pt::initialize();
  pt::Array random = pt::empty(context, {1000, 30}, pt::Slab(1), pt::Dtype::f64);
  pt::fill_random(random, 7);
  pt::write_hdf5("columns.h5", "matrix", random);

  pt::Array matrix = pt::read_hdf5(context, "columns.h5", "matrix", pt::Slab(0));
  matrix /= pt::norm(matrix, 0);  // a row of 30 lengths, on every rank
  pt::write_hdf5("columns.h5", "normalised", matrix, {.attributes = {{"norm", std::string("l2")}}});

  const double off = pt::max<double>(pt::norm(matrix, 0)) - 1;
  pt::rank_zero(context, [&] {
    for (const pt::Hdf5Entry& entry : pt::list_hdf5("columns.h5")) std::cout << entry.name << '\n';
  });
  return std::abs(off) < 1e-14 ? 0 : 1;
}
