// A first product: A is block-cyclic, B is distributed by rows, and the result has the cheapest distribution.
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

int main() {
  const pt::Context context = pt::initialize();
  pt::Array a =
      pt::empty(context, {300, 500}, pt::BlockCyclic({1, context.size()}, {32, 32}), pt::Dtype::f64);
  pt::Array b = pt::empty(context, {400, 500}, pt::Slab(0), pt::Dtype::f64);
  pt::fill_random(a, 1);
  pt::fill_random(b, 2);

  pt::MatmulOptions how;
  how.op_b = pt::Op::transpose;
  how.epilogue = pt::Epilogue::relu;
  const pt::Array d = pt::matmul(a, b, how);  // max(A B', 0), 300 x 400
  if (context.rank() == 0) std::cout << "D lies in " << d.layout().to_string() << '\n';

  // Plan once, execute many times.
  pt::Array sum = pt::zeros(context, {300, 400}, pt::Slab(1), pt::Dtype::f64);
  how.epilogue = pt::Epilogue::none;
  how.beta = 1;
  pt::Matmul accumulate(context, {a.operand(), b.operand(), sum.operand(), sum.operand()}, how, true);
  accumulate.reset(a, b, &sum, sum);
  for (int i = 0; i < 3; ++i) accumulate.execute();  // sum += A B'
  if (context.rank() == 0) std::cout << accumulate.explain();

  how.alpha = 3, how.beta = 0;
  const bool same = pt::compare(sum, pt::matmul(a, b, how)).largest_difference < 1e-10;
  if (context.rank() == 0) std::cout << (same ? "the same numbers\n" : "other numbers\n");
  return same ? 0 : 1;
}
