// A wave equation on a ring in slabs: the interior is computed while ghost cells are exchanged.
#include <cmath>
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

int main() {
  const pt::Context context = pt::initialize();
  constexpr std::int64_t n = 1000;
  constexpr double pi = 3.14159265358979323846;
  pt::Array u = pt::empty(context, {n}, pt::Slab(0), pt::Dtype::f64);
  pt::fill(u, [](const pt::Index& i) { return std::sin(2 * pi * static_cast<double>(i[0]) / n); });
  const pt::Array begin = pt::redistribute(u, pt::Slab(0));  // a copy

  pt::Halo halo(context, u.operand(), {.lower = {1}, .periodic = {true}});
  std::vector<double> memory(static_cast<std::size_t>(u.local_size() + 2));  // one before, one behind
  const pt::View extended = pt::view(memory);
  double* const part = u.data<double>();
  const double* const with_ghosts = memory.data() + 1;
  const std::int64_t last = u.local_size() - 1;
  const auto step = [&](std::int64_t i) {  // upwind, one whole cell a step: exact
    part[i] = with_ghosts[i - 1];
  };
  for (std::int64_t round = 0; round < n; ++round) {
    pt::copy(u, halo.interior(extended));
    halo.start(extended);  // sends the edges, without a wait
    for (std::int64_t i = 1; i < last; ++i) step(i);
    halo.finish();  // what the neighbours have given is there
    step(0);
    if (last > 0) step(last);
  }
  const double off = pt::compare(u, begin).largest_difference;
  pt::rank_zero(context, [&] { std::cout << "once round, the wave is as it was but for " << off << '\n'; });
  return off == 0 ? 0 : 1;
}
