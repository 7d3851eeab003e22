// The largest eigenvalue of a matrix that is distributed in cyclic blocks, by power iteration.
#include <cmath>
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

int main() {
  const pt::Context context = pt::initialize();
  constexpr std::int64_t n = 300;
  pt::Array a = pt::empty(context, {n, n}, pt::BlockCyclic({1, context.size()}, {32, 32}), pt::Dtype::f64);
  pt::fill(a, [](const pt::Index& i) { return i[0] == i[1] ? 2.0 : 1.0; });  // eigenvalues n + 1, 1, 1, ...
  pt::Array x = pt::empty(context, {n}, pt::Replicated(), pt::Dtype::f64);
  pt::fill_random(x, 1);

  double largest = 0;
  for (int i = 0; i < 20; ++i) {
    x = pt::matmul(a, x, {.distribution = pt::Replicated()});  // said where: dot and norm need no more
    largest = pt::norm(x);
    pt::scale(x, 1 / largest);
  }
  pt::rank_zero(context, [&] { std::cout << "the largest eigenvalue is " << largest << '\n'; });
  return std::abs(largest - (n + 1)) < 1e-9 ? 0 : 1;
}
