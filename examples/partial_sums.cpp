// Every rank has a partial result, on its GPU if it has one. The sum is computed there, without a copy
// through the host.
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

int main() {
  const pt::Context context = pt::initialize({.device = pt::Device::any()});
  constexpr std::int64_t n = 1 << 20;
  pt::Array mine = pt::empty(context, {n}, pt::Replicated(), pt::Dtype::f32);
  pt::fill(mine, static_cast<float>(context.rank() + 1));

  pt::all_reduce(context, mine.local(), mine.local());  // in the context's stream, in place
  mine *= 0.5;                                          // and this behind it
  context.synchronize();

  const float sum = pt::at<float>(mine, {n - 1});
  const int ranks = context.size();
  pt::rank_zero(context, [&] { std::cout << "half the sum is " << sum << '\n'; });
  return sum == static_cast<float>(ranks * (ranks + 1)) / 4 ? 0 : 1;
}
