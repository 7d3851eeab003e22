// Two groups of ranks work concurrently, each with a separate context, and exchange their results.
#include <iostream>
#include <numeric>
#include <partita/partita.hpp>

namespace pt = partita;

int main() {
  const pt::Context context = pt::initialize();
  const int ranks = context.size(), half = (ranks + 1) / 2;  // of an odd number, one is in both
  std::vector<int> left(static_cast<std::size_t>(half)), right(left);
  std::iota(left.begin(), left.end(), 0);
  std::iota(right.begin(), right.end(), ranks - half);

  pt::Array product, spectrum;  // each on its group; elsewhere no array
  if (context.rank() < half) {
    const pt::Array a = pt::eye(context.subgroup(left), 64, 64, pt::Slab(0), pt::Dtype::c128);
    product = pt::matmul(a, a * 2);
  }
  if (context.rank() >= ranks - half) {
    spectrum = pt::fft(pt::eye(context.subgroup(right), 64, 64, pt::Slab(1), pt::Dtype::c128));
  }
  // The whole context sees both; the right group's result is sent to where the left one's is.
  const pt::Array ours = pt::embed(context, product, left);
  const pt::Array theirs = pt::redistribute(pt::embed(context, spectrum, right), ours.layout());
  const double found = std::abs(pt::sum<std::complex<double>>(ours * theirs));
  pt::rank_zero(context, [&] { std::cout << "the sum over both is " << found << '\n'; });
  return std::abs(found - 256) < 1e-9 ? 0 : 1;
}
