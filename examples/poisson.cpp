// Poisson's equation on a periodic square, -u'' = f, by real Fourier transforms.
#include <cmath>
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

int main() {
  const pt::Context context = pt::initialize();
  constexpr std::int64_t n = 96;
  const auto position = [](std::int64_t i) { return 2 * M_PI * static_cast<double>(i) / n; };
  pt::Array f = pt::empty(context, {n, n}, pt::Slab(0), pt::Dtype::f64);
  pt::fill(f, [&](const pt::Index& i) { return std::sin(position(i[0])) * std::cos(2 * position(i[1])); });

  pt::Array spectrum = pt::rfft(f, {.output = pt::Output::cheapest});  // wherever that leaves it
  pt::for_each_local<std::complex<double>>(spectrum, [](const pt::Index& i, std::complex<double>& value) {
    const std::int64_t x = i[0] < n / 2 ? i[0] : i[0] - n, y = i[1];
    value = x == 0 && y == 0 ? 0 : value / static_cast<double>(x * x + y * y);
  });
  const pt::Array u = pt::irfft(spectrum, {.distribution = pt::Slab(0)});

  const double error = pt::norm(u - f / 5) / pt::norm(f);  // this f is an eigenfunction: 1 + 4
  pt::rank_zero(context, [&] { std::cout << "the error is " << error << '\n'; });
  return error < 1e-13 ? 0 : 1;
}
