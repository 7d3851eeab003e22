// A first program: an array distributed by rows is redistributed to blocks, compared and written to a file.
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

int main() {
  const pt::Context context = pt::initialize();  // the ranks of the launcher, or this process alone
  const int columns = context.size();
  pt::Array rows = pt::empty(context, {1000, 700}, pt::Slab(0), pt::Dtype::f64);  // partition once ...
  pt::fill_random(rows, 42);

  const pt::Distribution blocks = pt::BlockCyclic({1, columns}, {64, 64});
  if (context.rank() == 0) std::cout << pt::explain_redistribute(rows.layout(), blocks);
  const pt::Array cyclic = pt::redistribute(rows, blocks);  // ... compose everywhere

  const bool same = pt::compare(rows, cyclic).equal;
  if (context.rank() == 0) std::cout << (same ? "equal\n" : "not equal\n");
  pt::write_npy("first.npy", cyclic);
  return same ? 0 : 1;
}
