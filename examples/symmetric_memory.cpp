// Symmetric memory through plain pointers: every rank writes directly into its neighbours' blocks.
#include <iostream>
#include <numeric>
#include <partita/partita.hpp>

namespace pt = partita;

int main() {
  const pt::Context context = pt::initialize();
  constexpr std::int64_t n = 1000;
  const int ranks = context.size(), next = (context.rank() + 1) % ranks;
  const int before = (context.rank() + ranks - 1) % ranks;

  // One block of the same size on every rank: a letter box. Its view is good for collectives and `copy`, too.
  const pt::SymmetricMemory box = pt::SymmetricMemory::allocate(context, n * 8, pt::MemorySpace::host);
  const pt::View letter = box.view(pt::Dtype::i64, {n});
  auto* const theirs = static_cast<std::int64_t*>(box.peer(next));  // null on another node

  std::vector<std::int64_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), n * context.rank());
  if (context.topology().node_count() == 1) {
    std::copy(numbers.begin(), numbers.end(), theirs);
    context.barrier();  // all have written
  } else {
    pt::send_receive(context, pt::view(numbers), next, letter, before);
  }
  const std::int64_t last = static_cast<const std::int64_t*>(box.data())[n - 1];
  const pt::Scalar sum =
      pt::sum(pt::wrap(context, letter, pt::Slab(0), {n * ranks}));  // an array on it, without a copy
  pt::rank_zero(context, [&] { std::cout << "the sum of all letters is " << sum.to_string() << '\n'; });
  return last == n * (before + 1) - 1 && sum.as<std::int64_t>() == n * ranks * (n * ranks - 1) / 2 ? 0 : 1;
}
