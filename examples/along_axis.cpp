// Scales the rows of a matrix on a mesh of ranks so that each sum is 1: a row is reduced along one axis of
// the mesh, by the ranks that share it.
#include <cmath>
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

int main() {
  const pt::Context context = pt::initialize();
  const int columns = context.size() % 2 == 0 ? 2 : 1;
  const pt::Mesh mesh({{"x", context.size() / columns}, {"y", columns}});
  pt::Array a =
      pt::empty(context, {90, 70}, pt::Partitioned{mesh, {.dimensions = {{"x"}, {"y"}}}}, pt::Dtype::f64);
  pt::fill(a, [](const pt::Index& i) { return 1.0 + static_cast<double>(i[0] * i[1] % 7); });

  const std::int64_t rows = a.local_shape()[0], width = a.local_shape()[1];
  std::vector<double> sums(static_cast<std::size_t>(rows));  // of this rank's part of each row
  double* const part = a.data<double>();
  for (std::int64_t i = 0; i < rows * width; ++i) sums[static_cast<std::size_t>(i / width)] += part[i];

  const pt::Context row = pt::along(context, mesh, "y");  // made once: the ranks with the same x
  pt::all_reduce(row, pt::view(sums), pt::view(sums));
  for (std::int64_t i = 0; i < rows * width; ++i) part[i] /= sums[static_cast<std::size_t>(i / width)];

  const pt::Array all = pt::sum(a, 1);  // the same in one line
  const double off = std::max(pt::max<double>(all) - 1, 1 - pt::min<double>(all));
  pt::rank_zero(context, [&] {
    std::cout << context.size() / columns << " x " << columns << " ranks; sums are 1 but for " << off << '\n';
  });
  return off < 1e-14 ? 0 : 1;
}
