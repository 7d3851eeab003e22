// Wrong arguments: the same exception on every rank, after which the context can still be used.
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

int main() {
  const pt::Context context = pt::initialize();
  int refused = 0;
  const auto expect_refusal = [&](const char* what, auto&& call) {
    std::string text = "nothing wrong";
    try {
      call();
    } catch (const pt::Error& error) {  // ArgumentError, FileError, ...: see <partita/error.hpp>
      text = error.what();
      ++refused;
    }
    pt::rank_zero(context, [&] { std::cout << what << ":\n  " << text << '\n'; });
  };

  pt::Array a = pt::full(context, {60, 40}, pt::Slab(0), 1.0);
  const pt::Array b = pt::full(context, {60, 40}, pt::Slab(0), 1.0F);
  expect_refusal("shapes that do not multiply", [&] { (void)pt::matmul(a, a); });
  expect_refusal("two dtypes", [&] { a += b; });
  expect_refusal("another type than the array's", [&] { (void)a.data<int>(); });
  expect_refusal("boxes that overlap", [&] {
    const pt::Box boxes({{{0}, {6}}, {{5}, {10}}});
    (void)pt::Layout(boxes, {10}, 2);
  });
  expect_refusal("a rule that nobody knows", [] { (void)pt::Distribution::parse("slap:0"); });
  expect_refusal("a file that is not there",
                 [&] { (void)pt::read_npy(context, "missing.npy", pt::Slab(0)); });
  // What ranks disagree on is found out, too, before anything is done.
  const bool disagrees = context.size() > 1;
  expect_refusal("a sum over another axis on rank 0", [&] { (void)pt::sum(a, context.rank() == 0 ? 0 : 1); });

  return refused == (disagrees ? 7 : 6) && pt::sum<double>(a) == 2400 ? 0 : 1;
}
